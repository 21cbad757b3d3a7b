"""The figures of single cases, for the organiser: difficulty, curves, classifiers, operating points."""

from __future__ import annotations

from evaluation.core.resampling import Resampling
from evaluation.ranking.annotator_points import annotator_points
from evaluation.ranking.case_report import case_values, curves, free_response_curves
from evaluation.ranking.classifiers import classifiers_of_teams
from evaluation.ranking.difficulty import case_difficulties, group_difficulties
from evaluation.ranking.leaderboard_file import OrganiserPart
from evaluation.ranking.operating_points import operating_points
from evaluation.ranking.pair_tests import TestChoice
from evaluation.ranking.rank_options import RankOptions
from evaluation.ranking.resampling import TeamCases
from evaluation.ranking.results import PhaseResults
from evaluation.ranking.subgroup_values import values_by_subgroup


def figures_of_cases(
    results: PhaseResults,
    choices: RankOptions,
    ranked: TeamCases,
    chosen: TeamCases,
    resampling: Resampling,
    are_few: bool,
) -> OrganiserPart:
    """Return the figures of single cases without their influence; none without results per case.

    ranked: the teams with a place; chosen: all listed teams. are_few: whether the teams are few enough to
    test the challenge's classifiers without a request.
    """
    if results.cases is None:
        return OrganiserPart()
    difficulties = case_difficulties(results.metrics, ranked)
    tested = ranked.teams, resampling, tests_of(choices, resampling)
    requested = dict(choices.classifiers or {})
    declared = [f"{task.name}.{column}" for task in results.tasks for column in task.classifiers]
    classifiers = {column: column for column in declared if column not in requested.values()} | requested
    return OrganiserPart(
        difficulties=tuple(difficulties),
        groups=tuple(group_difficulties(difficulties, results.cases, choices.subgroups)),
        values=case_values(results.metrics, chosen),
        curves=curves(results.metrics, chosen),
        free_response=free_response_curves(results.metrics, chosen),
        annotator_points=annotator_points(choices.annotators, results.metrics, chosen, *tested),
        classifiers=classifiers_of_teams(results.metrics, classifiers if are_few else {}, chosen, *tested),
        operating_points=operating_points(results.tasks, chosen),
        subgroups=values_by_subgroup(results.metrics, chosen, results.cases, choices.subgroups),
    )


def tests_of(choices: RankOptions, resampling: Resampling) -> TestChoice:
    """Return how teams are tested: with the seed of the phase."""
    return TestChoice(resampling.seed, choices.permutations, choices.means)
