"""How many cases show a difference between two teams, by simulation with the test of `rank`."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.estimator import Mean
from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.organiser.ranking.compared import Compared, TestOfMeans
from evaluation.organiser.ranking.resampling import TeamCases
from evaluation.organiser.ranking.results import PhaseResults

_FIRST_SIZE, _LARGEST_SIZE = 20, 20_000
Drawn = tuple[CaseTable, CaseTable, NDArray[np.int64] | None]


@dataclass(frozen=True)
class DifferencePlan:
    """How many units show a difference, None where 20,000 do not; the test (two-sided 5 %).

    A unit is a case, or a cluster if ``clustered``. ``tried``: the power by the number of units.
    """

    metric: str
    difference: float
    method: str
    clustered: bool
    needed: int | None
    tried: Mapping[int, float]


@dataclass(frozen=True)
class Simulation:
    """The wanted power, the number of simulated sets of each size and of the resamples of each, the seed.

    ``means``: the test of means, that of `rank`.
    """

    power: float = 0.8
    sets: int = 200
    resamples: int = 200
    seed: int = 0
    means: TestOfMeans = "means"


def difference_of_pilot(
    results: PhaseResults, teams: tuple[str, str], name: str, simulation: Simulation
) -> DifferencePlan:
    """Return how many units show the difference of two teams' pilot results in a metric.

    Test sets are drawn with replacement from the units of the pilot, in its shares of the metric's classes.
    Raises `PhaseError` without results per case of both teams in the metric.
    """
    problems = [] if name in results.metrics else [f"{name}: is no metric of {results.phase}"]
    by_team = {one.team: one for one in results.submissions if one.tables is not None}
    problems += [f"{team}: has no results per case" for team in teams if team not in by_team]
    PhaseError.raise_all(problems)
    metric, task = results.metrics[name], name.partition(".")[0]
    clusters = results.resampling.clusters if results.resampling else None
    cases = TeamCases.of([by_team[team] for team in teams], clusters)
    tables = cases.task_tables(task)
    if len(tables) < len(teams):
        raise PhaseError(f"{name}: one of the teams has no results in {task}")
    first, second = (tables[team] for team in teams)
    units = cases.units(first, metric)
    strata = metric.estimator.strata(first)
    unit_of_case = np.arange(len(strata)) if units is None else units
    members = [np.flatnonzero((unit_of_case == unit) & (strata >= 0)) for unit in np.unique(unit_of_case)]
    members = [of_unit for of_unit in members if of_unit.size]
    kinds: dict[tuple[int, ...], list[int]] = {}
    for position, of_unit in enumerate(members):
        kinds.setdefault(tuple(sorted(set(strata[of_unit].tolist()))), []).append(position)

    def draw(size: int, rng: np.random.Generator) -> Drawn:
        drawn = [
            rng.choice(of_kind, max(1, round(size * len(of_kind) / len(members))))
            for of_kind in kinds.values()
        ]
        chosen = [members[position] for position in np.concatenate(drawn).tolist()]
        positions = np.concatenate(chosen)
        of_case = np.repeat(np.arange(len(chosen)), [one.size for one in chosen])
        return first.take(positions), second.take(positions), None if units is None else of_case

    values = [by_team[team].values[name] for team in teams]
    return _smallest(name, metric, values[0] - values[1], draw, simulation)


def difference_of_means(
    difference: float, spread: float, correlation: float, simulation: Simulation
) -> DifferencePlan:
    """Return how many cases show a difference of two means, such as mean Dice, before there are results.

    spread: the standard deviation of the values over the cases; correlation: between the teams. Values are
    normal. Raises `PhaseError` for numbers out of range.
    """
    if not (difference and spread > 0 and -1 <= correlation < 1):
        raise PhaseError("expected a difference other than 0, a spread above 0 and a correlation below 1")

    def draw(size: int, rng: np.random.Generator) -> Drawn:
        first, other = rng.normal(size=(2, size))
        second = correlation * first + math.sqrt(1 - correlation**2) * other
        columns = spread * first + difference, spread * second
        names = [str(case) for case in range(size)]
        a, b = (CaseTable(names, [{"value": one} for one in column.tolist()]) for column in columns)
        return a, b, None

    metric = Metric("value", "mean", Mean("value"), math.inf, -math.inf)
    return _smallest("mean", metric, difference, draw, simulation)


def _smallest(
    name: str,
    metric: Metric,
    difference: float,
    draw: Callable[[int, np.random.Generator], Drawn],
    simulation: Simulation,
) -> DifferencePlan:
    """Return the plan from sizes that double until the power is reached, then halve the gap to a tenth."""
    tried: dict[int, float] = {}
    method, clustered = "", False

    def reaches(size: int) -> bool:
        nonlocal method, clustered
        found = 0
        for number in range(simulation.sets):
            # Equal sets begin alike at each size, so that the power hardly falls with the size by chance.
            first, second, units = draw(size, np.random.default_rng((simulation.seed, number)))
            names, clusters = [str(case) for case in range(len(first))], None
            if units is not None:
                clusters = dict(zip(names, map(str, units.tolist()), strict=True))
            tables = {"first": _named(first, names), "second": _named(second, names)}
            drawn = Resampling(number, simulation.resamples, 2, clusters=clusters)
            test = Compared(metric, tables, drawn, means=simulation.means).difference("first", "second")
            method, clustered = test.method, units is not None
            found += bool(test.significant) and test.direction * difference > 0
        tried[size] = found / simulation.sets
        return tried[size] >= simulation.power

    too_few, enough = 0, _FIRST_SIZE
    while enough <= _LARGEST_SIZE and not reaches(enough):
        too_few, enough = enough, 2 * enough
    while too_few and enough <= _LARGEST_SIZE and enough - too_few > max(1, too_few // 10):
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if reaches(middle) else (middle, enough)
    needed = enough if enough <= _LARGEST_SIZE else None
    return DifferencePlan(name, difference, method, clustered, needed, dict(sorted(tried.items())))


def _named(table: CaseTable, names: list[str]) -> CaseTable:
    """Return a table in which cases that were drawn twice have names of their own."""
    return CaseTable(names, table.rows)
