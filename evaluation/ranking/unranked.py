"""Tests of teams without a place, such as an ensemble or a grader, against chosen teams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluation.core.metric import Metric
from evaluation.ranking.comparisons import Comparison, compare_pairs, tables_of_metric
from evaluation.ranking.pair_tests import TestChoice
from evaluation.ranking.resampling import FloatArray, TeamCases
from evaluation.ranking.results import PhaseResults, RankingError

ALL = "*"
"""All ranked teams, in place of their names."""


def compare_unranked(
    name: str,
    metric: Metric,
    values: Mapping[str, float],
    cases: TeamCases,
    resampled: FloatArray | None,
    choice: TestChoice,
    against: Mapping[str, Sequence[str]],
) -> tuple[Comparison, ...]:
    """Return the tests of each unranked team against its chosen ones, corrected for each team separately.

    Holm's correction counts only the team's own tests, so that it changes no other team's. values: the metric
    by team. against: the chosen teams by unranked team. A team without the metric, or without results per
    case, is not tested.
    Source: Orlando et al. 2020, Med. Image Anal. 59:101570 (REFUGE), section 4.1: ensembles and members.
    """
    tables = tables_of_metric(name, values, cases)
    at = {cases.teams[position]: position for position in tables}
    upwards = 1 if metric.better == "higher" else -1
    found: list[Comparison] = []
    for team, others in against.items():
        pairs = [
            sorted((at[team], at[other]), key=lambda one: (-upwards * values[cases.teams[one]], one))
            for other in others
            if {team, other} <= at.keys()
        ]
        ordered = [(first, second) for first, second in pairs]
        found += compare_pairs(metric, values, cases, tables, ordered, resampled, choice).values()
    return tuple(found)


def chosen_opponents(results: PhaseResults, given: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the opponents of each unranked team: as given, else as in `teams.csv`.

    "*" stands for all ranked teams. Raises `RankingError` for a team that is ranked or unknown, and for an
    opponent that is unknown or the team itself.
    """
    teams = tuple(dict.fromkeys(submission.team for submission in results.submissions))
    ranked = tuple(team for team in teams if team not in results.ineligible)
    problems = []
    found: dict[str, tuple[str, ...]] = {}
    for team, others in {**results.compare_with, **given}.items():
        if team not in results.ineligible:
            reason = "is ranked" if team in teams else "is no team of these results"
            problems.append(
                f"{team}: {reason}: only teams that are not eligible are compared with chosen ones"
            )
        wanted = tuple(
            dict.fromkeys(one for other in others for one in (ranked if other == ALL else (other,)))
        )
        problems += [
            f"{team}: cannot be compared with {other}"
            for other in wanted
            if other not in teams or other == team
        ]
        found[team] = wanted
    if problems:
        raise RankingError(*problems)
    return found
