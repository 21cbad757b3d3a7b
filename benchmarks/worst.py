"""The least coverage of intervals and the most wrong comparisons, searched over families of populations.

    python -m benchmarks.worst --results FOLDER [--only NAME] [--sets 250] [--first 10] [--tune]
    python -m benchmarks.worst --results FOLDER --write docs/intervals.md

A family is every combination of the values in `populations/verify.toml`, on which no method was chosen (those
are in `tune.toml`, and read with --tune). Each population is tried on a few samples; the four with the least
coverage are tried again, and the least of these is measured on new samples. A population counts only if most
of its samples have an interval. For shares of independent cases all samples are enumerated. The second
command replaces the table in the page.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm

from benchmarks.comparisons import Readers, beside_readers
from benchmarks.coverage import Columns, table_of
from benchmarks.pages import write_table
from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import (
    Agreement,
    AveragePrecision,
    ConfusionFigure,
    RocArea,
    SensitivityAtSpecificity,
    calibration_metric,
)
from evaluation.core.estimator import LimitOfAgreement, Mean, RootMeanSquare, Share
from evaluation.core.intervals import intervals, value_of
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling, units_of
from evaluation.metrics import confusion, regression
from evaluation.metrics.intervals import Interval
from evaluation.metrics.unseen import share_interval
from evaluation.organiser.ranking.certainty import rank_confidence_sets
from evaluation.organiser.ranking.comparisons import Margin, compare, margin_tests
from evaluation.organiser.ranking.generalisation import change_between
from evaluation.organiser.ranking.leaderboard_file import MetricOfTeam
from evaluation.organiser.ranking.pair_tests import TestChoice
from evaluation.organiser.ranking.resampling import (
    TeamCases,
    draw_cases,
    intervals_of_teams,
    resample_teams,
)

FOLDER = Path(__file__).parent / "populations"
Point = Mapping[str, float]
_SEED, _SIZES, _KEPT, _RESAMPLES, _MINIMUM, _LIMIT = 20261101, (40, 100, 400), 4, 300, 10, 100_000


@dataclass(frozen=True)
class Search:
    """What is searched: the family, the floor or ceiling in per cent, and the outcome of one set.

    outcome: from a generator, a number of cases and a point of the family, whether the interval holds or the
    comparison is wrong; None where there is none.
    """

    title: str
    family: str
    outcome: Callable[[np.random.Generator, int, Point], bool | None]
    wrong: bool = False

    def shares(self, point: Point, cases: int, sets: int, stage: int) -> tuple[float, int]:
        """Return the share of outcomes in per cent, NaN unless most sets have one, and how many there are."""
        key = zlib.crc32(json.dumps([self.title, dict(point)]).encode())
        rng = np.random.default_rng((_SEED, key, cases, stage))
        found = [one for _ in range(sets) if (one := self.outcome(rng, cases, point)) is not None]
        return (100 * float(np.mean(found)) if 2 * len(found) > sets else math.nan), len(found)


@dataclass(frozen=True)
class Worst:
    """The worst population that was found for a number of cases; ``share`` in per cent, NaN for none."""

    title: str
    wrong: bool
    cases: int
    share: float
    where: str
    sets: int
    populations: int


def family(name: str, file: str = "verify") -> list[Point]:
    """Return all populations of a family."""
    values = tomllib.loads((FOLDER / f"{file}.toml").read_text(encoding="utf-8"))[name]
    points = [dict(zip(values, one, strict=True)) for one in product(*values.values())]
    # Persons with one case are the same however many of them are large.
    return [one for one in points if one.get("cluster") != 1 or one["large"] == values["large"][0]]


def main() -> None:
    """Search, or write the table into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--only", default="", metavar="NAME")
    parser.add_argument("--sets", type=int, default=250)
    parser.add_argument("--first", type=int, default=10)
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--write", type=Path, metavar="PAGE")
    arguments = parser.parse_args()
    arguments.results.mkdir(parents=True, exist_ok=True)
    if arguments.write:
        write_table(arguments.write, "worst", _lines(arguments.results))
        return
    file = "tune" if arguments.tune else "verify"
    for one in searches():
        path = arguments.results / f"{re.sub(r'[^a-z0-9]+', '-', one.title.lower())}.json"
        if arguments.only in one.title and not path.is_file():
            found = [asdict(worst(one, cases, arguments.first, arguments.sets, file)) for cases in _SIZES]
            path.write_text(json.dumps(found), encoding="utf-8")
            print(*found, sep="\n", flush=True)


def worst(search: Search, cases: int, first: int, sets: int, file: str = "verify") -> Worst:
    """Return the worst population of a family for a number of cases."""
    points = family(search.family, file)
    sign = -1 if search.wrong else 1
    if search.family == "share":
        tried = [(_exact(point["right"], cases), point, 0) for point in points]
    else:
        left = points
        for stage, (number, kept) in enumerate(((first, _KEPT), (sets // 4, 1), (sets, 1))):
            found = [(*search.shares(point, cases, number, stage), point) for point in left]
            ordered = sorted((one for one in found if not math.isnan(one[0])), key=lambda one: sign * one[0])
            left = [point for _, _, point in ordered[:kept]]
        tried = [(share, point, of) for share, of, point in ordered[:1]]
    if not tried:
        return Worst(search.title, search.wrong, cases, math.nan, "", 0, len(points))
    share, point, number = min(tried, key=lambda one: sign * one[0])
    where = ", ".join(f"{name} {value:g}" for name, value in point.items())
    return Worst(search.title, search.wrong, cases, share, where, number, len(points))


def _exact(right: float, cases: int) -> float:
    """Return the coverage of the interval of a share, by enumeration."""
    inside = [one.lower <= right <= one.upper for one in _of_counts(cases)]
    return 100 * float(binom.pmf(np.flatnonzero(inside), cases, right).sum())


@cache
def _of_counts(cases: int) -> list[Interval]:
    return [share_interval(successes, cases) for successes in range(cases + 1)]


def _lines(folder: Path) -> list[str]:
    order = {one.title: place for place, one in enumerate(searches())}
    found = [Worst(**row) for path in folder.glob("*.json") for row in json.loads(path.read_text("utf-8"))]
    of_title: dict[str, list[Worst]] = {}
    for one in sorted(found, key=lambda one: (order[one.title], one.cases)):
        of_title.setdefault(one.title, []).append(one)
    head = "cases, of persons where cases belong together"
    lines = []
    for wrong, said in ((False, "least coverage, %"), (True, "most wrong, %")):
        lines += [f"| {said} at 40 / 100 / 400 | | where ({head}) | populations, sets |", "|---|---|---|---|"]
        for title, sizes in of_title.items():
            if sizes[0].wrong == wrong:
                shares = " / ".join(map(_shown, sizes))
                places = "; ".join(dict.fromkeys(one.where or "–" for one in sizes))
                sets = max(one.sets for one in sizes) or "exact"
                lines.append(f"| {title} | {shares} | {places} | {sizes[0].populations}, {sets} |")
        lines.append("")
    return lines[:-1]


def _shown(one: Worst) -> str:
    if math.isnan(one.share):
        return "–"
    text = f"{one.share:.1f}"
    short = not one.wrong and round(one.share, 1) < (90 if one.cases == 40 else 93)
    return f"**{text}**" if short else text


# --- Intervals ---

Draw = Callable[[np.random.Generator, int, Point], Columns]


def searches() -> Iterator[Search]:
    """Yield everything that is searched."""
    share = _metric(Share("x"))
    yield Search("share of independent cases", "share", _holds(share, lambda *_: {}))
    yield Search("mean of values from 0 to 1", "mean", _holds(_metric(Mean("x")), _values))
    error = _metric(Mean("x"), 20.0, 0.0)
    yield Search("mean absolute error, at most 20", "error", _holds(error, _errors))
    root = _metric(RootMeanSquare("x"), 20.0, 0.0)
    yield Search("root mean squared error, at most 20", "error", _holds(root, _errors))
    limit = _metric(LimitOfAgreement("x", upper=True, largest=20.0), 80.0, -80.0)
    yield Search("upper limit of agreement, errors at most 20", "error", _holds(limit, _errors))
    unbounded = _metric(Mean("x"), math.inf, 0.0)
    yield Search("mean distance without `worst`", "error", _holds(unbounded, _errors))
    costs = np.array([[0.0, 1.0], [12.0, 0.0]])
    figures: dict[str, tuple[Callable[..., Any], float, float, int | None]] = {
        "F1": (confusion.f_beta_of_confusion, 0.0, 1.0, 1),
        "precision": (confusion.precision_of_confusion, 0.0, 1.0, 1),
        "balanced accuracy": (confusion.balanced_accuracy_of_confusion, 0.0, 1.0, None),
        "Cohen's kappa": (confusion.cohen_kappa_of_confusion, -1.0, 1.0, None),
        "Matthews correlation": (confusion.matthews_correlation_of_confusion, -1.0, 1.0, None),
        "expected cost, one error twelve times as dear": (
            partial(confusion.expected_cost_of_confusion, costs=costs, normalised=False), 12.0, 0.0, None,
        ),
    }  # fmt: skip
    for title, (figure, worst_value, best, of) in figures.items():
        by_class = title == "balanced accuracy"
        metric = _metric(ConfusionFigure("p", "t", 2, figure, of, by_class), worst_value, best)
        yield Search(title, "classes", _holds(metric, _classes))
    yield Search("AUC", "scores", _holds(_metric(RocArea("s", "y")), _scores))
    yield Search("average precision", "scores", _holds(_metric(AveragePrecision("s", "y")), _scores))
    at = SensitivityAtSpecificity("s", "y", Fraction(9, 10))
    yield Search("sensitivity at 90 % specificity", "scores", _holds(_metric(at), _scores))
    correlations: dict[str, tuple[Any, bool | None]] = {
        "Pearson correlation": (regression.weighted_pearson_correlation, False),
        "intraclass correlation": (regression.weighted_intraclass_correlation, True),
        "Spearman correlation": (regression.weighted_spearman_correlation, None),
    }
    for title, (agreement, absolute) in correlations.items():
        metric = _metric(Agreement("p", "t", agreement, absolute), -1.0)
        yield Search(title, "numbers", _holds(metric, _numbers))
    yield Search("value of a calibrated model in its band", "calibration", _in_band)
    yield Search("sets of all ranks, six teams of equal means", "ranks", _ranks_hold)
    for title, kind in (
        ("mean Dice", "margin"),
        ("AUC", "margin_of_areas"),
        ("accuracy", "margin_of_shares"),
    ):
        worse = partial(_not_inferior, _WORSE[kind])
        yield Search(f"`--margin`: not inferior, {title} worse by the margin", kind, worse, wrong=True)
    yield Search("tiers: a break between six teams of equal means", "ranks", _tiers_break, wrong=True)
    yield Search("change between two phases of one population", "mean", _changed, wrong=True)
    for title, decided in (("AUC", False), ("sensitivity at the readers' specificity", True)):
        differs = partial(_differs_from_readers, decided)
        yield Search(f"a team equal to the average reader, {title}", "readers", differs, wrong=True)


def _metric(estimator: Any, worst_value: float = 0.0, best: float = 1.0) -> Metric:
    return Metric("m", "", estimator, best, worst_value)


def _holds(metric: Metric, draw: Draw) -> Callable[[np.random.Generator, int, Point], bool | None]:
    @cache
    def true(point: tuple[tuple[str, float], ...]) -> float:
        return value_of(metric, table_of(draw(np.random.default_rng(_SEED), _LIMIT, dict(point))))

    def outcome(rng: np.random.Generator, cases: int, point: Point) -> bool | None:
        table = table_of(draw(rng, cases, point))
        if math.isnan(value_of(metric, table)):
            return None
        found = intervals({"t.m": metric}, [table], _resampling(rng, table)).found.get("t.m")
        if not found:
            return None
        wanted, one = true(tuple(point.items())), found[0].interval
        return one.lower - 1e-9 <= wanted <= one.upper + 1e-9

    return outcome


def _resampling(rng: np.random.Generator, table: CaseTable) -> Resampling:
    clusters = None
    if "person" in table.column_names:
        clusters = {
            name: f"P{one:g}" for name, one in zip(table.names, table["person"].tolist(), strict=True)
        }
    return Resampling(int(rng.integers(1 << 30)), _RESAMPLES, _MINIMUM, clusters=clusters)


def _persons(rng: np.random.Generator, cases: int, point: Point) -> NDArray[np.intp]:
    """Return the person of every case: a share has the size of the family, the others one case."""
    is_large = rng.random(cases) < point.get("large", 1.0)
    return np.repeat(np.arange(cases), np.where(is_large, int(point["cluster"]), 1))[:cases]


def _values(rng: np.random.Generator, cases: int, point: Point) -> Columns:
    """Return values of which those of a person are equal or, in a third of the persons, their own."""
    concentration, centre = point["concentration"], point["centre"]
    x = rng.beta(concentration * centre, concentration * (1 - centre), cases)
    x = np.round(x, int(point["rounded"])) if point["rounded"] else x
    x = np.where(rng.random(cases) < point["failures"], 0.0, x)
    if point["cluster"] == 1:
        return {"x": x}
    person = _persons(rng, cases, point)
    first = np.unique(person, return_index=True)[1]
    own = rng.random(cases)[person] < 1 / 3
    return {"x": np.where(own, x, x[first][person]), "person": person * 1.0}


def _errors(rng: np.random.Generator, cases: int, point: Point) -> Columns:
    size = np.minimum(np.exp(point["spread"] * rng.normal(size=cases)), 20.0)
    return {"x": np.where(rng.random(cases) < point["rare"], size, 0.0)}


def _classes(rng: np.random.Generator, cases: int, point: Point) -> Columns:
    true = rng.random(cases) < point["balance"]
    missed = point["wrong"] * point["lopsided"] / point["balance"]
    false = point["wrong"] * (1 - point["lopsided"]) / (1 - point["balance"])
    wrong = rng.random(cases) < np.where(true, min(missed, 0.9), false)
    return {"t": true * 1.0, "p": (true != wrong) * 1.0}


def _scores(rng: np.random.Generator, cases: int, point: Point) -> Columns:
    label = rng.random(cases) < point["balance"]
    score = rng.normal(size=cases) + point["distance"] * label
    above = ~label & (rng.random(cases) < point["above"])
    return {"s": score + 9 * above, "y": label * 1.0}


def _numbers(rng: np.random.Generator, cases: int, point: Point) -> Columns:
    true = rng.normal(size=cases)
    return {"t": true, "p": true + point["noise"] * rng.standard_t(point["freedom"], cases)}


# --- The band of a calibration error, and comparisons ---


def _in_band(rng: np.random.Generator, cases: int, point: Point) -> bool:
    person = _persons(rng, cases, point)
    # What a person has in common: the class that the probabilities call for, and part of these.
    probability = rng.beta(1.0, point["steep"], cases)
    probability = np.where(rng.random(cases)[person] < point["alike"], probability[person], probability)
    label = rng.random(cases)[person] < probability
    table = table_of({"p": probability, "y": label * 1.0, "person": person * 1.0})
    metric = calibration_metric("m", "", [("p", "y")], "y", 10)
    assert metric.fixed_intervals is not None
    resampling = _resampling(rng, table)
    found = metric.fixed_intervals(table, resampling.seed, units_of(resampling.clusters, table.names))
    band = found["under_calibration"].interval
    return band.lower <= value_of(metric, table) <= band.upper


@dataclass(frozen=True)
class _Teams:
    """Teams of which each has results of every case, with everything `rank` needs."""

    metric: Metric
    cases: TeamCases
    values: dict[str, float]
    resampling: Resampling

    @classmethod
    def of(cls, metric: Metric, columns: Sequence[Columns], rng: np.random.Generator) -> _Teams:
        tables = tuple({"t": table_of(of_team)} for of_team in columns)
        resampling = _resampling(rng, tables[0]["t"])
        names = tuple(f"T{team}" for team in range(len(columns)))
        values = {team: value_of(metric, table["t"]) for team, table in zip(names, tables, strict=True)}
        return cls(metric, TeamCases(names, tables, resampling.clusters), values, resampling)

    @property
    def metrics(self) -> dict[str, Metric]:
        return {"t.m": self.metric}

    def resampled(self) -> NDArray[np.float64]:
        draws = draw_cases(self.metrics, self.cases, self.resampling)
        return resample_teams(self.metrics, self.cases, draws).values["t.m"]


# The metric, the results of a team that is worse than another by a margin, and of this one, and the margin.
Worse = Callable[[np.random.Generator, int, Point], tuple[Metric, list[Columns], float]]


def _not_inferior(worse: Worse, rng: np.random.Generator, cases: int, point: Point) -> bool | None:
    metric, columns, margin = worse(rng, cases, point)
    teams = _Teams.of(metric, columns, rng)
    ends = intervals_of_teams(teams.metrics, teams.cases, teams.resampling)
    if not ends.found:
        return None
    resampled, values = {"t.m": teams.resampled()}, {"t.m": teams.values}
    margins = [Margin("t.m", margin, "T1")]
    (found,) = margin_tests(margins, teams.metrics, values, teams.cases, resampled, ends, False)
    return found.conclusion != "not shown"


def _normal_pair(rng: np.random.Generator, cases: int, point: Point) -> NDArray[np.float64]:
    """Return what two teams add in each case, shape (2, cases), with the correlation of the family."""
    parts = rng.normal(size=(3, cases))
    return np.asarray(math.sqrt(point["shared"]) * parts[0] + math.sqrt(1 - point["shared"]) * parts[1:])


def _worse_mean(rng: np.random.Generator, cases: int, point: Point) -> tuple[Metric, list[Columns], float]:
    """A team that fails, as often as to be worse by the margin."""
    columns = 0.88 + 0.03 * np.clip(_normal_pair(rng, cases, point), -3, 3)
    columns[0, rng.random(cases) < point["failures"]] = 0.0
    return _metric(Mean("x")), [{"x": column} for column in columns], 0.88 * point["failures"]


def _worse_area(rng: np.random.Generator, cases: int, point: Point) -> tuple[Metric, list[Columns], float]:
    label = (rng.random(cases) < point["balance"]) * 1.0
    areas = np.array([point["area"] - point["margin"], point["area"]])
    scores = _normal_pair(rng, cases, point) + math.sqrt(2) * norm.ppf(areas)[:, np.newaxis] * label
    return _metric(RocArea("s", "y")), [{"s": score, "y": label} for score in scores], point["margin"]


def _worse_share(rng: np.random.Generator, cases: int, point: Point) -> tuple[Metric, list[Columns], float]:
    shares = np.array([point["right"] - point["margin"], point["right"]])
    right = _normal_pair(rng, cases, point) < norm.ppf(shares)[:, np.newaxis]
    return _metric(Share("x")), [{"x": column * 1.0} for column in right], point["margin"]


_WORSE = {"margin": _worse_mean, "margin_of_areas": _worse_area, "margin_of_shares": _worse_share}


def _equal_teams(rng: np.random.Generator, cases: int, point: Point) -> _Teams:
    """Return six teams of equal means, of which three fail rarely and are better else; cases: persons."""
    size, failures = int(point["cluster"]), point["failures"]
    person = _persons(rng, cases * size, point)
    parts = rng.normal(size=(7, cases * size))
    spread = np.clip(math.sqrt(0.5) * (parts[0] + parts[1:])[:, person], -3, 3)
    columns = 0.9 * (1 - failures) + 0.02 * spread
    fails = rng.random((3, cases * size))[:, person] < failures
    columns[:3] = np.where(fails, 0.0, 0.9 + 0.02 * spread[:3])
    return _Teams.of(_metric(Mean("x")), [{"x": one, "person": person * 1.0} for one in columns], rng)


def _ranks_hold(rng: np.random.Generator, cases: int, point: Point) -> bool:
    teams = _equal_teams(rng, cases, point)
    found = intervals_of_teams(teams.metrics, teams.cases, teams.resampling).found
    ends, values = list(found["t.m"].values()), list(teams.values.values())
    sets = rank_confidence_sets(values, teams.resampled(), "higher", ends)
    return bool(((sets[:, 0] == 1) & (sets[:, 1] == len(values))).all())


def _tiers_break(rng: np.random.Generator, cases: int, point: Point) -> bool:
    teams = _equal_teams(rng, cases, point)
    choice = TestChoice(teams.resampling.seed, 999)
    found = compare("t.m", teams.metric, teams.values, teams.cases, {}, choice)
    return found.tiers is not None and len(found.tiers) > 1


def _changed(rng: np.random.Generator, cases: int, point: Point) -> bool | None:
    """Return whether two samples, the second of 100 cases, are said to differ by a two-sided test at 5 %."""
    metric, of_phases = _metric(Mean("x")), []
    for number in (cases, 100):
        table = table_of(_values(rng, number, point))
        found = intervals({"t.m": metric}, [table], _resampling(rng, table)).found
        if "t.m" not in found:
            return None
        one = found["t.m"][0].interval
        of_phases.append(MetricOfTeam(value_of(metric, table), 1, one.lower, one.upper))
    change = change_between("t.m", "team", ("first", "second"), *of_phases)
    return change.p_value is not None and change.p_value < 0.05


def _differs_from_readers(decided: bool, rng: np.random.Generator, cases: int, point: Point) -> bool | None:
    """Return whether a team as good as the average reader is said to differ, by a two-sided test at 5 %."""
    positives = round(cases * point["balance"])
    if min(positives, cases - positives) < _MINIMUM:
        return None
    population = Readers(int(point["readers"]), point["ability"], point["spread"], shared=point["shared"])
    equal, _, _ = beside_readers(population, rng, positives, cases - positives, decided)
    return equal.p_value is not None and equal.p_value < 0.05


if __name__ == "__main__":
    main()
