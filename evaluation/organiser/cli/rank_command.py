"""`rank`: leaderboards from the results of many teams."""

import argparse
import math
import sys
from functools import partial
from pathlib import Path
from typing import get_args

from evaluation.cli.common import JSON, say, whole_number
from evaluation.core.fault import PhaseError
from evaluation.core.scheme import MethodName
from evaluation.io.tables import DECIMAL
from evaluation.organiser.cli.rank_table import print_leaderboard
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.annotators import is_scores, read_annotator_scores, read_annotators
from evaluation.organiser.ranking.comparisons import Margin
from evaluation.organiser.ranking.differences import TestOfMeans
from evaluation.organiser.ranking.leaderboard import rank_paths, write_ranked
from evaluation.phase.places import PLATFORM_METHODS
from evaluation.platform.result_file import render


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add(
        "results",
        nargs="+",
        metavar="[PHASE=]FOLDER|FILE",
        help="a folder with one sub-folder per team, as evaluate --each writes it, a table of "
        "results (csv), or the evaluations that grand-challenge.org exports (JSON or csv, several files are "
        "pages of one list); for a ranking over several phases one each, for example offline=output/offline "
        "onsite=onsite.csv",
    )
    add("--output", type=Path, metavar="FOLDER", help="where to write (default: only print)")
    JSON.add_to(parser)
    add(
        "--metric",
        action="append",
        default=[],
        metavar="NAME=higher|lower[,KEY=VALUE…]",
        help="a metric of a table, or of exported evaluations of any container the dotted path of a number "
        "in its metrics.json, and its better direction; keys: weight (of its rank), worst (replaces missing "
        "values), best, title, unit; repeatable",
    )
    add(
        "--scheme",
        default="challenge",
        metavar="NAME|FILE",
        help="challenge: its own (default; of a table, the weighted ranks); the same with the method "
        f"{', '.join(get_args(MethodName))}; the platform's {', '.join(PLATFORM_METHODS)}; or a TOML file",
    )
    add(
        "--ground-truth",
        type=Path,
        metavar="FOLDER",
        help="the phase, for the score and columns that the platform's schemes rank (default: the "
        "components of the challenge's ranking), and for a challenge that is programmed "
        "beside it",
    )
    add(
        "--which",
        choices=["best", "last"],
        help="which of a team's submissions counts (default: the challenge's rule)",
    )
    add(
        "--resamples",
        type=whole_number(0),
        metavar="N",
        help="of the bootstrap; 0: none (default: the phase's)",
    )
    add(
        "--test-of-means",
        choices=get_args(TestOfMeans),
        default="means",
        help="the test of a mean over cases: whether the means are equal (Student's paired t), Wilcoxon's "
        "signed-rank test, or the unpaired rank-sum test as in ADAM's paper (default: %(default)s)",
    )
    add(
        "--margin",
        action="append",
        default=[],
        metavar="METRIC=MARGIN:REFERENCE",
        help="test whether each team is not inferior, and equivalent, to a reference: a team, an "
        "annotator with scores, or a number; several are primary metrics, corrected together; repeatable",
    )
    add(
        "--subgroup",
        action="append",
        default=[],
        metavar="COLUMN",
        help="of the case table: metrics in subgroups, and tests between them within teams; repeatable",
    )
    add(
        "--annotators",
        action="append",
        default=[],
        metavar="CSV",
        help="readings of annotators: a table of name and a column each, where 0 and 1 are decisions and "
        "others scores, or a folder with the export of a reader study on grand-challenge.org, "
        "FOLDER[=QUESTION]; or their metrics, as fuse writes them to annotators.csv; one of each",
    )


def run(arguments: argparse.Namespace) -> int:
    """Rank, write and print. Raises `PhaseError` with every reason why the results cannot be ranked."""
    readings, scores = _annotator_tables(arguments.annotators)
    choices = RankOptions(
        which=arguments.which,
        resamples=arguments.resamples,
        means=arguments.test_of_means,
        subgroups=tuple(dict.fromkeys(arguments.subgroup)),
        annotators=partial(read_annotators, readings) if readings else None,
        annotator_scores=partial(read_annotator_scores, scores) if scores else None,
        margins=tuple(map(margin_of, arguments.margin)),
    )
    paths = paths_of(arguments.results)
    every = [path.resolve() for files in paths.values() for path in files]
    if arguments.output and arguments.output.resolve() in every:
        raise PhaseError(f"--output {arguments.output}: expected another folder than the results'")
    ranked = rank_paths(paths, arguments.scheme, choices, arguments.ground_truth, arguments.metric)
    # Written first: the reader of the output may stop before its end.
    written = write_ranked(ranked, arguments.output) if arguments.output else []
    if arguments.json:
        sys.stdout.write(render(ranked.board, organisers=True).decode("utf-8"))
        return 0
    print_leaderboard(ranked.board)
    say(*written)
    return 0


def _annotator_tables(given: list[str]) -> tuple[Path | None, Path | None]:
    """Return the readings and the scores among tables of annotators. Raises `PhaseError`."""
    scores = [Path(text) for text in given if is_scores(Path(text))]
    readings = [Path(text) for text in given if Path(text) not in scores]
    for found, what in ((readings, "readings"), (scores, "metrics")):
        if len(found) > 1:
            raise PhaseError(f"--annotators: expected one table of {what}, found {len(found)}")
    return next(iter(readings), None), next(iter(scores), None)


def margin_of(text: str) -> Margin:
    """Return a metric's margin and reference, which may be a number. Raises `PhaseError`."""
    metric, _, rest = text.partition("=")
    size, _, reference = rest.partition(":")
    try:
        margin = float(size)
    except ValueError:
        margin = -1.0
    if not (metric and reference and 0 <= margin < math.inf):
        raise PhaseError(f"--margin {text}: expected METRIC=MARGIN:REFERENCE with a margin of at least 0")
    value = float(reference) if DECIMAL.fullmatch(reference) else None
    return Margin(metric, margin, reference, value)


def paths_of(given: list[str]) -> dict[str, list[Path]]:
    """Return paths by role, an empty role for a single phase. Raises `PhaseError`."""
    if all(Path(text).exists() or "=" not in text for text in given):
        return {"": [Path(text) for text in given]}
    paths: dict[str, list[Path]] = {}
    for text in given:
        role, equals, path = text.partition("=")
        if not equals or not role or not path:
            raise PhaseError(f"{text}: expected PHASE=FOLDER or PHASE=FILE, as for the others")
        paths.setdefault(role, []).append(Path(path))
    return paths
