"""The notes of `settings` on the platform's places, against the platform's own rules and random results."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from statistics import mean, median
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Challenge, Composite, Options, Task
from evaluation.core.estimator import Figure, Mean, one_stratum
from evaluation.core.metric import Metric, mean_metric
from evaluation.core.scheme import Board, Method, MethodName, Place, Rank, Scheme, Score, Ties
from evaluation.organiser.ranking.platform_ranking import (
    Example,
    PlatformRanking,
    closest_ranking,
    differences_of,
    example_of,
)
from evaluation.organiser.ranking.results import PhaseResults, Submission
from evaluation.organiser.ranking.scheme_scores import SchemeScores

# "t.a" and "t.b" are means over cases, "u.c" is not; lower values of "t.b" are better.
NO_MEAN = Figure(Mean("c").values, one_stratum)
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
    submissions = [
        Submission(f"{position}", "", values_of(team), tables_of(team)) for position, team in enumerate(teams)
    ]
    return PhaseResults(
        CHALLENGE, Options(), TASKS, "made-up", "", tuple(submissions), frozenset(), None, None
    )


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


WEIGHTS = st.sampled_from([Fraction(0), Fraction(1), Fraction(1), Fraction(2), Fraction("0.3")])


@st.composite
def schemes(draw: st.DrawFn) -> Scheme:
    boards: list[Board] = []
    for number in range(draw(st.integers(1, 3))):
        combination = draw(st.sampled_from(["sum", "mean", "median"]))

        def term(weighs: bool = combination == "sum") -> Rank | Place | Score:
            weight = draw(WEIGHTS) if weighs else Fraction(1)
            if boards and draw(st.booleans()):
                kind = draw(st.sampled_from([Place, Score]))
                return kind(draw(st.sampled_from(boards)).name, weight)
            return Rank(draw(st.sampled_from(METRICS)), weight)

        terms = tuple(term() for _ in range(draw(st.integers(1, 4))))
        ties = (term(weighs=False),) if draw(st.integers(0, 4)) == 0 else ()
        boards.append(Board(f"board {number}", terms, ties, combination))
    return Scheme(
        tuple(boards),
        draw(st.sampled_from([boards[-1].name, boards[-1].name, None])),
        complete_only=draw(st.booleans()),
        method=Method(draw(st.sampled_from(["mean-then-rank", "mean-then-rank", *get_args(MethodName)]))),
        ties=draw(st.sampled_from(["min", "min", *get_args(Ties)])),
    )


@st.composite
def platform_rankings(draw: st.DrawFn, scheme: Scheme) -> PlatformRanking:
    closest = closest_ranking(scheme)
    if closest and draw(st.integers(0, 3)):
        return closest
    columns = draw(st.permutations([*METRICS, "total"]))[: draw(st.integers(1, 3))]
    return PlatformRanking(draw(st.sampled_from(["absolute", "mean", "median"])), tuple(columns))


@given(st.data())
def test_places_differ_only_where_the_note_says_so_and_as_its_example_shows(data):
    scheme = data.draw(schemes(), "scheme")
    platform = data.draw(platform_rankings(scheme), "platform")
    optional = data.draw(st.sampled_from([(), (), ("u",)]), "optional tasks")
    notes = differences_of(scheme, platform, figures(), TITLES, optional)
    if not notes:
        levels = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
        cases = st.lists(levels, min_size=4, max_size=4)
        required = {name: cases for name in METRICS if name[0] not in optional}
        others = {name: cases for name in METRICS if name[0] in optional}
        team = st.fixed_dictionaries(required, optional=others)
        teams = data.draw(st.lists(team, min_size=2, max_size=5), "teams")
        deciding = scheme.overall or scheme.boards[-1].name
        assert places_on_the_platform(platform, teams) == places_by_rank(scheme, teams, deciding)
        return
    (note,) = notes
    example = example_of(scheme, platform, figures(), optional)
    assert ("Example:" in note) == (example is not None)
    assert optional or "optional" not in note
    if example:
        assert example.platform != example.challenge
        assert places_on_the_platform(platform, teams_of(example)) == list(example.platform)
        assert places_by_rank(scheme, teams_of(example), example.board) == list(example.challenge)


ONE = Board("a", (Rank("t.a"),))
OTHER = Board("b", (Rank("t.b"),))
TWO = Board("two", (Rank("t.a"), Rank("t.b")))
THREE = tuple(Rank(name) for name in METRICS)


@pytest.mark.parametrize(
    ("boards", "method", "columns"),
    [
        ((ONE,), "absolute", ("t.a",)),
        ((ONE, OTHER, Board("all", (Place("a"), Place("b")))), "mean", ("t.a", "t.b")),
        ((Board("all", (Rank("t.a"), Rank("t.b")), combination="median"),), "median", ("t.a", "t.b")),
        ((Board("all", (Rank("t.a"), Rank("t.b", Fraction(0)))),), "absolute", ("t.a",)),
        ((TWO, Board("all", (Score("two"), Rank("u.c")))), "mean", ("t.a", "t.b", "u.c")),
        ((Board("all", THREE, combination="median"),), "median", METRICS),
        ((Board("all", (Rank("t.a"), Rank("t.b", Fraction(2)))),), None, ()),
        ((Board("all", (*TWO.terms, Rank("t.a"))),), None, ()),
        ((TWO, Board("all", (Place("two"), Rank("u.c")))), None, ()),
        (
            (Board("double", (Rank("t.a", Fraction(2)),)), Board("all", (Score("double"), Rank("t.b")))),
            None,
            (),
        ),
        ((Board("a", ONE.terms, OTHER.terms), Board("all", (Place("a"), Rank("u.c")))), None, ()),
        ((ONE, OTHER), "absolute", ("t.b",)),
    ],
)
def test_the_ranking_of_the_platform_that_adds_the_same_ranks(boards, method, columns):
    scheme = Scheme(boards, overall=boards[-1].name)
    assert closest_ranking(scheme) == (PlatformRanking(method, columns) if method else None)
    notes = differences_of(scheme, closest_ranking(scheme) or PLATFORM, figures(), TITLES)
    assert bool(notes) == (method is None)


PLATFORM = PlatformRanking("mean", ("t.a", "t.b"))


@pytest.mark.parametrize(
    ("scheme", "platform", "reason"),
    [
        (Scheme((ONE, OTHER)), PLATFORM, "several leaderboards (a, b)"),
        (
            Scheme((TWO,), method=Method("rank-then-mean")),
            PLATFORM,
            "the values of the cases (rank-then-mean)",
        ),
        (Scheme((TWO,), ties="average"), PLATFORM, 'the lowest of their ranks (ties = "average")'),
        (Scheme((TWO,), ties="dense"), PLATFORM, 'the lowest of their ranks (ties = "dense")'),
        (Scheme((Board("two", TWO.terms, (Rank("u.c"),)),)), PLATFORM, "breaks ties"),
        (Scheme((Board("two", (Rank("t.a"), Rank("t.b", Fraction(3)))),)), PLATFORM, "weights ranks"),
        (Scheme((TWO,)), PlatformRanking("absolute", ("t.a", "t.b")), "other columns"),
        (Scheme((TWO,)), PlatformRanking("absolute", ("total",)), "other columns"),
        (Scheme((Board("all", THREE),)), PlatformRanking("median", METRICS), "takes their mean"),
    ],
)
def test_what_makes_the_places_differ_is_named_and_shown(scheme, platform, reason):
    (note,) = differences_of(scheme, platform, figures(), TITLES)
    assert reason in note
    assert "`rank` gives these places. Example: A, B, C with the " in note


def test_scaled_values_are_named_where_there_is_more_than_one():
    method = Method("min-max")
    (note,) = differences_of(Scheme((TWO,), method=method), PLATFORM, figures(), TITLES)
    assert note.endswith(
        "but the challenge adds scaled values in place of ranks (min-max): `rank` gives these places"
    )
    assert (
        differences_of(Scheme((ONE,), method=method), closest_ranking(Scheme((ONE,))), figures(), TITLES)
        == []
    )


@pytest.mark.parametrize("name", sorted(set(get_args(MethodName)) - {"mean-then-rank", "min-max"}))
@pytest.mark.parametrize("board", [ONE, OTHER], ids=["higher is better", "lower is better"])
def test_every_method_on_the_values_of_the_cases_has_an_example(name, board):
    scheme = Scheme((board,), method=Method(name))
    platform = closest_ranking(scheme)
    example = example_of(scheme, platform, figures())
    assert example.cases
    assert places_on_the_platform(platform, teams_of(example)) == list(example.platform)
    assert places_by_rank(scheme, teams_of(example), board.name) == list(example.challenge)


def test_a_metric_that_is_no_mean_is_ranked_by_its_value_whatever_the_method():
    scheme = Scheme((Board("all", (Rank("u.c"),)),), method=Method("rank-then-mean"))
    assert differences_of(scheme, PlatformRanking("absolute", ("u.c",)), figures(), TITLES) == []


def test_teams_without_an_optional_task_count_in_the_ranks_of_the_others():
    scheme, platform = (
        Scheme((Board("all", (Rank("t.a"), Rank("u.c"))),)),
        PlatformRanking("mean", ("t.a", "u.c")),
    )
    assert differences_of(scheme, platform, figures(), TITLES) == []
    (note,) = differences_of(scheme, platform, figures(), TITLES, ("u",))
    assert "submissions that lack an optional task" in note
    complete = Scheme(scheme.boards, complete_only=True)
    assert differences_of(complete, platform, figures(), TITLES, ("u",)) == []
