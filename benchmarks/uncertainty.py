"""How often intervals hold the true value, how wide they are, and how often tests find a difference.

    python -m benchmarks.uncertainty [--sets 1000] [--write benchmarks/uncertainty.md]

The methods were chosen on the populations of `CHOOSING`, and are verified on those of `VERIFYING`, which are
others. Each sample is given to the function that `evaluate` calls, and has so many units: cases, or persons
with all their cases. The width is compared with the narrowest rival that holds at least 93 of 100 times
there: Student's t interval and percentiles of the bootstrap, of shares Wilson's and the exact interval of as
many independent cases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
from scipy.stats import ttest_rel

from benchmarks.pages import simulate
from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.challenge import Composite
from evaluation.core.class_estimators import (
    Agreement,
    AveragePrecision,
    ConfusionFigure,
    RocArea,
    SensitivityAtSpecificity,
)
from evaluation.core.composites import composite_figures
from evaluation.core.estimator import Estimator, Mean, Quantile, RatioOfSums, RootMeanSquare, Share
from evaluation.core.intervals import intervals
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.metrics.confusion import cohen_kappa_of_confusion, f_beta_of_confusion
from evaluation.metrics.regression import weighted_pearson_correlation
from evaluation.organiser.ranking.differences import Compared
from evaluation.stats.bootstrap import bootstrap_of
from evaluation.stats.figure import Figure, Interval
from evaluation.stats.intervals import percentile_interval
from evaluation.stats.student import student_quantile
from evaluation.stats.unseen import share_interval

SIZES = (20, 50, 100, 300)
HOLDS = 0.93
_SEED, _RESAMPLES, _LARGE = 20261128, 200, 200_000

Columns = Mapping[str, np.ndarray]
Draw = Callable[[np.random.Generator, int], Columns]


@dataclass(frozen=True)
class Population:
    """Cases of which samples are drawn, and the metric whose true value is that of very many of them.

    draw: from a generator and a number of units to the columns, ``cluster`` among them where cases belong
    together, ``size`` of them on average. rarest: the share of failures, 1 without any; where it is 3 % or
    more the field's interval must hold from 100 units on.
    """

    name: str
    estimator: Estimator
    draw: Draw
    best: float = 1.0
    worst: float = 0.0
    rarest: float = 1.0
    size: float = 1.0

    @property
    def metric(self) -> Metric:
        return Metric("figure", "", self.estimator, self.best, self.worst)

    def value(self, table: CaseTable) -> float:
        """Return the value for all cases of a table."""
        return self.metric.estimator.value(table)

    def figure(self, table: CaseTable, drawn: Resampling) -> Figure | None:
        """Return the figure with its intervals, None where there are none."""
        return intervals({"t.m": self.metric}, [table], drawn).found.get("t.m", (None,))[0]

    def table(self, seed: tuple[int, ...], units: int) -> tuple[CaseTable, dict[str, str] | None]:
        """Return a sample, and the cluster of each case."""
        columns = dict(self.draw(np.random.default_rng((_SEED, *seed)), units))
        cluster = columns.pop("cluster", None)
        rows = zip(*(column.astype(np.float64).tolist() for column in columns.values()), strict=True)
        names = [f"{case:07}" for case in range(len(next(iter(columns.values()))))]
        clusters = None if cluster is None else dict(zip(names, map(str, cluster.tolist()), strict=True))
        return CaseTable(names, [dict(zip(columns, row, strict=True)) for row in rows]), clusters


_OTHER = Mean("other")


@dataclass(frozen=True)
class MeanOfTwo(Population):
    """The composite that is the mean of the metric and of another one, in the same cases."""

    other: Estimator = _OTHER

    @property
    def _metrics(self) -> dict[str, Metric]:
        return {"t.m": self.metric, "t.o": replace(self.metric, estimator=self.other)}

    def value(self, table: CaseTable) -> float:
        return sum(metric.estimator.value(table) for metric in self._metrics.values()) / 2

    def figure(self, table: CaseTable, drawn: Resampling) -> Figure | None:
        composite = Composite("c", "", ("t.m", "t.o"), lambda m, o: (m + o) / 2, self.best, self.worst)
        parts = intervals(self._metrics, [table], drawn).found
        if len(parts) < len(self._metrics):
            return None
        figures = {name: of_tables[0] for name, of_tables in parts.items()}
        return composite_figures(composite, self._metrics, [{"t": table}], [figures], drawn)[0]


def _beta(rng: np.random.Generator, centre: float, concentration: float, cases: int) -> np.ndarray:
    return rng.beta(centre * concentration, (1 - centre) * concentration, cases)


def _mean(draw: Callable[[np.random.Generator, int], np.ndarray]) -> Draw:
    return lambda rng, cases: {"value": draw(rng, cases)}


def _failing(centre: float, concentration: float, share: float, low: float, high: float) -> Draw:
    def draw(rng: np.random.Generator, cases: int) -> Columns:
        fails = rng.random(cases) < share
        return {
            "value": np.where(fails, rng.uniform(low, high, cases), _beta(rng, centre, concentration, cases))
        }

    return draw


def _two(share: float) -> Draw:
    """Draw two Dice of a case, of which a share fails in both; the case's own quality is half of each."""

    def draw(rng: np.random.Generator, cases: int) -> Columns:
        case, *own = (_beta(rng, 0.85, 15, cases) for _ in range(3))
        works = rng.random(cases) >= share
        return {name: works * (case + one) / 2 for name, one in zip(("value", "other"), own, strict=True)}

    return draw


def _clustered(least: int, most: int, share: float) -> Draw:
    """Draw persons with so many cases each, of whom a share fails as a whole."""

    def draw(rng: np.random.Generator, persons: int) -> Columns:
        of_case = np.repeat(np.arange(persons), rng.integers(least, most + 1, persons))
        fails = rng.random(persons) < share
        person = np.where(fails, rng.uniform(0, 0.3, persons), _beta(rng, 0.88, 25, persons))
        value = np.clip(person[of_case] + rng.normal(0, 0.03, of_case.size), 0, 1)
        return {"value": value, "cluster": of_case}

    return draw


def _shares(share: float, size: int) -> Draw:
    def draw(rng: np.random.Generator, units: int) -> Columns:
        of_case = np.repeat(np.arange(units), size)
        own = rng.beta(share * 4, (1 - share) * 4, units)[of_case] if size > 1 else np.full(units, share)
        cluster = {"cluster": of_case} if size > 1 else {}
        return {"value": (rng.random(of_case.size) < own) * 1.0, **cluster}

    return draw


def _objects(number: float, found: float, crowded: float = 0.0) -> Draw:
    """Draw hits, and hits with false and missed objects; some images have 25 objects, found less often."""

    def draw(rng: np.random.Generator, cases: int) -> Columns:
        crowd = rng.random(cases) < crowded
        objects = np.where(crowd, 25, 1 + rng.poisson(number - 1, cases))
        hits = rng.binomial(objects, np.where(crowd, 0.4, found))
        wrong = rng.poisson(0.5, cases)
        return {"above": 2.0 * hits, "below": objects + hits + wrong, "hits": hits, "objects": objects}

    return draw


def _classes(positive: float, right: float) -> Draw:
    def draw(rng: np.random.Generator, cases: int) -> Columns:
        true = rng.random(cases) < positive
        return {"true": true, "predicted": true == (rng.random(cases) < right)}

    return draw


def _scores(positive: float, apart: float, size: int = 1) -> Draw:
    def draw(rng: np.random.Generator, units: int) -> Columns:
        cases = units * size
        label = np.zeros(cases)
        label[: round(positive * cases)] = 1
        of_case = np.repeat(np.arange(units), size)
        noise = rng.normal(size=cases)
        if size > 1:
            noise = math.sqrt(0.5) * (rng.normal(size=units)[of_case] + noise)
        score = apart * label + noise
        cluster = {"cluster": of_case} if size > 1 else {}
        return {"score": score, "label": label, **cluster}

    return draw


def _pairs(noise: float, gross: float) -> Draw:
    def draw(rng: np.random.Generator, cases: int) -> Columns:
        true = rng.normal(size=cases)
        made = true + noise * rng.normal(size=cases)
        return {"x": true, "y": np.where(rng.random(cases) < gross, 8 * rng.normal(size=cases), made)}

    return draw


_AREA, _AP = RocArea("score", "label"), AveragePrecision("score", "label")
_F1 = ConfusionFigure("predicted", "true", 2, f_beta_of_confusion, of=1)
_KAPPA = ConfusionFigure("predicted", "true", 2, cohen_kappa_of_confusion)
_PEARSON = Agreement("y", "x", weighted_pearson_correlation, absolute=False)
_POOLED = RatioOfSums("hits", "objects")

CHOOSING = (
    Population("Dice 0.9", Mean("value"), _mean(lambda rng, n: _beta(rng, 0.9, 20, n))),
    Population("Dice 0.9, 5 % at 0", Mean("value"), _failing(0.9, 40, 0.05, 0, 0), rarest=0.05),
    Population("Dice 0.9, 10 % at 0", Mean("value"), _failing(0.9, 40, 0.1, 0, 0), rarest=0.1),
    Population("Dice 0.9, 3 % at 0", Mean("value"), _failing(0.9, 40, 0.03, 0, 0), rarest=0.03),
    *(
        Population(name, Mean("value"), _mean(draw), 0, math.inf)
        for name, draw in (
            ("log-normal distance", lambda rng, n: rng.lognormal(0, 0.6, n)),
            ("log-normal distance, longer tail", lambda rng, n: rng.lognormal(0, 0.9, n)),
            ("gamma distance", lambda rng, n: rng.gamma(0.5, 1, n)),
        )
    ),
    Population("Dice, persons of 2 to 8", Mean("value"), _clustered(2, 8, 0), size=5),
    Population(
        "Dice, persons of 1 to 4, 3 % fail", Mean("value"), _clustered(1, 4, 0.03), rarest=0.03, size=2.5
    ),
    Population(
        "Dice, persons of 1 to 4, 8 % fail", Mean("value"), _clustered(1, 4, 0.08), rarest=0.08, size=2.5
    ),
    Population("AUC 0.92", _AREA, _scores(0.3, 2.0)),
    Population("pooled share, 4 a case", _POOLED, _objects(4, 0.7)),
)
VERIFYING = (
    Population("Dice 0.85", Mean("value"), _mean(lambda rng, n: _beta(rng, 0.85, 12, n))),
    Population("Dice near the ceiling", Mean("value"), _mean(lambda rng, n: rng.beta(60, 1, n))),
    Population("Dice, 1 % failures", Mean("value"), _failing(0.9, 30, 0.01, 0, 0.3), rarest=0.01),
    Population("Dice, 4 % failures", Mean("value"), _failing(0.9, 30, 0.04, 0, 0.3), rarest=0.04),
    Population("Dice, 15 % failures", Mean("value"), _failing(0.8, 15, 0.15, 0, 0), rarest=0.15),
    Population(
        "score of five steps",
        Mean("value"),
        _mean(lambda rng, n: rng.choice(5, n, p=[0.04, 0.06, 0.15, 0.35, 0.4]) / 4),
    ),
    Population(
        "two modes",
        Mean("value"),
        _mean(lambda rng, n: np.where(rng.random(n) < 0.4, rng.beta(2, 8, n), rng.beta(16, 2, n))),
    ),
    Population(
        "log-normal distance, at most 60",
        Mean("value"),
        _mean(lambda rng, n: np.minimum(60, 2 * rng.lognormal(0, 0.8, n))),
        0,
        60,
    ),
    Population(
        "absolute error, t with 5 degrees of freedom",
        Mean("value"),
        _mean(lambda rng, n: np.abs(rng.standard_t(5, n))),
        0,
        math.inf,
    ),
    Population(
        "root mean square, t with 8",
        RootMeanSquare("value"),
        _mean(lambda rng, n: rng.standard_t(8, n)),
        0,
        math.inf,
    ),
    Population("Dice, persons of 2", Mean("value"), _clustered(2, 2, 0), size=2),
    Population("Dice, persons of 2 to 20", Mean("value"), _clustered(2, 20, 0), size=11),
    Population(
        "Dice, persons of 1 to 3, 5 % fail", Mean("value"), _clustered(1, 3, 0.05), rarest=0.05, size=2
    ),
    Population(
        "Dice, persons of 1 to 3, 15 % fail", Mean("value"), _clustered(1, 3, 0.15), rarest=0.15, size=2
    ),
    Population("share 0.94", Share("value"), _shares(0.94, 1)),
    Population("share 0.8, persons of 3", Share("value"), _shares(0.8, 3), size=3),
    Population("pooled share, 6 a case", _POOLED, _objects(6, 0.85)),
    Population("F1 of objects, 5 % of images crowded", RatioOfSums("above", "below"), _objects(2, 0.9, 0.05)),
    Population("F1, 25 % positive", _F1, _classes(0.25, 0.9)),
    Population("kappa, 40 % positive", _KAPPA, _classes(0.4, 0.93), worst=-1.0),
    Population("AUC 0.88, 25 % positive", _AREA, _scores(0.25, 1.66)),
    Population("AUC 0.95, 40 % positive", _AREA, _scores(0.4, 2.33)),
    Population("AUC 0.92, persons of 2", _AREA, _scores(0.5, 2.0, 2), size=2),
    Population("average precision, 20 % positive", _AP, _scores(0.2, 2.0)),
    Population(
        "sensitivity at 90 % specificity",
        SensitivityAtSpecificity("score", "label", Fraction(9, 10)),
        _scores(0.4, 2.0),
    ),
    Population("median of two modes", Quantile("value", 0.5), _failing(0.9, 30, 0.4, 0, 0.3)),
    Population("0.1 quantile, 12 % failures", Quantile("value", 0.1), _failing(0.9, 30, 0.12, 0, 0.3)),
    Population("median, persons of 2 to 20", Quantile("value", 0.5), _clustered(2, 20, 0), size=11),
    MeanOfTwo("mean of two Dice", Mean("value"), _two(0)),
    MeanOfTwo("mean of two Dice, 15 % of cases fail in both", Mean("value"), _two(0.15), rarest=0.15),
    MeanOfTwo("mean of AUC and average precision, 20 % positive", _AREA, _scores(0.2, 2.0), other=_AP),
    Population("Pearson, normal errors", _PEARSON, _pairs(0.5, 0), worst=-1.0),
    Population("Pearson, 2 % gross errors", _PEARSON, _pairs(0.3, 0.02), worst=-1.0, rarest=0.02),
)


@cache
def true_value(population: Population) -> float:
    """Return the value of very many cases."""
    table, _ = population.table((0,), round(_LARGE / population.size))
    return population.value(table)


@dataclass(frozen=True)
class Measured:
    """How many samples were covered, and the median width, of the two intervals and of the rivals by name."""

    sets: int
    covered: Mapping[str, float]
    width: Mapping[str, float]

    def against_rivals(self, own: str) -> float | None:
        """Return the width over that of the narrowest rival that holds, None where none does."""
        held = [
            self.width[name]
            for name in self.covered
            if name not in (FIELD, UNSEEN) and self.covered[name] >= HOLDS and self.width[name] > 0
        ]
        return self.width[own] / min(held) if held and own in self.width else None


FIELD, UNSEEN = "field", "with unseen failures"


def measured(population: Population, units: int, sets: int, rivals: bool = True) -> Measured:
    """Return the coverage and width of both intervals in samples of so many units."""
    true, found = true_value(population), dict[str, list[Interval]]()
    for number in range(1, sets + 1):
        table, clusters = population.table((number, units), units)
        drawn = Resampling(number, _RESAMPLES, 2, clusters=clusters)
        figure = population.figure(table, drawn)
        if figure is None:
            continue
        for name, interval in _both(figure):
            found.setdefault(name, []).append(interval)
        for name, interval in _rivals(population, table, clusters, figure) if rivals else ():
            found.setdefault(name, []).append(interval)
    covered = {
        name: float(np.mean([one.lower <= true <= one.upper for one in of_name]))
        for name, of_name in found.items()
    }
    width = {
        name: float(np.median([2 * one.half_width for one in of_name])) for name, of_name in found.items()
    }
    return Measured(max(map(len, found.values()), default=0), covered, width)


def _both(figure: Figure) -> Iterator[tuple[str, Interval]]:
    if figure.interval:
        yield FIELD, figure.interval
    if figure.with_unseen_failures and figure.with_unseen_failures.interval:
        yield UNSEEN, figure.with_unseen_failures.interval


def _rivals(
    population: Population, table: CaseTable, clusters: Mapping[str, str] | None, figure: Figure
) -> Iterator[tuple[str, Interval]]:
    if isinstance(population, MeanOfTwo):
        return
    estimator = population.estimator
    units = None if clusters is None else np.unique(list(clusters.values()), return_inverse=True)[1]
    if estimator.share_column and clusters is None:
        yield "exact", share_interval(round(figure.value * len(table)), len(table))
    influence = estimator.influence(table, population.worst, population.best)
    if influence is not None:
        of_units = influence if units is None else np.bincount(units, influence)
        number = of_units.size
        half = student_quantile(0.975, number - 1) * math.sqrt(
            float(of_units @ of_units) * number / (number - 1)
        )
        yield "Student", Interval(figure.value - half, figure.value + half)
        return
    strata = np.zeros(len(table), dtype=int) if estimator.drawn_together else estimator.strata(table)
    weights = np.concatenate(list(bootstrap_of(strata, units, 1, _RESAMPLES).case_weights()))
    values = estimator.values(WeightedCases(table, weights))
    if not np.isnan(values).all():
        yield "percentiles", percentile_interval(values)


# --- Tests of two teams ---


@dataclass(frozen=True)
class Teams:
    """Two teams on the same cases, of which the first is better by a difference, or equal."""

    name: str
    estimator: Estimator
    draw: Callable[[np.random.Generator, int, float], tuple[Columns, Columns]]
    difference: float


def _two_means(failures: float = 0.0) -> Callable[[np.random.Generator, int, float], tuple[Columns, Columns]]:
    def draw(rng: np.random.Generator, cases: int, difference: float) -> tuple[Columns, Columns]:
        common = _beta(rng, 0.85, 20, cases)
        both = [common + rng.normal(0, 0.04, cases) for _ in range(2)]
        both = [np.where(rng.random(cases) < failures, 0.0, one) for one in both]
        return {"value": both[0] + difference}, {"value": both[1]}

    return draw


def _two_scores(rng: np.random.Generator, cases: int, difference: float) -> tuple[Columns, Columns]:
    label = (np.arange(cases) < 0.35 * cases) * 1.0
    common = rng.normal(size=cases)
    first, second = (
        {
            "score": apart * label + math.sqrt(0.6) * common + math.sqrt(0.4) * rng.normal(size=cases),
            "label": label,
        }
        for apart in (1.6 + difference, 1.6)
    )
    return first, second


TEAMS = (
    Teams("mean Dice", Mean("value"), _two_means(), 0.016),
    Teams("mean Dice, both fail in 5 %", Mean("value"), _two_means(0.05), 0.09),
    Teams("AUC", _AREA, _two_scores, 0.6),
    Teams("average precision", _AP, _two_scores, 0.6),
    Teams(
        "sensitivity at 90 % specificity",
        SensitivityAtSpecificity("score", "label", Fraction(9, 10)),
        _two_scores,
        0.8,
    ),
)


def rejected(teams: Teams, cases: int, sets: int, difference: float) -> tuple[float, float]:
    """Return the shares of samples in which the test, and Student's t test, find a difference."""
    shown = by_student = 0
    metric = Metric("m", "", teams.estimator, 1, 0)
    for number in range(sets):
        columns = teams.draw(np.random.default_rng((_SEED, number, cases)), cases, difference)
        names = [f"{case:05}" for case in range(cases)]
        tables = {}
        for team, of_team in zip("ab", columns, strict=True):
            rows = zip(*(column.tolist() for column in of_team.values()), strict=True)
            tables[team] = CaseTable(names, [dict(zip(of_team, row, strict=True)) for row in rows])
        found = Compared(metric, tables, Resampling(number, _RESAMPLES, 2)).difference("a", "b")
        shown += bool(found.significant)
        if "value" in columns[0]:
            by_student += ttest_rel(columns[0]["value"], columns[1]["value"]).pvalue < 0.05
    return shown / sets, by_student / sets


# --- The page ---


def main() -> None:
    """Simulate, and print the tables or write them into the page."""
    simulate(__doc__, "uncertainty", lambda sets: [*_coverage_lines(sets), "", *_test_lines(sets)])


def _coverage_lines(sets: int) -> Iterator[str]:
    yield f"{sets} samples each; a coverage of 95 % is measured to ± {196 * math.sqrt(0.0475 / sets):.1f}."
    yield ""
    sizes = " / ".join(map(str, SIZES))
    columns = (
        "population",
        f"field's interval, % at {sizes} units",
        "width over the narrowest rival that holds",
        "with unseen failures, %",
        "its width over the field's",
    )
    yield f"| {' | '.join(columns)} |"
    yield "|---|---|---|---|---|"
    for population in VERIFYING:
        found = [measured(population, units, sets) for units in SIZES]
        cells = population.name, _cells(found, FIELD), _ratios(found), _cells(found, UNSEEN), _beside(found)
        yield f"| {' | '.join(cells)} |"


def _cells(found: Sequence[Measured], name: str) -> str:
    return " / ".join(f"{100 * one.covered[name]:.1f}" if name in one.covered else "–" for one in found)


def _ratios(found: Sequence[Measured]) -> str:
    ratios = [one.against_rivals(FIELD) for one in found]
    return " / ".join("–" if ratio is None else f"{ratio:.2f}" for ratio in ratios)


def _beside(found: Sequence[Measured]) -> str:
    both = [(one.width.get(UNSEEN), one.width.get(FIELD)) for one in found]
    return " / ".join(f"{unseen / field:.2f}" if unseen and field else "–" for unseen, field in both)


def _test_lines(sets: int) -> Iterator[str]:
    sizes = " / ".join(map(str, SIZES[1:]))
    yield (
        f"| two teams | equal, found different, % at {sizes} cases | different, found, % "
        "| by Student's t test, % |"
    )
    yield "|---|---|---|---|"
    for teams in TEAMS:
        equal = [rejected(teams, cases, sets, 0.0)[0] for cases in SIZES[1:]]
        power = [rejected(teams, cases, sets, teams.difference) for cases in SIZES[1:]]
        cells = [
            " / ".join(f"{100 * one:.1f}" for one in column)
            for column in (equal, [own for own, _ in power], [other for _, other in power])
        ]
        has_means = teams.estimator.mean_column is not None
        yield f"| {teams.name} | {cells[0]} | {cells[1]} | {cells[2] if has_means else '–'} |"


if __name__ == "__main__":
    main()
