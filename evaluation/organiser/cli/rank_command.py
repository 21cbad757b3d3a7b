"""`rank`: leaderboards from the results of many teams."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from evaluation.cli.common import add_json, share, whole_number
from evaluation.core.scheme import MethodName, Ties
from evaluation.io.tables import DECIMAL
from evaluation.organiser.cli.rank_inputs import chosen_scheme, methods_tables, paths_of, read_all
from evaluation.phase.places import PLATFORM_METHODS

if TYPE_CHECKING:
    from evaluation.organiser.ranking.comparisons import Margin
    from evaluation.organiser.ranking.leaderboard_file import PhaseLeaderboard
    from evaluation.organiser.ranking.leaderboard_writing import MethodGroup


def run(arguments: argparse.Namespace) -> int:
    """Rank, write and print. Raises `RankingError` with every reason why the results cannot be ranked."""
    from evaluation.organiser.cli.rank_inputs import limited, selection_of
    from evaluation.organiser.cli.rank_table import print_leaderboard
    from evaluation.organiser.ranking.analysis import RankOptions
    from evaluation.organiser.ranking.annotator_scores import read_annotator_scores
    from evaluation.organiser.ranking.annotators import read_annotators
    from evaluation.organiser.ranking.leaderboard import leaderboard_of, rank_all
    from evaluation.organiser.ranking.leaderboard_writing import (
        write_differences,
        write_leaderboard,
        write_methods,
        write_organiser_part,
    )
    from evaluation.organiser.ranking.results import RankingError
    from evaluation.platform.result_file import render

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
        margins=tuple(map(margin_of, arguments.margin)),
        in_fixed_order=arguments.margin_order == "fixed",
        covariates=tuple(dict.fromkeys(arguments.covariate)),
        prevalence=float(arguments.prevalence) if arguments.prevalence else None,
    )
    paths_of_results = paths_of(arguments.results)
    if arguments.output and arguments.output.resolve() in {
        path.resolve() for path in paths_of_results.values()
    }:
        raise RankingError(f"--output {arguments.output}: expected another folder than the results'")
    selection = selection_of(arguments.finalists)
    tables = methods_tables(arguments) if arguments.group_teams else {}
    results, left_out = limited(arguments, read_all(arguments), paths_of_results)
    known = {submission.team for of_phase in results.values() for submission in of_phase.submissions}
    if unknown := [team for team in choices.compare_with if team not in known]:
        raise RankingError(*(f"--compare {team}: is no team of these results" for team in unknown))
    schemes = {role: chosen_scheme(arguments, phase_results) for role, phase_results in results.items()}
    of_phases = {}
    for role, phase_results in results.items():
        teams = {submission.team for submission in phase_results.submissions}
        compared = {team: others for team, others in choices.compare_with.items() if team in teams}
        of_phases[role] = replace(choices, compare_with=compared)
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
    if arguments.json:
        sys.stdout.write(render(board, organisers=True).decode("utf-8"))
        return 0
    print_leaderboard(board)
    sys.stdout.write("".join(f"{path}\n" for path in paths))
    return 0


def _grouped(
    phase: PhaseLeaderboard, path: Path, arguments: argparse.Namespace
) -> tuple[Sequence[MethodGroup], Sequence[Mapping[str, Any]]]:
    from evaluation.organiser.ranking.leaderboard_writing import method_groups, methods_rows, read_methods

    methods = read_methods(path)
    columns = tuple(dict.fromkeys(arguments.group_teams))
    return method_groups(phase, methods, columns), methods_rows(phase, methods)


def _compared(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a team and its opponents. Raises `RankingError`."""
    from evaluation.organiser.ranking.results import RankingError

    team, equals, others = text.partition("=")
    names = tuple(name for part in others.split(",") if (name := part.strip()))
    if not (team and equals and names):
        raise RankingError(f"--compare {text}: expected TEAM=TEAM[,TEAM…]")
    return team, names


def margin_of(text: str) -> Margin:
    """Return a metric's margin and reference, which may be a number. Raises `RankingError`."""
    from evaluation.organiser.ranking.comparisons import Margin
    from evaluation.organiser.ranking.results import RankingError

    metric, _, rest = text.partition("=")
    size, _, reference = rest.partition(":")
    try:
        margin = float(size)
    except ValueError:
        margin = -1.0
    if not (metric and reference and 0 <= margin < math.inf):
        raise RankingError(f"--margin {text}: expected METRIC=MARGIN:REFERENCE with a margin of at least 0")
    value = float(reference) if DECIMAL.fullmatch(reference) else None
    return Margin(metric, margin, reference, value)


def _titles(given: list[str]) -> dict[str, str]:
    found = {}
    for text in given:
        column, _, title = text.partition("=")
        found[title or column] = column
    return found


# --- The arguments of `rank` ---


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    repeated = partial(parser.add_argument, action="append", default=[])
    path = partial(parser.add_argument, type=Path)
    parser.add_argument(
        "results",
        nargs="+",
        metavar="[PHASE=]FOLDER|CSV",
        help="a folder with one sub-folder per team, as evaluate --each writes it, or a table of results; "
        "for a ranking over several phases one each, for example offline=output/offline onsite=onsite.csv",
    )
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where to write (default: only print)")
    add_json(parser)
    repeated(
        "--metric",
        metavar="NAME=higher|lower[,KEY=VALUE…]",
        help="a metric of a table and its better direction; keys: weight (of its rank), worst (replaces "
        "missing values), title, unit; repeatable",
    )
    path("--definition", metavar="TOML", help="of a table: its [metrics.NAME], title, seed, resamples")
    parser.add_argument(
        "--scheme",
        default="challenge",
        metavar="NAME|FILE",
        help="challenge: its own (default; of a table, the weighted ranks); the same with the method "
        f"{', '.join(get_args(MethodName))}; the platform's {', '.join(PLATFORM_METHODS)}; or a TOML file",
    )
    parser.add_argument(
        "--ties",
        choices=get_args(Ties),
        help="the rank that equal teams share (default: the scheme's, else min)",
    )
    parser.add_argument(
        "--quantile",
        type=float,
        metavar="Q",
        help="of quantile-then-rank, from the worse end (default: 0.05)",
    )
    parser.add_argument("--alpha", type=float, metavar="P", help="of test-then-rank (default: 0.05)")
    parser.add_argument(
        "--adjust", choices=["holm", "none"], help="of test-then-rank for its number of tests (default: holm)"
    )
    path(
        "--ground-truth",
        metavar="FOLDER",
        help="the phase, for the score and columns that the platform's schemes rank (default: the components "
        "of the challenge's ranking), and for a challenge that is programmed beside it",
    )
    parser.add_argument(
        "--which",
        choices=["best", "last"],
        help="which of a team's submissions counts (default: the challenge's rule)",
    )
    repeated(
        "--evaluations",
        metavar="[PHASE=]N",
        help="only the first N evaluated submissions of each team count; rejected ones are not counted",
    )
    repeated(
        "--deadline",
        metavar="[PHASE=]TIME",
        help="submissions after it are left out, such as 2018-09-16T12:00:00+02:00; needs submissions.csv "
        "beside the results, with the columns team, submission, submitted_at",
    )
    parser.add_argument(
        "--finalists",
        metavar="PHASE=N",
        help="only the first N teams of this phase are ranked in the others and in the final ranking",
    )
    parser.add_argument(
        "--resamples",
        type=whole_number(0),
        metavar="N",
        help="of the bootstrap; 0: none (default: the phase's)",
    )
    parser.add_argument(
        "--interval-minimum",
        type=whole_number(2),
        metavar="N",
        help="fewest cases of a class or structure for resampling (default: the phase's)",
    )
    parser.add_argument(
        "--tests",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="test all pairs of teams (default: up to a hundred teams)",
    )
    parser.add_argument(
        "--permutations",
        type=whole_number(1),
        default=9_999,
        metavar="N",
        help="of randomisation tests (default: %(default)s)",
    )
    parser.add_argument(
        "--test-of-means",
        choices=["permutation", "signed-rank", "rank-sum"],
        default="permutation",
        help="the test of a mean over cases: paired permutation of the mean, Wilcoxon's signed-rank test, or "
        "the unpaired rank-sum test as in ADAM's paper (default: %(default)s)",
    )
    repeated(
        "--compare",
        metavar="TEAM=TEAM[,TEAM…]",
        help="test a team without a place against others, * for all ranked ones; beside the column "
        "compare_with of teams.csv; repeatable",
    )
    repeated(
        "--margin",
        metavar="METRIC=MARGIN:REFERENCE",
        help="test whether each team is not inferior, and equivalent, to a reference: a team, an annotator "
        "of --annotator-scores, or a number; several are primary metrics, corrected together; repeatable",
    )
    parser.add_argument(
        "--margin-order",
        choices=["holm", "fixed"],
        default="holm",
        help="of several --margin: Holm's correction, or tests in the order given until one fails "
        "(default: %(default)s)",
    )
    repeated(
        "--group-teams",
        metavar="COLUMN",
        help="results by a column of --methods, such as the network; several values of a team have ; between "
        "them; needs --output; repeatable",
    )
    path(
        "--methods",
        metavar="CSV",
        help="of --group-teams: team and any other columns (default: teams.csv beside the results)",
    )
    parser.add_argument(
        "--influence",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="leave out every case in turn (default: yes)",
    )
    repeated(
        "--subgroup",
        metavar="COLUMN",
        help="of the case table: tests between subgroups within teams, difficulty by subgroup; repeatable",
    )
    repeated(
        "--covariate",
        metavar="COLUMN",
        help="of the case table, numbers: Spearman's correlation with the values per case; repeatable",
    )
    parser.add_argument(
        "--prevalence",
        type=share,
        metavar="SHARE",
        help="of positive cases: predictive values at the teams' operating points",
    )
    path(
        "--annotators",
        metavar="CSV",
        help="a table of annotators: name and a column each; 0 and 1 are decisions, else it is a score",
    )
    path(
        "--annotator-scores",
        metavar="CSV",
        help="metrics of annotators, as fuse writes them to annotators.csv, to be listed beside the teams",
    )
    repeated(
        "--classifier",
        metavar="TASK.COLUMN[=TITLE]",
        help="a per-case column as a classifier beside the annotators; repeatable",
    )
