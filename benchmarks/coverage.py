"""How often the 95 % intervals contain the true value: every kind of metric with an interval, by simulation.

    python -m benchmarks.coverage --results FOLDER [--shard 0/2] [--sets 300] [--resamples 300]
    python -m benchmarks.coverage --results FOLDER --write docs/intervals.md

Every set is a sample of cases from a population with a known true value. The intervals are the package's, by
the default method of the metric and, for comparison, by percentiles of the bootstrap. The first command makes
a file for each population that is not yet in the folder; the second replaces the table in the page by them.
None of these populations was used to choose the methods; `benchmarks.worst` looks for the worst ones.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, norm

from benchmarks.pages import write_table
from evaluation.challenges.declared.detections import (
    CaseDetections,
    average_precision_measure,
    froc_measure,
    share_measure,
)
from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.challenge import Composite
from evaluation.core.class_estimators import (
    Agreement,
    AveragePrecision,
    Concordance,
    ConfusionFigure,
    MacroRocArea,
    MeanOfClasses,
    PartialRocArea,
    PresenceF1,
    RocArea,
    SensitivityAtSpecificity,
    calibration_metric,
)
from evaluation.core.estimator import (
    ByGroup,
    Estimator,
    Figure,
    LimitOfAgreement,
    Mean,
    MeanOfMeans,
    Quantile,
    RatioOfSums,
    RootMeanSquare,
    Share,
    Sum,
)
from evaluation.core.intervals import default_method, intervals, value_of
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.metrics import confusion, regression
from evaluation.metrics.boxes import ThresholdMatches
from evaluation.metrics.detection import DetectionTable
from evaluation.organiser.ranking.resampling import (
    TeamCases,
    draw_cases,
    intervals_of_teams,
    resample_teams,
    with_composite_intervals,
)

# The rows of the table by the metrics of the catalogue whose estimator they are.
COVERS = {
    "AUC": "auc case_auc",
    "sensitivity at 95 % specificity": "sensitivity_at_specificity specificity_at_sensitivity",
    "partial AUC 0.9–1": "partial_auc",
    "average precision": "average_precision",
    "macro AUC": "macro_auc",
    "macro average precision": "macro_average_precision",
    "precision": "precision negative_predictive_value",
    "F1": "f1 f_beta",
    "balanced accuracy": "balanced_accuracy",
    "Matthews correlation": "matthews_correlation",
    "Cohen's kappa": "cohen_kappa",
    "macro F1, four classes": "macro_f1",
    "weighted F1, four classes": "weighted_f1",
    "expected cost, four classes": "expected_cost",
    "share of cases": "accuracy sensitivity specificity",
    "mean Dice": "dice jaccard surface_dice centreline_dice dice_at_threshold voxel_sensitivity "
    "voxel_precision volume_similarity lesion_wise_dice lesion_f1 detected_lesions "
    "box_iou recognition_quality segmentation_quality success_detection_rate hamming_distance "
    "identification_rate consensus_confidence voxel_calibration_error "
    "symmetric_relative_score folded_share aggregated_jaccard matched_dice structural_similarity "
    "multi_scale_structural_similarity",
    "panoptic quality": "panoptic_quality",
    "mean HD95": "hausdorff_distance average_surface_distance lesion_wise_hausdorff_distance betti_error "
    "mean_radial_error volume_difference volume_crps false_positive_volume false_negative_volume "
    "false_lesions lesion_count_difference target_registration_error log_jacobian_deviation "
    "matched_surface_distance image_mean_absolute_error image_root_mean_squared_error "
    "peak_signal_to_noise_ratio",
    "mean absolute error": "mean_absolute_error bias brier_score log_loss",
    "upper limit of agreement": "",
    "RMSE": "root_mean_squared_error",
    "normalised absolute error": "normalised_absolute_error",
    "Pearson correlation": "pearson_correlation",
    "Spearman correlation": "spearman_correlation",
    "intraclass correlation": "intraclass_correlation",
    "concordance index": "concordance_index",
    "pooled share of lesions": "box_average_recall",
    "F1 of objects": "box_f1 box_precision box_recall point_f1 point_precision point_recall",
    "FROC score": "box_froc froc lesion_froc",
    "AP of detections": "lesion_average_precision",
    "mAP of boxes": "box_average_precision",
}
Columns = Mapping[str, Any]
Draw = Callable[[np.random.Generator, int], Columns]
_SEED, _MINIMUM, _SIZES = 20260101, 10, (40, 100, 400)
_WITHIN_PERSON = 0.7  # correlation of the two eyes of a person


@dataclass(frozen=True)
class Population:
    """A metric, what its cases are like, and how a sample of some size is drawn.

    true: the true value for a number of cases; None: that of very many cases. Clustered: two cases a person.
    """

    metric: Metric
    what: str
    draw: Draw
    true: Callable[[int], float] | None = None
    clustered: bool = False
    sizes: Sequence[int] = _SIZES
    quadratic: bool = False

    @property
    def key(self) -> str:
        """The name of the population's file."""
        return re.sub(r"\W+", "-", f"{self.metric.title} {self.what}")


@dataclass(frozen=True)
class Coverage:
    """The coverage of the default method and of percentiles, in per cent, and the median width of the first.

    ``without``: the share of sets without an interval, in per cent, and the reason of one of them.
    """

    metric: str
    what: str
    true: float
    cases: int
    method: str
    covered: float
    width: float
    percentile: float
    without: float
    reason: str
    sets: int
    resamples: int


def main() -> None:
    """Simulate a shard of the populations, or write their table into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--shard", default="0/1", metavar="NUMBER/OF")
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--resamples", type=int, default=300)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    arguments = parser.parse_args()
    arguments.results.mkdir(parents=True, exist_ok=True)
    if arguments.write:
        write_table(arguments.write, "coverage", _lines(arguments.results))
        return
    number, of = map(int, arguments.shard.split("/"))
    for population in list(populations())[number::of]:
        path = arguments.results / f"{population.key}.json"
        if not path.is_file():
            found = [asdict(one) for one in coverages(population, arguments.sets, arguments.resamples)]
            path.write_text(json.dumps(found), encoding="utf-8")
            print(*found, sep="\n", flush=True)
    if not number and not (path := arguments.results / "composites.json").is_file():
        found = [asdict(one) for one in _composites(arguments.sets, arguments.resamples)]
        path.write_text(json.dumps(found), encoding="utf-8")


def coverages(population: Population, sets: int, resamples: int) -> Iterator[Coverage]:
    """Yield the coverage of a population's metric in samples of each size."""
    metric = population.metric
    limit = None if population.true else _limit(population)
    for cases in population.sizes:
        rng = np.random.default_rng((_SEED, zlib.crc32(population.key.encode()), cases))
        tables = [table_of(population.draw(rng, cases)) for _ in range(sets)]
        true = population.true(cases) if population.true else float(limit or 0.0)
        names = tables[0].names
        clusters = (
            {name: f"P{case // 2}" for case, name in enumerate(names)} if population.clustered else None
        )
        default = default_method(metric, population.clustered)
        plain = Resampling(1, resamples, _MINIMUM, clusters=clusters)
        by_percentile = replace(plain, methods={"t.m": "percentile"})
        found, reasons = _intervals(metric, tables, plain)
        percentiles, _ = _intervals(metric, tables, by_percentile)
        inside, widths = _inside(found, true)
        yield Coverage(
            metric.title,
            population.what,
            true,
            cases,
            "calibration-band" if metric.fixed_intervals else default,
            100 * inside,
            widths,
            100 * _inside(percentiles, true)[0],
            100 * len(reasons) / sets,
            next(iter(reasons), ""),
            sets,
            resamples,
        )


def _intervals(
    metric: Metric, tables: Sequence[CaseTable], resampling: Resampling
) -> tuple[list[tuple[float, float]], list[str]]:
    """Return the intervals of the tables that have one, and the reasons of the others."""
    ends: list[tuple[float, float]] = []
    reasons: list[str] = []
    by_strata: dict[bytes, list[CaseTable]] = {}
    for table in tables:
        if metric.fixed_intervals:
            # The band is of the value, not of the true value: what is covered is the estimate.
            band = metric.fixed_intervals(table, 1, None)["under_calibration"].interval
            value = value_of(metric, table)
            ends.append((band.lower - value, band.upper - value))
            continue
        by_strata.setdefault(metric.estimator.strata(table).tobytes(), []).append(table)
    for group in by_strata.values():
        found = intervals({"t.m": metric}, group, resampling)
        ends += [(one.interval.lower, one.interval.upper) for one in found.found.get("t.m", ())]
        reasons += [found.missing["t.m"]] * len(group) if found.missing else []
    return ends, reasons


def _inside(found: Sequence[tuple[float, float]], true: float) -> tuple[float, float]:
    # Of a value at the edge of rounding, either answer would be noise.
    slack = 1e-9 * max(1.0, abs(true))
    if not found:
        return math.nan, math.nan
    lower, upper = np.array(found).T
    inside = (lower - slack <= true) & (true <= upper + slack)
    return float(inside.mean()), float(np.median(upper - lower))


def _limit(population: Population) -> float:
    """Return the value of very many cases; of a mean of samples where the time is quadratic in the cases."""
    rng = np.random.default_rng((_SEED, 0))
    size, number = (1500, 40) if population.quadratic else (60_000, 1)
    return float(
        np.mean([value_of(population.metric, table_of(population.draw(rng, size))) for _ in range(number)])
    )


def _lines(folder: Path) -> list[str]:
    order = {population.key: place for place, population in enumerate(populations())}
    paths = sorted(folder.glob("*.json"), key=lambda path: order.get(path.stem, math.inf))
    found = [Coverage(**row) for path in paths for row in json.loads(path.read_text(encoding="utf-8"))]
    resamples = min(one.resamples for one in found)
    errors = [f"{196 * math.sqrt(0.95 * 0.05 / sets):.1f} with {sets:,}" for sets in (200, 1000)]
    lines = [
        f"{resamples:,} resamples. A coverage of 95 % is measured to ± {' sets, to ± '.join(errors)}. "
        "A dash: no interval, for the reason that `metrics.json` gives. "
        "Bold: below 90 % at 40 cases or below 93 % at 100 or 400.",
        "",
        "| metric | population | true value | method | coverage, % at 40 / 100 / 400 cases | median width "
        "| percentile bootstrap, % | sets |",
        "|---|---|---|---|---|---|---|---|",
    ]
    rows: dict[tuple[str, str], list[Coverage]] = {}
    for one in found:
        rows.setdefault((one.metric, one.what), []).append(one)
    for (metric, what), sizes in rows.items():
        values = list(dict.fromkeys("–" if math.isnan(one.true) else f"{one.true:.3g}" for one in sizes))
        lines.append(
            f"| {metric} | {what} | {' / '.join(values)} | {sizes[0].method} "
            f"| {' / '.join(map(_covered, sizes))} | {_of_sizes(sizes, 'width', '.3g')} "
            f"| {_of_sizes(sizes, 'percentile', '.1f')} "
            f"| {' / '.join(dict.fromkeys(f'{one.sets:,}' for one in sizes))} |"
        )
    return [*lines, "", covers_in_words()]


def covers_in_words() -> str:
    """Return the sentence of docs/intervals.md that says which metrics the rows stand for."""
    stands = [f"{title}: `{'`, `'.join(names.split())}`" for title, names in COVERS.items() if names]
    return f"Rows stand for these metrics of the catalogue. {'; '.join(stands)}."


def _covered(one: Coverage) -> str:
    text = "–" if math.isnan(one.covered) else f"{one.covered:.1f}"
    return f"**{text}**" if round(one.covered, 1) < (90 if one.cases == 40 else 93) else text


def _of_sizes(sizes: Sequence[Coverage], name: str, form: str) -> str:
    figures = [getattr(one, name) for one in sizes]
    return " / ".join("–" if math.isnan(figure) else format(figure, form) for figure in figures)


def _composites(sets: int, resamples: int) -> Iterator[Coverage]:
    """Yield how often the interval of a composite of `rank` holds: ½ mean Dice + ½ AUC of the same cases."""
    metrics = {
        "t.dice": _metric("Dice", Mean("dice")),
        "t.auc": _metric("AUC", RocArea("score", "label")),
    }
    composite = Composite("final", "Final", tuple(metrics), lambda dice, auc: (dice + auc) / 2, 1.0, 0.0)
    true = (0.82 + float(norm.cdf(1.6 / math.sqrt(2)))) / 2
    for cases in _SIZES:
        rng = np.random.default_rng((_SEED, cases, 1))
        found = []
        for _ in range(sets):
            ease = rng.normal(size=cases)  # cases that are easy to outline are easy to classify
            columns = _scores(0.3, 1.6, False, 0, rng, cases)
            side = np.where(columns["label"] > 0, 1, -1)
            score = columns["score"] * math.sqrt(0.7) + side * ease * math.sqrt(0.3)
            score += (1 - math.sqrt(0.7)) * 1.6 * columns["label"]
            dice = beta(24.6, 5.4).ppf(norm.cdf(ease))
            table = table_of({"label": columns["label"], "score": score, "dice": dice})
            teams = TeamCases(("team",), ({"t": table},))
            resampling = Resampling(1, resamples, _MINIMUM)
            values = {name: value_of(metric, table) for name, metric in metrics.items()}
            values["final"] = (values["t.dice"] + values["t.auc"]) / 2
            parts = intervals_of_teams(metrics, teams, resampling)
            drawn = resample_teams(metrics, teams, draw_cases(metrics, teams, resampling)).values
            whole = with_composite_intervals(parts, [composite], {"team": values}, drawn)
            found.append((whole.found["final"]["team"].lower, whole.found["final"]["team"].upper))
        inside, width = _inside(found, true)
        yield Coverage(
            "composite of `rank`", "half mean Dice, half AUC of the same cases", true, cases,
            "MOVER", 100 * inside, width, math.nan, 0, "", sets, resamples,
        )  # fmt: skip


# --- The populations ---


def table_of(columns: Columns) -> CaseTable:
    """Return a table of the cases of a sample."""
    plain = {name: of.tolist() if isinstance(of, np.ndarray) else of for name, of in columns.items()}
    rows = [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]
    return CaseTable([f"C{case}" for case in range(len(rows))], rows)


def populations() -> Iterator[Population]:
    """Yield the populations, metric by metric."""
    yield from _of_scores()
    yield from _of_classes()
    yield from _of_means()
    yield from _of_numbers()
    yield from _of_objects()


def _metric(title: str, aggregate: Estimator, worst: float = 0.0, best: float = 1.0) -> Metric:
    return Metric("m", title, aggregate, best, worst)


def _normal(rng: np.random.Generator, cases: int, clustered: bool) -> NDArray[np.float64]:
    """Return standard normal numbers, correlated between the two cases of a cluster."""
    alone = rng.normal(size=cases)
    if not clustered:
        return alone
    shared = np.repeat(rng.normal(size=cases // 2), 2)
    return math.sqrt(_WITHIN_PERSON) * shared + math.sqrt(1 - _WITHIN_PERSON) * alone


def _scores(
    prevalence: float, distance: float, clustered: bool, freedom: float, rng: np.random.Generator, cases: int
) -> Columns:
    label = np.zeros(cases)
    label[: round(prevalence * cases)] = 1
    noise = rng.standard_t(freedom, cases) if freedom else _normal(rng, cases, clustered)
    return {"label": label, "score": noise + distance * label, "negated": 0 * label}


def _of_scores() -> Iterator[Population]:
    for prevalence, true, clustered in (
        (0.3, 0.8, False), (0.3, 0.97, False), (0.1, 0.95, False), (0.03, 0.95, False), (0.25, 0.9, True),
    ):  # fmt: skip
        distance = math.sqrt(2) * float(norm.ppf(true))
        yield Population(
            _metric("AUC", RocArea("score", "label")),
            f"area {true:g}, {100 * prevalence:g} % positive{' of 400 cases' * (prevalence < 0.1)}"
            f"{', two cases a person' * clustered}",
            partial(_scores, prevalence, distance, clustered, 0),
            lambda cases, true=true: true,  # type: ignore[misc]
            clustered,
            (400,) if prevalence < 0.1 else _SIZES,
        )
    wanted: list[tuple[str, Estimator]] = [
        (
            "sensitivity at 85 % specificity",
            SensitivityAtSpecificity("score", "label", Fraction(17, 20)),
        ),
        (
            "sensitivity at 95 % specificity",
            SensitivityAtSpecificity("score", "label", Fraction(19, 20)),
        ),
        ("partial AUC 0.9–1", PartialRocArea("score", "label", Fraction(9, 10), Fraction(1), True)),
        ("average precision", AveragePrecision("score", "label")),
    ]
    for title, aggregate in wanted:
        for prevalence, distance, freedom, clustered in (
            (0.3, 1.6, 0, False), (0.4, 2.6, 4, False), (0.3, 2.0, 0, True),
        ):  # fmt: skip
            said = (
                f"{100 * prevalence:g} % positive, {'t4' if freedom else 'normal'} scores {distance:g} apart"
            )
            said += ", two cases a person" * clustered
            draw = partial(_scores, prevalence, distance, clustered, freedom)
            yield Population(_metric(title, aggregate), said, draw, clustered=clustered)
    for distance in (1.5, 2.2):
        macro = MacroRocArea(["first", "second", "third"], "true")
        yield Population(
            _metric("macro AUC", macro), f"three classes {distance:g} apart", partial(_three, distance)
        )
    names = ("first", "second", "third")
    findings = MeanOfClasses(tuple(AveragePrecision(name, f"has_{name}") for name in names))
    for distance in (1.5, 2.2):
        metric = _metric("macro average precision", findings)
        yield Population(metric, f"three findings {distance:g} apart", partial(_findings, distance))
    for high in (1.0, 3.0):
        metric = calibration_metric(
            "calibration error", "Calibration error", [("probability", "label")], "label", 10
        )
        what = f"calibrated, probabilities from beta(1, {high:g}): the value is in its band"
        yield Population(metric, what, partial(_calibrated, high), lambda cases: 0.0)


def _calibrated(high: float, rng: np.random.Generator, cases: int) -> Columns:
    probability = rng.beta(1, high, cases)
    return {"probability": probability, "label": (rng.random(cases) < probability).astype(float)}


def _three(distance: float, rng: np.random.Generator, cases: int) -> Columns:
    true = rng.permutation(
        np.repeat([0, 1, 2], np.ceil(cases * np.array([0.45, 0.3, 0.25])).astype(int))[:cases]
    )
    scores = rng.normal(size=(cases, 3))
    scores[np.arange(cases), true] += distance
    return {"true": true * 1.0, "first": scores[:, 0], "second": scores[:, 1], "third": scores[:, 2]}


def _findings(distance: float, rng: np.random.Generator, cases: int) -> Columns:
    columns: dict[str, Any] = {}
    for name, share in (("first", 0.5), ("second", 0.35), ("third", 0.25)):
        present = (rng.random(cases) < share).astype(float)
        columns |= {name: rng.normal(size=cases) + distance * present, f"has_{name}": present}
    return columns


def _of_classes() -> Iterator[Population]:
    figures: dict[str, tuple[Callable[..., Any], int | None, bool, float]] = {
        "precision": (confusion.precision_of_confusion, 1, False, 0),
        "F1": (confusion.f_beta_of_confusion, 1, False, 0),
        "balanced accuracy": (confusion.balanced_accuracy_of_confusion, None, True, 0),
        "Matthews correlation": (confusion.matthews_correlation_of_confusion, None, False, -1),
        "Cohen's kappa": (confusion.cohen_kappa_of_confusion, None, False, -1),
    }
    for title, (figure, of, by_class, worst) in figures.items():
        for prevalence, right in ((0.35, 0.85), (0.4, 0.96)):
            yield Population(
                _metric(title, ConfusionFigure("predicted", "true", 2, figure, of, by_class), worst),
                f"{100 * prevalence:g} % positive, {100 * right:g} % right",
                partial(_classes, (1 - prevalence, prevalence), right),
            )
    quadratic = partial(confusion.cohen_kappa_of_confusion, disagreement="quadratic")
    costs = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) * 1.0
    cost = partial(confusion.expected_cost_of_confusion, costs=costs, normalised=False)
    several: dict[str, tuple[Callable[..., Any], float]] = {
        "weighted kappa, four classes": (quadratic, -1),
        "macro F1, four classes": (confusion.mean_f1_of_confusion, 0),
        "weighted F1, four classes": (partial(confusion.mean_f1_of_confusion, averaging="weighted"), 0),
        "expected cost, four classes": (cost, 3),
    }
    for title, (figure, worst) in several.items():
        for right in (0.75, 0.92):
            yield Population(
                _metric(title, ConfusionFigure("predicted", "true", 4, figure), worst, float(worst <= 0)),
                f"10 % of the rarest, {100 * right:g} % right",
                partial(_classes, (0.35, 0.3, 0.25, 0.1), right),
            )
    for prevalence in (0.5, 0.2):
        yield Population(
            _metric("F1 of presence", PresenceF1("predicted", "true")),
            f"{100 * prevalence:g} % present, 92 % right",
            partial(_classes, (1 - prevalence, prevalence), 0.92),
        )
    for true, clustered in ((0.6, False), (0.96, False), (0.93, True)):
        yield Population(
            _metric("share of cases", Share("value")),
            f"independent cases{', two a person' * clustered}".replace("independent cases, two", "two cases"),
            partial(_share, true, clustered),
            lambda cases, true=true: true,  # type: ignore[misc]
            clustered,
        )


def _classes(shares: Sequence[float], right: float, rng: np.random.Generator, cases: int) -> Columns:
    true = rng.choice(len(shares), cases, p=shares)
    other = np.where(true > 0, true - 1, 1) if len(shares) > 2 else 1 - true
    predicted = np.where(rng.random(cases) < right, true, other)
    return {"true": true * 1.0, "predicted": predicted * 1.0}


def _share(true: float, clustered: bool, rng: np.random.Generator, cases: int) -> Columns:
    return {"value": (_normal(rng, cases, clustered) < norm.ppf(true)).astype(float)}


def _of_means() -> Iterator[Population]:
    for mean, failures, clustered in (
        (0.82, 0.0, False), (0.9, 0.015, False), (0.82, 0.04, False), (0.88, 0.015, True),
    ):  # fmt: skip
        yield Population(
            _metric("mean Dice", Mean("value")),
            f"{mean:g}, {100 * failures:g} % failures at 0{', two cases a person' * clustered}",
            partial(_overlap, mean, failures, clustered),
            lambda cases, true=(1 - failures) * mean: true,  # type: ignore[misc]
            clustered,
        )
    for level, title in ((0.5, "median Dice"), (0.3, "0.3 quantile of Dice")):
        for failures, clustered in ((0.0, False), (0.04, False), (0.015, True)):
            yield Population(
                _metric(title, Quantile("value", level)),
                f"mean 0.85, {100 * failures:g} % failures at 0{', two cases a person' * clustered}",
                partial(_overlap, 0.85, failures, clustered),
                clustered=clustered,
            )
    for failures in (0.0, 0.04):
        yield Population(
            _metric("pooled Dice", RatioOfSums("both", "sizes", 1.0, is_share=False)),
            f"lognormal sizes, {100 * failures:g} % failures at 0",
            partial(_sizes_of_masks, failures),
        )
    for spread in (0.02, 0.08):
        yield Population(
            _metric("mean over groups of mean Dice", ByGroup(Mean("value"), "group")),
            f"groups of four, {spread:g} apart",
            partial(_of_groups, spread),
        )
    for absent in (0.25, 0.5):
        yield Population(
            _metric("mean of labels' mean Dice", MeanOfMeans(["first", "second"], by_reference=True)),
            f"two labels, the second absent in {100 * absent:g} %",
            partial(_two_labels, absent),
        )
    for failures, worst in ((0.0, math.inf), (0.02, math.inf), (0.02, 250.0)):
        yield Population(
            _metric("mean HD95", Mean("value"), worst, 0),
            f"{100 * failures:g} % failures at 250 mm{'' if worst == math.inf else ', declared as `worst`'}",
            partial(_distances, failures),
            lambda cases, true=(1 - failures) * 5 + failures * 250: true,  # type: ignore[misc]
        )
    for shape in (0.6, 1.5):
        yield Population(
            _metric("sum of false objects", Sum("value"), math.inf, 0),
            f"one a case, gamma({shape:g})",
            partial(_counts, shape),
            lambda cases: 1.0 * cases,
        )
    for quality, failures in ((0.7, 0.1), (0.85, 0.02)):
        yield Population(
            _metric("panoptic quality", Mean("value")),
            f"{quality:g} where a lesion matches, none in {100 * failures:g} %",
            partial(_overlap, quality, failures, False),
            lambda cases, true=(1 - failures) * quality: true,  # type: ignore[misc]
        )


def _overlap(mean: float, failures: float, clustered: bool, rng: np.random.Generator, cases: int) -> Columns:
    values = beta(30 * mean, 30 * (1 - mean)).ppf(norm.cdf(_normal(rng, cases, clustered)))
    failed = rng.random(cases // 2 if clustered else cases) < failures
    return {"value": np.where(np.repeat(failed, 2) if clustered else failed, 0.0, values)}


def _sizes_of_masks(failures: float, rng: np.random.Generator, cases: int) -> Columns:
    sizes = np.exp(rng.normal(7, 0.8, cases))
    dice = rng.beta(17, 3, cases) * (rng.random(cases) >= failures)
    return {"both": sizes * dice, "sizes": sizes}


def _of_groups(spread: float, rng: np.random.Generator, cases: int) -> Columns:
    group = np.arange(cases) // 4
    of_group = 0.8 + spread * rng.normal(size=cases)[group]
    return {"value": np.clip(of_group + 0.05 * rng.normal(size=cases), 0, 1), "group": group.astype(str)}


def _two_labels(absent: float, rng: np.random.Generator, cases: int) -> Columns:
    second = np.where(rng.random(cases) < absent, np.nan, rng.beta(15, 5, cases))
    return {"first": rng.beta(40, 6, cases), "second": second}


def _distances(failures: float, rng: np.random.Generator, cases: int) -> Columns:
    return {"value": np.where(rng.random(cases) < failures, 250.0, rng.gamma(2.5, 2, cases))}


def _counts(shape: float, rng: np.random.Generator, cases: int) -> Columns:
    return {"value": rng.poisson(rng.gamma(shape, 1 / shape, cases)).astype(float)}


def _of_numbers() -> Iterator[Population]:
    noises: dict[str, Callable[[np.random.Generator, int], NDArray[np.float64]]] = {
        "normal errors": lambda rng, cases: 0.8 * rng.normal(size=cases),
        "t5 errors": lambda rng, cases: 0.8 * rng.standard_t(5, cases),
    }
    wanted = {
        "mean absolute error": Mean("absolute", rare_failures=False),
        "RMSE": RootMeanSquare("error"),
        "normalised absolute error": RatioOfSums("absolute", "true", is_share=False),
        "upper limit of agreement": LimitOfAgreement("error", upper=True),
    }
    for title, aggregate in wanted.items():
        for what, noise in noises.items():
            yield Population(_metric(title, aggregate, math.inf, 0), what, partial(_numbers, noise))
    correlations: dict[str, tuple[Any, bool | None]] = {
        "Pearson correlation": (regression.weighted_pearson_correlation, False),
        "Spearman correlation": (regression.weighted_spearman_correlation, None),
        "intraclass correlation": (regression.weighted_intraclass_correlation, True),
    }
    for title, (figure, absolute) in correlations.items():
        for what, noise in noises.items():
            aggregate = Agreement("predicted", "true", figure, absolute)
            yield Population(_metric(title, aggregate, -1), what, partial(_numbers, noise))
    for amount in (0.5, 1.5):
        yield Population(
            _metric("concordance index", Concordance("predicted", "time", "event", risk=True)),
            f"noise {amount:g} of the log-hazard, a third censored",
            partial(_survival, amount),
            quadratic=True,
        )


def _numbers(
    noise: Callable[[np.random.Generator, int], NDArray[np.float64]], rng: np.random.Generator, cases: int
) -> Columns:
    true = rng.normal(8, 1.5, cases)
    error = noise(rng, cases)
    return {"true": true, "predicted": true + error, "error": error, "absolute": np.abs(error)}


def _survival(noise: float, rng: np.random.Generator, cases: int) -> Columns:
    hazard = rng.normal(size=cases)
    time, censored = rng.exponential(size=cases) * np.exp(-hazard), rng.exponential(2, cases)
    predicted = hazard + noise * rng.normal(size=cases)
    return {"predicted": predicted, "time": np.minimum(time, censored), "event": (time <= censored) * 1.0}


def _of_objects() -> Iterator[Population]:
    for share in (0.7, 0.9):
        pooled = RatioOfSums("found", "lesions")
        yield Population(
            _metric("pooled share of lesions", pooled), f"{share:g}, four a case", partial(_pooled, share)
        )
        of_objects = share_measure("m", "F1 of objects", "f1", CaseDetections(lambda c: [], lambda r: []))
        yield Population(
            replace(of_objects.metrics[0], title="F1 of objects"),
            f"{share:g} found, four a case, 0.8 false",
            partial(_pooled, share),
        )
    detections = CaseDetections(lambda comparison: [], lambda references: [])
    froc = froc_measure("m", "FROC score", (0.5, 1, 2, 4), detections).metrics[0]
    precision = average_precision_measure("m", "AP of detections", detections).metrics[0]
    for metric in (froc, precision):
        for distance in (1.3, 2.2):
            yield Population(metric, f"hits {distance:g} above false ones", partial(_detections, distance))
    mean = Figure(_mean_average_precision, of_envelope=True)
    for distance in (1.3, 2.2):
        yield Population(
            _metric("mAP of boxes", mean),
            f"two classes, IoU 0.5 and 0.75, hits {distance:g} above",
            partial(_boxes, distance),
        )


def _pooled(share: float, rng: np.random.Generator, cases: int) -> Columns:
    lesions = rng.poisson(rng.gamma(2, 2, cases))
    found = rng.binomial(lesions, rng.beta(10 * share, 10 * (1 - share), cases))
    return {
        "found": found * 1.0,
        "lesions": lesions * 1.0,
        "m_true_positives": found * 1.0,
        "m_false_positives": rng.poisson(0.8, cases) * 1.0,
        "m_false_negatives": (lesions - found) * 1.0,
    }


def _detections(distance: float, rng: np.random.Generator, cases: int) -> Columns:
    objects = rng.poisson(1.5, cases)
    scores = [rng.normal(size=number) + distance for number in objects]
    false = [rng.normal(size=number).tolist() for number in rng.poisson(4, cases)]
    return {
        "m_hits": [one[one > -0.3].tolist() for one in scores],
        "m_false": false,
        "m_objects": objects * 1.0,
    }


def _boxes(distance: float, rng: np.random.Generator, cases: int) -> Columns:
    objects = rng.poisson((1.2, 0.8), (cases, 2))
    found = []
    for of_case in objects:
        rows = []
        for label, number in enumerate(of_case):
            hits = rng.binomial(number, 0.9)
            rows += [(label, score, rng.beta(8, 2)) for score in rng.normal(distance, 1, hits)]
            rows += [(label, score, 0.0) for score in rng.normal(0, 1, rng.poisson(1))]
        found.append(rows)
    return {"boxes": found, "first": objects[:, 0] * 1.0, "second": objects[:, 1] * 1.0}


def _mean_average_precision(cases: WeightedCases) -> NDArray[np.float64]:
    def build(table: CaseTable) -> DetectionTable:
        given = [(case, *row) for case, rows in enumerate(table.objects("boxes")) for row in rows]
        image, label, score, iou = np.array(given).T
        thresholds = np.array([0.5, 0.75])
        matches = ThresholdMatches(iou, np.stack([iou >= one for one in thresholds], axis=1))
        counts = np.column_stack([table["first"], table["second"]]).astype(np.int64)
        return DetectionTable(image.astype(int), label.astype(int), score, matches, counts, thresholds)

    value = cases.table.derive("boxes", build).average_precision(cases.weights, "101_points")
    return np.asarray(value.mean(axis=(1, 2)))


if __name__ == "__main__":
    main()
