"""`rank`: leaderboards from the results of many teams."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.cli.rank_arguments import add_arguments
from evaluation.cli.rank_inputs import chosen_scheme, methods_tables, paths_of, read_all

if TYPE_CHECKING:
    from evaluation.ranking.leaderboard_file import PhaseLeaderboard
    from evaluation.ranking.method_groups import MethodGroup
    from evaluation.ranking.rank_options import RankOptions
    from evaluation.ranking.results import PhaseResults

__all__ = ["add_arguments", "run"]


def run(arguments: argparse.Namespace) -> int:
    """Rank, write and print. Raises `RankingError` with every reason why the results cannot be ranked."""
    from evaluation.cli.rank_limits import limited, selection_of
    from evaluation.cli.rank_table import print_leaderboard
    from evaluation.ranking.annotator_scores import read_annotator_scores
    from evaluation.ranking.annotators import read_annotators
    from evaluation.ranking.final import leaderboard_of
    from evaluation.ranking.finalists import rank_all
    from evaluation.ranking.leaderboard_writing import (
        write_differences,
        write_leaderboard,
        write_methods,
        write_organiser_part,
    )
    from evaluation.ranking.rank_options import RankOptions

    choices = RankOptions(
        which=arguments.which,
        resamples=arguments.resamples,
        interval_minimum=arguments.interval_minimum,
        tests=arguments.tests,
        permutations=arguments.permutations,
        means=arguments.test_of_means,
        influence=arguments.influence,
        subgroups=tuple(dict.fromkeys(arguments.subgroup)),
        annotators=partial(read_annotators, arguments.annotators) if arguments.annotators else None,
        classifiers=_titles(arguments.classifier),
        annotator_scores=partial(read_annotator_scores, arguments.annotator_scores)
        if arguments.annotator_scores
        else None,
        compare_with=dict(map(_compared, arguments.compare)),
    )
    selection = selection_of(arguments.finalists)
    tables = methods_tables(arguments) if arguments.group_teams else {}
    results, left_out = limited(arguments, read_all(arguments), paths_of(arguments.results))
    _require_teams(choices.compare_with, results)
    schemes = {role: chosen_scheme(arguments, phase_results) for role, phase_results in results.items()}
    of_phases = {role: _of_phase(choices, phase_results) for role, phase_results in results.items()}
    ranked = rank_all(results, schemes, of_phases, selection)
    board = leaderboard_of(ranked, schemes)
    board = replace(board, notices=(*left_out, *board.notices))
    grouped = {role: _grouped(ranked[role].board, path, arguments) for role, path in tables.items()}
    paths: list[Path] = []
    if arguments.output:
        # Written first: the reader of the output may stop before its end.
        paths = write_leaderboard(board, arguments.output)
        for role, phase in ranked.items():
            suffix = f"-{role}" if role else ""
            paths += write_differences(phase, arguments.output, suffix)
            paths += write_organiser_part(phase.organiser, arguments.output, suffix)
            if role in grouped:
                paths += write_methods(*grouped[role], arguments.output, suffix)
    print_leaderboard(board)
    sys.stdout.write("".join(f"{path}\n" for path in paths))
    return 0


def _grouped(
    phase: PhaseLeaderboard, path: Path, arguments: argparse.Namespace
) -> tuple[Sequence[MethodGroup], Sequence[Mapping[str, Any]]]:
    """Return the groups of teams by method, and the table of methods. Raises `PhaseError`."""
    from evaluation.ranking.method_groups import method_groups, methods_rows, read_methods

    methods = read_methods(path)
    columns = tuple(dict.fromkeys(arguments.group_teams))
    return method_groups(phase, methods, columns), methods_rows(phase, methods)


def _compared(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a team and its opponents. Raises `RankingError`."""
    from evaluation.ranking.results import RankingError

    team, equals, others = text.partition("=")
    names = tuple(name for part in others.split(",") if (name := part.strip()))
    if not (team and equals and names):
        raise RankingError(f"--compare {text}: expected TEAM=TEAM[,TEAM…]")
    return team, names


def _require_teams(compared: Mapping[str, Sequence[str]], results: Mapping[str, PhaseResults]) -> None:
    """Raise `RankingError` for a team of --compare that has no results in any phase."""
    from evaluation.ranking.results import RankingError

    known = {submission.team for of_phase in results.values() for submission in of_phase.submissions}
    if unknown := [team for team in compared if team not in known]:
        raise RankingError(*(f"--compare {team}: is no team of these results" for team in unknown))


def _of_phase(choices: RankOptions, results: PhaseResults) -> RankOptions:
    """Return the options of one phase, without comparisons of teams that took no part in it."""
    teams = {submission.team for submission in results.submissions}
    compared = {team: others for team, others in choices.compare_with.items() if team in teams}
    return replace(choices, compare_with=compared)


def _titles(given: list[str]) -> dict[str, str]:
    """Return columns by title."""
    found = {}
    for text in given:
        column, _, title = text.partition("=")
        found[title or column] = column
    return found
