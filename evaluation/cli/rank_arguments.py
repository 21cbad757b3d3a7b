"""The arguments of `rank`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from evaluation.cli.arguments import whole_number
from evaluation.core.scheme import MethodName, Ties
from evaluation.ranking.schemes import PLATFORM_METHODS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "results",
        nargs="+",
        metavar="[PHASE=]FOLDER|CSV",
        help="a folder with one sub-folder per team, as evaluate --each writes it, or a table of results; "
        "for a ranking over several phases one each, for example offline=output/offline onsite=onsite.csv",
    )
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where to write (default: only print)")
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="NAME=higher|lower[,KEY=VALUE…]",
        help="a metric of a table and its better direction; keys: weight (of its rank), worst (replaces "
        "missing values), title, unit; repeatable",
    )
    parser.add_argument(
        "--definition",
        type=Path,
        metavar="TOML",
        help="of a table: its [metrics.NAME], title, seed, resamples",
    )
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
    parser.add_argument(
        "--ground-truth",
        type=Path,
        metavar="FOLDER",
        help="the phase, for the score and columns that the platform's schemes rank (default: the components "
        "of the challenge's ranking), and for a challenge that is programmed beside it",
    )
    parser.add_argument(
        "--which",
        choices=["best", "last"],
        help="which of a team's submissions counts (default: the challenge's rule)",
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
    parser.add_argument(
        "--compare",
        action="append",
        default=[],
        metavar="TEAM=TEAM[,TEAM…]",
        help="test a team without a place against others, * for all ranked ones; beside the column "
        "compare_with of teams.csv; repeatable",
    )
    parser.add_argument(
        "--group-teams",
        action="append",
        default=[],
        metavar="COLUMN",
        help="results by a column of --methods, such as the network; several values of a team have ; between "
        "them; needs --output; repeatable",
    )
    parser.add_argument(
        "--methods",
        type=Path,
        metavar="CSV",
        help="of --group-teams: team and any other columns (default: teams.csv beside the results)",
    )
    parser.add_argument(
        "--influence",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="leave out every case in turn (default: yes)",
    )
    parser.add_argument(
        "--subgroup",
        action="append",
        default=[],
        metavar="COLUMN",
        help="of the case table: tests between subgroups within teams, difficulty by subgroup; repeatable",
    )
    parser.add_argument(
        "--annotators",
        type=Path,
        metavar="CSV",
        help="a table of annotators: name and a column each; 0 and 1 are decisions, else it is a score",
    )
    parser.add_argument(
        "--annotator-scores",
        type=Path,
        metavar="CSV",
        help="metrics of annotators, as fuse writes them to annotators.csv, to be listed beside the teams",
    )
    parser.add_argument(
        "--classifier",
        action="append",
        default=[],
        metavar="TASK.COLUMN[=TITLE]",
        help="a per-case column as a classifier beside the annotators; repeatable",
    )
