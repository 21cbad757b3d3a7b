"""`rank`: leaderboards from the results of many teams."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from evaluation.cli.whole_number import whole_number
from evaluation.core.scheme import Scheme
from evaluation.ranking.results import PhaseResults, RankingError
from evaluation.ranking.results_folder import read_results
from evaluation.ranking.schemes import PLATFORM_METHODS, platform_scheme, scheme_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "results",
        nargs="+",
        metavar="[PHASE=]FOLDER",
        help="a folder with one sub-folder a team, as evaluate --each writes it; for a ranking over several "
        "phases one each, for example offline=output/offline onsite=output/onsite",
    )
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where to write (default: only print)")
    parser.add_argument(
        "--scheme",
        default="challenge",
        metavar="NAME|FILE",
        help=f"the challenge's own (default), the platform's {', '.join(PLATFORM_METHODS)}, or a TOML file",
    )
    parser.add_argument(
        "--ground-truth",
        type=Path,
        metavar="FOLDER",
        help="the phase, for the score and columns that the platform's schemes rank "
        "(default: the components of the challenge's ranking)",
    )
    parser.add_argument(
        "--which",
        choices=["best", "last"],
        default="best",
        help="which of a team's submissions counts (default: %(default)s)",
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
        "--classifier",
        action="append",
        default=[],
        metavar="TASK.COLUMN[=TITLE]",
        help="a per-case column as a classifier beside the annotators; repeatable",
    )


def run(arguments: argparse.Namespace) -> int:
    """Rank, print and write. Raises `RankingError` with every reason why the results cannot be ranked."""
    from evaluation.cli.rank_table import print_leaderboard
    from evaluation.ranking.analysis import RankOptions
    from evaluation.ranking.annotators import read_annotators
    from evaluation.ranking.final import rank_phases
    from evaluation.ranking.leaderboard import rank_phase
    from evaluation.ranking.leaderboard_file import (
        FORMAT,
        Leaderboard,
        write_leaderboard,
        write_organiser_part,
    )

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
    )
    folders = _folders(arguments.results)
    results = {role: read_results(folder) for role, folder in folders.items()}
    schemes = {
        role: _scheme(arguments.scheme, arguments.ground_truth, phase_results)
        for role, phase_results in results.items()
    }
    ranked = {
        role: rank_phase(phase_results, schemes[role], choices, role or None)
        for role, phase_results in results.items()
    }
    if len(ranked) == 1:
        (phase,) = ranked.values()
        (scheme,) = schemes.values()
        notices = list(phase.notices)
        if scheme.phases:
            notices.append(
                f"the final ranking combines the phases {', '.join(scheme.phases)}; this is one of them"
            )
        board = Leaderboard(FORMAT, (phase.board,), None, tuple(notices))
    else:
        board = rank_phases(ranked, next(iter(schemes.values())))
    print_leaderboard(board)
    if arguments.output:
        paths = write_leaderboard(board, arguments.output)
        for role, phase in ranked.items():
            suffix = f"-{role}" if role else ""
            paths += write_organiser_part(phase.organiser, arguments.output, suffix)
        sys.stdout.write("".join(f"{path}\n" for path in paths))
    return 0


def _folders(given: list[str]) -> dict[str, Path]:
    """Return folders by role, an empty role for a single one. Raises `RankingError`."""
    if len(given) == 1 and (Path(given[0]).is_dir() or "=" not in given[0]):
        return {"": Path(given[0])}
    folders: dict[str, Path] = {}
    for text in given:
        role, equals, folder = text.partition("=")
        if not equals or not role or not folder or role in folders:
            raise RankingError(f"{text}: expected PHASE=FOLDER, every phase once")
        folders[role] = Path(folder)
    return folders


def _titles(given: list[str]) -> dict[str, str]:
    """Return columns by title."""
    found = {}
    for text in given:
        column, _, title = text.partition("=")
        found[title or column] = column
    return found


def _scheme(name: str, phase_folder: Path | None, results: PhaseResults) -> Scheme:
    from evaluation.phase.config import PhaseConfig, read_config
    from evaluation.phase.leaderboard_metrics import platform_metrics
    from evaluation.ranking.scheme_file import read_scheme

    if name == "challenge":
        return scheme_of(results.challenge, results.options)
    if name not in PLATFORM_METHODS:
        return read_scheme(Path(name))
    if phase_folder is not None:
        config = read_config(phase_folder)
        if config.name != results.phase:
            raise RankingError(f"{phase_folder}: is {config.name}, the results are of {results.phase}")
    else:
        config = PhaseConfig(
            challenge=results.challenge.name, name=results.phase, title="", submission="archive"
        )
    return platform_scheme(name, platform_metrics(config, results.challenge, results.tasks))
