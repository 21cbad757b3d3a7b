"""The notes of `settings` on the platform's places, against the platform's own rules and random results."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from statistics import mean, median
from typing import Any, get_args

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Challenge, Composite, Options, Task
from evaluation.core.estimator import FunctionOfCases, Mean, one_stratum
from evaluation.core.metric import Metric, mean_metric
from evaluation.core.scheme import Board, Method, MethodName, Scheme, Term
from evaluation.organiser.ranking.platform_ranking import (
    Example,
    PlatformRanking,
    closest_ranking,
    compared_with,
    example_of,
)
from evaluation.organiser.ranking.results import PhaseResults, Submission
from evaluation.organiser.ranking.scheme_scores import SchemeScores

# "t.a" and "t.b" are means over cases, "u.c" is not; lower values of "t.b" are better.
NO_MEAN = FunctionOfCases(Mean("c").values, one_stratum)
TASKS = tuple(
    Task(name, name, (), lambda prediction, reference: {}, metrics)
    for name, metrics in (
        ("t", (mean_metric("a", "A", best=1, worst=0), mean_metric("b", "B", best=0, worst=np.inf))),
        ("u", (Metric("c", "C", NO_MEAN, best=1, worst=0),)),
    )
)
TOTAL = Composite("total", "Total", ("t.a", "t.b"), lambda a, b: (1 - a) + b, best=0, worst=2)
CHALLENGE = Challenge("made-up", "", Options, lambda options: TASKS, (), composites=(TOTAL,))
METRICS = ("t.a", "t.b", "u.c")
TITLES = {name: name for name in (*METRICS, "total")}
ALIKE = {"t.a": 1, "t.b": -1, "u.c": 1, "total": -1}  # 1: higher is better

# The values of a team in the cases, by metric; a team without a task lacks its metrics.
Team = Mapping[str, Sequence[float]]


def figures() -> dict[str, Any]:
    return results_of([]).figures


def results_of(teams: Sequence[Team]) -> PhaseResults:
    submissions = tuple(
        Submission(f"{position}", "", values_of(team), tables_of(team)) for position, team in enumerate(teams)
    )
    return PhaseResults(CHALLENGE, Options(), TASKS, "made-up", "", submissions, frozenset(), None, None)


def values_of(team: Team) -> dict[str, float]:
    values = {name: float(mean(cases)) for name, cases in team.items()}
    if values.keys() >= set(TOTAL.metrics):
        values["total"] = TOTAL.combine(*(values[name] for name in TOTAL.metrics))
    return values


def tables_of(team: Team) -> dict[str, CaseTable]:
    tables = {}
    for task in TASKS:
        columns = {name.partition(".")[2]: cells for name, cells in team.items() if name[0] == task.name}
        rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
        if rows:
            tables[task.name] = CaseTable([f"{number}" for number in range(len(rows))], rows)
    return tables


def places_by_rank(scheme: Scheme, teams: Sequence[Team], board: str) -> list[int | None]:
    """Return the places of the command `rank`."""
    results = results_of(teams)
    standing = SchemeScores(results, scheme, results.submissions).places().boards[board]
    return [standing.place(team) for team in range(len(teams))]


def places_on_the_platform(ranking: PlatformRanking, teams: Sequence[Team]) -> list[int | None]:
    """Return the places by the rules of grand-challenge.org (evaluation/utils.py).

    Results that lack a ranked column are left out. The others are ranked in each column: sorted by value,
    one that differs from the one before gets its position, an equal one the same rank. The score of a result
    is its rank in the first column, or the mean or median of its ranks; these scores are ranked likewise.
    """
    found = {team: values_of(values) for team, values in enumerate(teams)}
    valid = {team: values for team, values in found.items() if values.keys() >= set(ranking.columns)}
    ranks = [
        ranks_by({team: -ALIKE[column] * values[column] for team, values in valid.items()})
        for column in ranking.columns
    ]
    score = {"absolute": lambda of_team: of_team[0], "mean": mean, "median": median}[ranking.method]
    places = ranks_by({team: score([column[team] for column in ranks]) for team in valid})
    return [places.get(team) for team in found]


def ranks_by(scores: Mapping[int, float]) -> dict[int, int]:
    ranks: dict[int, int] = {}
    current_score, current_rank = None, 0
    for position, (team, score) in enumerate(sorted(scores.items(), key=lambda item: item[1]), start=1):
        if score != current_score:
            current_score, current_rank = score, position
        ranks[team] = current_rank
    return ranks


def teams_of(example: Example) -> list[Team]:
    """Return the teams of an example with the ranks or values that it says, and equal ones elsewhere."""
    teams: list[Team] = []
    for position in range(len(example.platform)):
        team: dict[str, Sequence[float]] = {}
        for name in METRICS:
            rank = example.ranks.get(name, (1, 1, 1))[position]
            if name in example.cases:
                team[name] = example.cases[name][position]
            elif rank is not None:
                team[name] = [1 - rank / 16 if ALIKE[name] > 0 else float(rank)] * 12
        teams.append(team)
    return teams


def holds(example: Example, scheme: Scheme, platform: PlatformRanking) -> None:
    """Hold the places of an example against the rules of the platform and the command `rank`."""
    teams = teams_of(example)
    assert example.platform != example.challenge
    assert places_on_the_platform(platform, teams) == list(example.platform)
    assert places_by_rank(scheme, teams, example.board) == list(example.challenge)


def agree(scheme: Scheme, platform: PlatformRanking) -> None:
    """Hold that both give the same places to random teams, of which many tie."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        teams = [{name: (rng.integers(0, 3, 4) / 2).tolist() for name in METRICS} for _ in range(4)]
        deciding = scheme.overall or scheme.boards[-1].name
        assert places_on_the_platform(platform, teams) == places_by_rank(scheme, teams, deciding)


ONE = Board("a", (Term(rank="t.a"),))
OTHER = Board("b", (Term(rank="t.b"),))
TWO = Board("two", (Term(rank="t.a"), Term(rank="t.b")))
THREE = tuple(Term(rank=name) for name in METRICS)
DOUBLE = Board("double", (Term(rank="t.a", weight=Decimal(2)),))


@pytest.mark.parametrize(
    ("boards", "method", "columns"),
    [
        ((ONE,), "absolute", ("t.a",)),
        ((ONE, OTHER, Board("all", (Term(place="a"), Term(place="b")))), "mean", ("t.a", "t.b")),
        ((Board("all", TWO.terms, combination="median"),), "median", ("t.a", "t.b")),
        ((Board("all", (Term(rank="t.a"), Term(rank="t.b", weight=Decimal(0)))),), "absolute", ("t.a",)),
        ((TWO, Board("all", (Term(score="two"), Term(rank="u.c")))), "mean", METRICS),
        ((Board("all", THREE, combination="median"),), "median", METRICS),
        ((Board("all", (Term(rank="t.a"), Term(rank="t.b", weight=Decimal(2)))),), None, ()),
        ((Board("all", (*TWO.terms, Term(rank="t.a"))),), None, ()),
        ((TWO, Board("all", (Term(place="two"), Term(rank="u.c")))), None, ()),
        ((DOUBLE, Board("all", (Term(score="double"), Term(rank="t.b")))), None, ()),
        ((Board("a", ONE.terms, OTHER.terms), Board("all", (Term(place="a"), Term(rank="u.c")))), None, ()),
        ((ONE, OTHER), "absolute", ("t.b",)),
    ],
)
def test_the_ranking_of_the_platform_that_adds_the_same_ranks(boards, method, columns):
    scheme = Scheme(boards, overall=boards[-1].name)
    assert closest_ranking(scheme) == (PlatformRanking(method, columns) if method else None)
    found = compared_with(scheme, closest_ranking(scheme) or PLATFORM, figures(), TITLES)
    assert bool(found.reasons) == (method is None)
    if method:
        agree(scheme, PlatformRanking(method, columns))


PLATFORM = PlatformRanking("mean", ("t.a", "t.b"))


@pytest.mark.parametrize(
    ("scheme", "platform", "reason"),
    [
        (Scheme((ONE, OTHER)), PLATFORM, "several leaderboards (a, b)"),
        (Scheme((TWO,), method=Method("rank-then-mean")), PLATFORM, "cases (rank-then-mean)"),
        (Scheme((TWO,), ties="average"), PLATFORM, 'ties = "average"'),
        (Scheme((Board("two", TWO.terms, (Term(rank="u.c"),)),)), PLATFORM, "breaks ties"),
        (
            Scheme((Board("two", (Term(rank="t.a"), Term(rank="t.b", weight=Decimal(3)))),)),
            PLATFORM,
            "weights ranks",
        ),
        (Scheme((TWO,)), PlatformRanking("absolute", ("t.a", "t.b")), "other columns"),
        (Scheme((TWO,)), PlatformRanking("absolute", ("total",)), "other columns"),
        (Scheme((Board("all", THREE),)), PlatformRanking("median", METRICS), "takes their mean"),
    ],
)
def test_what_makes_the_places_differ_is_named_and_shown(scheme, platform, reason):
    found = compared_with(scheme, platform, figures(), TITLES)
    assert reason in "; ".join(found.reasons)
    assert found.example.startswith("A, B, C with the ")
    holds(example_of(scheme, platform, figures()), scheme, platform)


def test_teams_without_an_optional_task_and_scaled_values():
    def reasons(scheme, platform, *more):
        return compared_with(scheme, platform, figures(), TITLES, *more).reasons

    scaled = compared_with(Scheme((TWO,), method=Method("min-max")), PLATFORM, figures(), TITLES)
    assert "in place of ranks (min-max)" in scaled.reasons[0]
    assert scaled.example == ""
    assert reasons(Scheme((ONE,), method=Method("min-max")), closest_ranking(Scheme((ONE,)))) == ()
    scheme = Scheme((Board("all", (Term(rank="t.a"), Term(rank="u.c"))),))
    platform = PlatformRanking("mean", ("t.a", "u.c"))
    assert reasons(scheme, platform) == ()
    (reason,) = reasons(scheme, platform, ("u",))
    assert "submissions that lack an optional task" in reason
    assert reasons(Scheme(scheme.boards, complete_only=True), platform, ("u",)) == ()


@pytest.mark.parametrize("name", sorted(set(get_args(MethodName)) - {"mean-then-rank", "min-max"}))
@pytest.mark.parametrize("board", [ONE, OTHER], ids=["higher is better", "lower is better"])
def test_every_method_on_the_values_of_the_cases_has_an_example(name, board):
    scheme = Scheme((board,), method=Method(name))
    platform = closest_ranking(scheme)
    example = example_of(scheme, platform, figures())
    assert example.cases
    holds(example, scheme, platform)
