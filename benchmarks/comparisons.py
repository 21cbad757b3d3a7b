"""How often comparisons of `rank` are wrong: teams with the average reader, and phases with each other.

    python -m benchmarks.comparisons [--sets 1000] [--write benchmarks/comparisons.md]

Readers and cases are drawn anew for each set. Scores are normal; readers differ in their ability and, where
they decide, in their threshold; the scores of a case correlate by 0.5 between readers and algorithm. "Wrong"
is how often a two-sided 5 % test finds a difference where there is none, "contains" how often the 95 %
interval holds the true difference if the algorithm is better. Two phases are samples of one population of
`benchmarks.uncertainty`, so that every difference is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from benchmarks.pages import simulate
from benchmarks.uncertainty import VERIFYING, Population
from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import RocArea
from evaluation.core.intervals import intervals
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.organiser.ranking.annotators import readings_of
from evaluation.organiser.ranking.leaderboard import change_between
from evaluation.organiser.ranking.readers import AgainstReaders, against_readers
from evaluation.organiser.ranking.resampling import TeamCases
from evaluation.stats.figure import Figure

_SEED, _RESAMPLES = 20260301, 200
_GAIN = 0.4
_METRICS = {"t.auc": Metric("auc", "AUC", RocArea("score", "label"), 1.0, 0.0)}
_POPULATIONS = ("AUC 0.88, 25 % positive", "AUC 0.95, 40 % positive", "Dice, 1 % failures")
_PHASES = ((100, 100), (100, 400))


@dataclass(frozen=True)
class Readers:
    """Readers with abilities and thresholds about a mean; the scores of a case correlate by ``shared``."""

    number: int
    ability: float = 1.6
    spread: float = 0.3
    threshold: float = 0.9
    shift: float = 0.3
    shared: float = 0.5


def main() -> None:
    """Simulate, and print the table or write it into the page."""
    simulate(__doc__, "comparisons", _lines)


def _lines(sets: int) -> list[str]:
    lines = [f"{sets} sets each.", ""]
    lines += ["| comparison | samples | wrong, % | contains, % |", "|---|---|---|---|"]
    return [*lines, *_of_readers(sets), *_of_phases(sets)]


def _of_readers(sets: int) -> Iterator[str]:
    for decided in (False, True):
        name = "sensitivity at the readers' specificity" if decided else "AUC"
        for readers, positives, negatives in ((3, 40, 60), (5, 45, 69), (5, 40, 360), (10, 100, 100)):
            rng = np.random.default_rng((_SEED, readers, positives, decided))
            population = Readers(readers)
            rows = [beside_readers(population, rng, positives, negatives, decided) for _ in range(sets)]
            p_values = [p for equal, _, _ in rows if (p := equal.difference.p_value) is not None]
            true = rows[0][2]
            inside = [
                ends.lower <= true <= ends.upper
                for _, better, _ in rows
                if (ends := better.difference.interval) is not None
            ]
            wrong, contains = 100 * np.mean(np.array(p_values) < 0.05), 100 * np.mean(inside)
            samples = f"{readers} readers, {positives} positives, {negatives} negatives"
            yield f"| {name}, team − readers | {samples} | {wrong:.1f} | {contains:.1f} |"


def beside_readers(
    of: Readers, rng: np.random.Generator, positives: int, negatives: int, decided: bool
) -> tuple[AgainstReaders, AgainstReaders, float]:
    """Return the rows of an algorithm that equals the mean reader and of a better one, and its difference."""
    label = np.repeat([1.0, 0.0], [positives, negatives])
    abilities = of.ability + of.spread * rng.normal(size=of.number)
    thresholds = of.threshold + of.shift * rng.normal(size=of.number)
    of_case = math.sqrt(of.shared) * rng.normal(size=label.size)
    noise = of_case + math.sqrt(1 - of.shared) * rng.normal(size=(of.number + 1, label.size))
    scores = noise[1:] + abilities[:, np.newaxis] * label
    if decided:
        readings = (scores > thresholds[:, np.newaxis]).astype(float)
        own, spread = math.sqrt(1 + of.shift**2), math.sqrt(1 + of.shift**2 + of.spread**2)
        equal = of.threshold + (of.ability - of.threshold) * own / spread
        gain = norm.cdf((equal + _GAIN - of.threshold) / own) - norm.cdf((equal - of.threshold) / own)
    else:
        readings, root = scores, math.sqrt(2)
        equal = of.ability * root / math.sqrt(2 + of.spread**2)
        gain = norm.cdf((equal + _GAIN) / root) - norm.cdf(equal / root)
    tables = tuple({"t": _table_of(noise[0] + ability * label, label)} for ability in (equal, equal + _GAIN))
    columns = {f"{number}": one for number, one in enumerate(readings)}
    found = against_readers(
        readings_of(lambda _: columns, _METRICS, TeamCases(("equal", "better"), tables)),
        (),
        Resampling(int(rng.integers(1 << 30)), _RESAMPLES, 2),
    )
    by_team = {one.team: one for one in found if one.team}
    return by_team["equal"], by_team["better"], float(gain)


def _table_of(score: np.ndarray, label: np.ndarray) -> CaseTable:
    rows = [{"score": one, "label": other} for one, other in zip(score.tolist(), label.tolist(), strict=True)]
    return CaseTable([f"{case:05}" for case in range(score.size)], rows)


def _of_phases(sets: int) -> Iterator[str]:
    for population in (one for one in VERIFYING if one.name in _POPULATIONS):
        for sizes in _PHASES:
            rng = np.random.default_rng((_SEED, *sizes))
            estimates = [_estimates(population, rng, size, sets) for size in sizes]
            changes = [change_between(*pair) for pair in zip(*estimates, strict=True)]
            wrong = 100 * np.mean([one.p_value is not None and one.p_value < 0.05 for one in changes])
            samples = f"{sizes[0]} and {sizes[1]} cases"
            yield f"| {population.name}, phase − phase | {samples} | {wrong:.1f} | – |"


def _estimates(population: Population, rng: np.random.Generator, cases: int, sets: int) -> list[Figure]:
    tables = [population.table((number, int(rng.integers(1 << 30))), cases)[0] for number in range(sets)]
    metric = population.metric
    found: list[Figure] = []
    for table in tables:
        resampling = Resampling(int(rng.integers(1 << 30)), _RESAMPLES, 10)
        found += intervals({"t.m": metric}, [table], resampling).found["t.m"]
    return found


if __name__ == "__main__":
    main()
