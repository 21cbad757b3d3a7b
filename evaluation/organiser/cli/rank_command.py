"""`rank`: leaderboards from the results of many teams."""

import argparse
import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_args

from evaluation.cli.common import add_json, say, share, whole_number
from evaluation.core.differences import TestOfMeans
from evaluation.core.scheme import Method, MethodName, Scheme, Ties
from evaluation.io.tables import DECIMAL
from evaluation.organiser.cli.rank_table import print_leaderboard
from evaluation.organiser.ranking import leaderboard_writing
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.annotator_scores import read_annotator_scores
from evaluation.organiser.ranking.annotators import read_annotators
from evaluation.organiser.ranking.comparisons import Margin
from evaluation.organiser.ranking.leaderboard import Selection, leaderboard_of, rank_all
from evaluation.organiser.ranking.leaderboard_file import PhaseLeaderboard
from evaluation.organiser.ranking.platform_results import (
    ExportChoices,
    ResultsFolders,
    notices_of_order,
    results_folders,
)
from evaluation.organiser.ranking.platform_table import read_phase_results
from evaluation.organiser.ranking.result_tables import read_definition
from evaluation.organiser.ranking.results import TEAMS, PhaseResults, RankingError
from evaluation.organiser.ranking.scheme_file import scheme_named
from evaluation.organiser.ranking.selection import SubmissionLimits, read_time, read_times, within_limits
from evaluation.phase import registry
from evaluation.phase.places import PLATFORM_METHODS
from evaluation.platform.result_file import render
from evaluation.stats.figure import IntervalChoice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    _add_results(parser)
    _add_scheme(parser)
    _add_submissions(parser)
    _add_tests(parser)
    _add_comparisons(parser)
    _add_methods(parser)
    _add_cases(parser)
    _add_annotators(parser)


def _add_results(parser: argparse.ArgumentParser) -> None:
    """Declare the results that are ranked, and where the ranking goes."""
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
    add_json(parser)
    add(
        "--metric",
        action="append",
        default=[],
        metavar="NAME=higher|lower[,KEY=VALUE…]",
        help="a metric of a table, or of exported evaluations of any container the dotted path of a number "
        "in its metrics.json, and its better direction; keys: weight (of its rank), worst (replaces missing "
        "values), title, unit; repeatable",
    )
    add(
        "--definition",
        type=Path,
        metavar="TOML",
        help="of a table: its [metrics.NAME], title, seed, resamples",
    )


def _add_scheme(parser: argparse.ArgumentParser) -> None:
    """Declare the scheme that makes ranks of figures."""
    add = parser.add_argument
    add(
        "--scheme",
        default="challenge",
        metavar="NAME|FILE",
        help="challenge: its own (default; of a table, the weighted ranks); the same with the method "
        f"{', '.join(get_args(MethodName))}; the platform's {', '.join(PLATFORM_METHODS)}; or a TOML file",
    )
    add(
        "--ties",
        choices=get_args(Ties),
        help="the rank that equal teams share (default: the scheme's, else min)",
    )
    add(
        "--quantile",
        type=float,
        metavar="Q",
        help="of quantile-then-rank, from the worse end (default: 0.05)",
    )
    add("--alpha", type=float, metavar="P", help="of test-then-rank (default: 0.05)")
    add(
        "--adjust", choices=["holm", "none"], help="of test-then-rank for its number of tests (default: holm)"
    )
    add(
        "--ground-truth",
        type=Path,
        metavar="FOLDER",
        help="the phase, for the score and columns that the platform's schemes rank (default: the "
        "components of the challenge's ranking), and for a challenge that is programmed "
        "beside it",
    )


def _add_submissions(parser: argparse.ArgumentParser) -> None:
    """Declare the submissions and teams that count."""
    add = parser.add_argument
    add(
        "--unpublished",
        action="store_true",
        help="of exported evaluations: also those that are not published, which the platform does not rank",
    )
    add(
        "--which",
        choices=["best", "last"],
        help="which of a team's submissions counts (default: the challenge's rule)",
    )
    add(
        "--evaluations",
        action="append",
        default=[],
        metavar="[PHASE=]N",
        help="only the first N evaluated submissions of each team count; rejected ones are not counted",
    )
    add(
        "--deadline",
        action="append",
        default=[],
        metavar="[PHASE=]TIME",
        help="submissions after it are left out, such as 2018-09-16T12:00:00+02:00; needs "
        "submissions.csv beside the results, with the columns team, submission, submitted_at",
    )
    add(
        "--finalists",
        metavar="PHASE=N",
        help="only the first N teams of this phase are ranked in the others and in the final ranking",
    )


def _add_tests(parser: argparse.ArgumentParser) -> None:
    """Declare the bootstrap, and the tests of all pairs of teams."""
    add = parser.add_argument
    add(
        "--resamples",
        type=whole_number(0),
        metavar="N",
        help="of the bootstrap; 0: none (default: the phase's)",
    )
    add(
        "--interval-minimum",
        type=whole_number(2),
        metavar="N",
        help="fewest cases of a class or structure for resampling (default: the phase's)",
    )
    add(
        "--tests",
        action=argparse.BooleanOptionalAction,
        help="test all pairs of teams (default: up to a hundred teams)",
    )
    add(
        "--test-of-means",
        choices=get_args(TestOfMeans),
        default="means",
        help="the test of a mean over cases: whether the means are equal (Student's paired t), Wilcoxon's "
        "signed-rank test, or the unpaired rank-sum test as in ADAM's paper (default: %(default)s)",
    )
    add(
        "--interval",
        choices=get_args(IntervalChoice),
        help="which of the two 95%% intervals decides tests and tiers: the field's, or the one that allows "
        "for one unseen failure (default: the phase's)",
    )


def _add_comparisons(parser: argparse.ArgumentParser) -> None:
    """Declare comparisons that the organiser names."""
    add = parser.add_argument
    add(
        "--compare",
        action="append",
        default=[],
        metavar="TEAM=TEAM[,TEAM…]",
        help="test a team without a place against others, * for all ranked ones; beside the column"
        " compare_with of teams.csv; repeatable",
    )
    add(
        "--margin",
        action="append",
        default=[],
        metavar="METRIC=MARGIN:REFERENCE",
        help="test whether each team is not inferior, and equivalent, to a reference: a team, an "
        "annotator of --annotator-scores, or a number; several are primary metrics, corrected"
        " together; repeatable",
    )
    add(
        "--margin-order",
        choices=["holm", "fixed"],
        default="holm",
        help="of several --margin: Holm's correction, or tests in the order given until one fails "
        "(default: %(default)s)",
    )


def _add_methods(parser: argparse.ArgumentParser) -> None:
    """Declare results by the methods of the teams."""
    add = parser.add_argument
    add(
        "--group-teams",
        action="append",
        default=[],
        metavar="COLUMN",
        help="results by a column of --methods, such as the network; several values of a team have"
        " ; between them; needs --output; repeatable",
    )
    add(
        "--methods",
        type=Path,
        metavar="CSV",
        help="of --group-teams: team and any other columns (default: teams.csv beside the results)",
    )


def _add_cases(parser: argparse.ArgumentParser) -> None:
    """Declare analyses of cases."""
    add = parser.add_argument
    add(
        "--influence",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="leave out every case in turn (default: yes)",
    )
    add(
        "--subgroup",
        action="append",
        default=[],
        metavar="COLUMN",
        help="of the case table: tests between subgroups within teams, difficulty by subgroup; repeatable",
    )
    add(
        "--covariate",
        action="append",
        default=[],
        metavar="COLUMN",
        help="of the case table, numbers: Spearman's correlation with the values per case; repeatable",
    )
    add(
        "--prevalence",
        type=share,
        metavar="SHARE",
        help="of positive cases: predictive values at the teams' operating points",
    )


def _add_annotators(parser: argparse.ArgumentParser) -> None:
    """Declare annotators beside the teams."""
    add = parser.add_argument
    add(
        "--annotators",
        type=Path,
        metavar="CSV",
        help="a table of annotators: name and a column each; 0 and 1 are decisions, else it is a score; or a "
        "folder with the export of a reader study on grand-challenge.org, FOLDER[=QUESTION]",
    )
    add(
        "--annotator-scores",
        type=Path,
        metavar="CSV",
        help="metrics of annotators, as fuse writes them to annotators.csv, to be listed beside the teams",
    )
    add(
        "--classifier",
        action="append",
        default=[],
        metavar="TASK.COLUMN[=TITLE]",
        help="a per-case column as a classifier beside the annotators; repeatable",
    )


def run(arguments: argparse.Namespace) -> int:
    """Rank, write and print. Raises `RankingError` with every reason why the results cannot be ranked."""
    choices = RankOptions(
        which=arguments.which,
        resamples=arguments.resamples,
        interval_minimum=arguments.interval_minimum,
        tests=arguments.tests,
        means=arguments.test_of_means,
        interval=arguments.interval,
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
    paths = paths_of(arguments.results)
    every = [path.resolve() for files in paths.values() for path in files]
    if arguments.output and arguments.output.resolve() in every:
        raise RankingError(f"--output {arguments.output}: expected another folder than the results'")
    metrics = tuple(read_definition(arguments.definition, arguments.metric).metrics)
    exports = ExportChoices(arguments.ground_truth, metrics, arguments.unpublished)
    with results_folders(paths, exports) as folders:
        return _rank(arguments, choices, folders)


def _rank(arguments: argparse.Namespace, choices: RankOptions, folders: ResultsFolders) -> int:
    paths = folders.paths
    selection = selection_of(arguments.finalists)
    tables = methods_tables(arguments, paths) if arguments.group_teams else {}
    results, left_out = limited(arguments, read_all(arguments, paths), paths)
    teams = {role: {one.team for one in of_phase.submissions} for role, of_phase in results.items()}
    unknown = [team for team in choices.compare_with if not any(team in known for known in teams.values())]
    RankingError.raise_all([f"--compare {team}: is no team of these results" for team in unknown])
    schemes = {role: chosen_scheme(arguments, phase_results) for role, phase_results in results.items()}
    of_phases = {}
    for role, known in teams.items():
        compared = {team: others for team, others in choices.compare_with.items() if team in known}
        of_phases[role] = replace(choices, compare_with=compared)
    ranked = rank_all(results, schemes, of_phases, selection)
    board = leaderboard_of(ranked, schemes)
    board = replace(board, notices=(*left_out, *board.notices, *notices_of_order(board, folders)))
    grouped = {role: _grouped(ranked[role].board, path, arguments) for role, path in tables.items()}
    written: list[Path] = []
    if arguments.output:
        # Written first: the reader of the output may stop before its end.
        written = leaderboard_writing.write_leaderboard(board, arguments.output)
        for role, phase in ranked.items():
            suffix = f"-{role}" if role else ""
            written += leaderboard_writing.write_differences(phase, arguments.output, suffix)
            written += leaderboard_writing.write_organiser_part(phase.organiser, arguments.output, suffix)
            if role in grouped:
                written += leaderboard_writing.write_methods(*grouped[role], arguments.output, suffix)
    if arguments.json:
        sys.stdout.write(render(board, organisers=True).decode("utf-8"))
        return 0
    print_leaderboard(board)
    say(*written)
    return 0


def _grouped(
    phase: PhaseLeaderboard, path: Path, arguments: argparse.Namespace
) -> tuple[Sequence[leaderboard_writing.MethodGroup], Sequence[Mapping[str, Any]]]:
    methods = leaderboard_writing.read_methods(path)
    columns = tuple(dict.fromkeys(arguments.group_teams))
    return leaderboard_writing.method_groups(phase, methods, columns), leaderboard_writing.methods_rows(
        phase, methods
    )


def _compared(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a team and its opponents. Raises `RankingError`."""
    team, equals, others = text.partition("=")
    names = tuple(name for part in others.split(",") if (name := part.strip()))
    if not (team and equals and names):
        raise RankingError(f"--compare {text}: expected TEAM=TEAM[,TEAM…]")
    return team, names


def margin_of(text: str) -> Margin:
    """Return a metric's margin and reference, which may be a number. Raises `RankingError`."""
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


# --- The results that are ranked, by which scheme, and which submissions and teams are let in ---


def read_all(arguments: argparse.Namespace, paths: Mapping[str, Path]) -> dict[str, PhaseResults]:
    """Return the results by role, an empty role for a single phase. Raises `RankingError`."""
    if arguments.ground_truth is not None and not any(path.is_file() for path in paths.values()):
        registry.load_beside(arguments.ground_truth)
    return read_phase_results(paths, arguments.definition, arguments.metric)


def methods_tables(arguments: argparse.Namespace, paths: Mapping[str, Path]) -> dict[str, Path]:
    """Return the table of methods by role. Raises `RankingError`."""
    if arguments.output is None:
        raise RankingError("--group-teams writes tables: expected --output FOLDER, found none")
    tables = {role: arguments.methods or path / TEAMS for role, path in paths.items()}
    if arguments.methods is None and any(path.is_file() for path in paths.values()):
        raise RankingError("--group-teams: a table of results needs --methods CSV")
    return tables


def chosen_scheme(arguments: argparse.Namespace, results: PhaseResults) -> Scheme:
    """Return the scheme that the options choose. Raises `RankingError`."""
    scheme = scheme_named(arguments.scheme, results, arguments.ground_truth)
    given = {
        key: value
        for key in ("quantile", "alpha", "adjust")
        if (value := getattr(arguments, key)) is not None
    }
    try:
        method: Method = replace(scheme.method, **given)
    except ValueError as error:
        raise RankingError(f"--{error}") from None
    return replace(scheme, method=method, ties=arguments.ties or scheme.ties)


def paths_of(given: list[str]) -> dict[str, list[Path]]:
    """Return paths by role, an empty role for a single phase. Raises `RankingError`."""
    if all(Path(text).exists() or "=" not in text for text in given):
        return {"": [Path(text) for text in given]}
    paths: dict[str, list[Path]] = {}
    for text in given:
        role, equals, path = text.partition("=")
        if not equals or not role or not path:
            raise RankingError(f"{text}: expected PHASE=FOLDER or PHASE=FILE, as for the others")
        paths.setdefault(role, []).append(Path(path))
    return paths


Value = TypeVar("Value")


def limited(
    arguments: argparse.Namespace, results: Mapping[str, PhaseResults], paths: Mapping[str, Path]
) -> tuple[dict[str, PhaseResults], list[str]]:
    """Return the results of the submissions that count by phase, and notices on the others.

    ``paths``: of the results. Raises `RankingError`.
    """
    numbers = _by_phase("evaluations", arguments.evaluations, results, _count)
    times = _by_phase("deadline", arguments.deadline, results, read_time)
    found: dict[str, PhaseResults] = {}
    notices = []
    for role, of_phase in results.items():
        submitted = read_times(paths[role], of_phase)
        limits = SubmissionLimits(numbers.get(role), times.get(role))
        found[role], left_out = within_limits(of_phase, submitted, limits)
        notices += [f"{role}: {notice}" if role else notice for notice in left_out]
    return found, notices


def selection_of(text: str | None) -> Selection | None:
    """Return the teams of one phase that are ranked in the others. Raises `RankingError`."""
    if text is None:
        return None
    role, equals, number = text.partition("=")
    try:
        if role and equals:
            return Selection(role, _count(number))
    except ValueError:
        pass
    raise RankingError(f"--finalists {text}: expected PHASE=N, such as offline=12")


def _by_phase(
    option: str, given: Sequence[str], roles: Collection[str], read: Callable[[str], Value]
) -> dict[str, Value]:
    """Return the values of an option by phase; a value without a phase is for all."""
    found: dict[str, Value] = {}
    for text in given:
        role, equals, value = text.partition("=")
        try:
            wanted = read(value if equals else text)
        except ValueError:
            raise RankingError(f"--{option} {text}: cannot be read") from None
        if equals and role not in roles:
            raise RankingError(f"--{option} {text}: {role} is none of the phases")
        found |= dict.fromkeys((role,) if equals else roles, wanted)
    return found


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number
