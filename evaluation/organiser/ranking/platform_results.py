"""Evaluations that were exported from grand-challenge.org, as a folder or table of results that is ranked."""

import json
import math
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

from evaluation.cli.common import tell
from evaluation.core.fault import PhaseError, printable
from evaluation.io.tables import write_csv
from evaluation.organiser.platform_export import (
    ExportedRow,
    ExportedSubmission,
    Row,
    has_rows,
    read_rows,
    slug_of,
    submission_of,
    time_of,
)
from evaluation.organiser.ranking.leaderboard_file import Leaderboard
from evaluation.organiser.ranking.result_tables import (
    MetricDefinition,
    read_definitions,
    read_results_table,
)
from evaluation.organiser.ranking.results import (
    METRICS,
    REJECTED,
    TEAMS,
    PhaseResults,
    RankingError,
    Submission,
    natural_order,
    read_results,
    read_roles,
)
from evaluation.phase.phase import load_phase
from evaluation.phase.validation import suggestion

_OUTPUT = "metrics-json-file"
_SUCCEEDED = "Succeeded"
_HINT = (
    "the platform's export has no values per case, so that intervals, tests and subgroups are left out: "
    "download the predictions of each submission (predictions_file) and score them with `evaluate --each`"
)
Paths = Mapping[str, Sequence[Path]]


@dataclass(frozen=True)
class ExportChoices:
    """How evaluations are read.

    ``phase``: the phase folder, needed where the platform showed only the metrics of its leaderboard.
    ``metrics``: dotted paths of numbers, for evaluations of any container; none: of this package's.
    """

    phase: Path | None = None
    metrics: Sequence[str] = ()


@dataclass
class ResultsFolders:
    """Paths of results by role, and the platform's own ranks of the teams in exported evaluations by role."""

    paths: dict[str, Path] = field(default_factory=dict)
    ranks: dict[str, Mapping[str, int]] = field(default_factory=dict)


def is_evaluations(path: Path) -> bool:
    """Return whether a file holds exported evaluations, and not a table of results."""
    return has_rows(path, "submission", "outputs")


@contextmanager
def results_folders(paths: Paths, choices: ExportChoices | None = None) -> Iterator[ResultsFolders]:
    """Yield paths of results by role, with a temporary folder in place of the files of evaluations.

    Several files of a role are pages of one list. A single role without a name becomes one for each phase of
    the platform in the files where ``choices`` name metrics. Teams are the creators of submissions, which are
    named by number and key. Of a submission, the newest evaluation that succeeded counts. A `teams.csv`
    beside the file is that of the results. What is left out is told on standard error. Raises `RankingError`
    with every fault of the files.
    """
    choices = choices or ExportChoices()
    exported = {role: files for role, files in paths.items() if all(map(is_evaluations, files))}
    RankingError.raise_all(
        [
            f"{', '.join(map(str, files))}: expected one folder or table, or pages of exported evaluations"
            for role, files in paths.items()
            if len(files) > 1 and role not in exported
        ]
    )
    found = ResultsFolders({role: files[0] for role, files in paths.items() if role not in exported})
    sources: dict[Path, Path] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for role, files in exported.items():
            for name, rows in _by_phase(files, role, bool(choices.metrics)).items():
                folder = Path(temporary) / str(len(sources))
                found.ranks[name] = _Export(files[0], rows, choices).write(folder)
                found.paths[name], sources[folder] = folder, files[0]
        found.paths = {role: found.paths[role] for role in [*paths, *found.paths] if role in found.paths}
        try:
            yield found
        except RankingError as error:
            texts = error.problems
            for folder, path in sources.items():
                texts = tuple(text.replace(str(folder), str(path)) for text in texts)
            raise RankingError(*texts) from None
    if exported:
        tell([f"Note: {_HINT}"])


def notices_of_order(board: Leaderboard, folders: ResultsFolders) -> list[str]:
    """Return how the places of exported evaluations compare with the platform's own ranks."""
    notices = []
    of_role = {phase.role or "": phase for phase in board.phases}
    for role, ranks in folders.ranks.items():
        phase = of_role[role]
        overall = phase.scheme["overall"] or next(iter(phase.scheme["boards"]))["name"]
        here = {team.team: place for team in phase.teams if (place := team.boards[overall].place)}
        if not any(ranks.values()):
            continue
        differing = [
            f"{team} {ranks.get(team) or '–'} there, {here.get(team) or '–'} here"
            for team in dict.fromkeys([*here, *ranks])
            if (ranks.get(team) or None) != here.get(team)
        ]
        told = f"other places than the platform's own: {'; '.join(differing)}"
        told = told if differing else "the places are the platform's own"
        notices.append(f"{role}: {told}" if role else told)
    return notices


def _by_phase(files: Sequence[Path], role: str, each: bool) -> dict[str, list[ExportedRow]]:
    """Return the rows by role: those of the role's phase, or ``each`` phase of several without a role."""
    names = ", ".join(path.name for path in files)
    if METRICS in (path.name for path in files):
        raise RankingError(
            f"{names}: is the result of one submission (expected FOLDER, with <team>/{METRICS})"
        )
    try:
        rows = read_rows(files, ("submission", "outputs", "status", "created"))
    except PhaseError as error:
        raise RankingError(*error.problems) from None
    phases: dict[str, list[ExportedRow]] = defaultdict(list)
    for row in rows:
        submission = row.values["submission"]
        phase = submission.get("phase") if isinstance(submission, dict) else None
        phases[str(phase.get("slug", "")) if isinstance(phase, dict) else ""].append(row)
    if len(phases) == 1:
        return {role: rows}
    if role in phases:
        return {role: phases[role]}
    if each and not role:
        return dict(sorted(phases.items()))
    known = ", ".join(sorted(phases))
    raise RankingError(f"{names}: expected evaluations of one phase, found {known}: name it as PHASE=FILE")


@dataclass(frozen=True)
class _Export:
    """The evaluations of one phase, and the (first) file that they come from."""

    path: Path
    rows: Sequence[ExportedRow]
    choices: ExportChoices

    def write(self, folder: Path) -> dict[str, int]:
        """Write the results of each submission; return the platform's best rank of each team, 0 for none."""
        try:
            every = self._by_submission()
        except PhaseError as error:
            raise RankingError(*error.problems) from None
        hidden = {one: [row for row in of if not _is_published(row)] for one, of in every.items()}
        taken = {one: [row for row in of if _is_published(row)] for one, of in every.items()}
        self._tell_hidden(hidden)
        failed: Counter[str] = Counter()
        ranks: dict[str, int] = {}
        of_any: list[Submitted] = []
        submitted: dict[str, list[ExportedSubmission]] = defaultdict(list)
        for one in sorted((one for one, of in taken.items() if of), key=lambda one: one.created):
            submitted[one.team].append(one)
        for team, submissions in submitted.items():
            for number, one in enumerate(submissions, start=1):
                name, evaluations = one.name(number), taken[one]
                given = [int(row["rank"]) for row in evaluations if str(row.get("rank", "")).isdecimal()]
                ranks[team] = min(filter(None, [ranks.get(team, 0), *given]), default=0)
                content = _metrics_of(evaluations)
                status = printable(str(evaluations[-1]["status"]))
                failed[team] += content is None
                if self.choices.metrics:
                    absence = f"on the platform: {status}" if content is None else None
                    of_any.append(Submitted(team, name, content, absence))
                else:
                    self._write_submission(folder / team / name, content, status)
        if not submitted:
            raise RankingError(f"{self.path.name}: expected published evaluations, found none")
        folder.mkdir(exist_ok=True)
        if self.choices.metrics:
            phase = self.rows[0].values["submission"].get("phase") or {}
            title = str(phase.get("title") or phase.get("slug") or self.path.stem)
            write_table(folder, self.path.name, title, of_any, self.choices.metrics)
        if (self.path.parent / TEAMS).is_file():
            shutil.copy(self.path.parent / TEAMS, folder)
        if total := failed.total():
            of = ", ".join(f"{printable(team)} ({count})" for team, count in failed.items() if count)
            number = sum(map(len, submitted.values()))
            of_all = f"{total} of {number} submissions have no evaluation that succeeded"
            tell([f"Note: {self.path.name}: {of_all}: {of}"])
        return ranks

    def _write_submission(self, place: Path, content: Any, status: str) -> None:
        place.mkdir(parents=True)
        if content is None:
            (place / REJECTED).write_text(f"on the platform: {status}\n", encoding="utf-8")
            return
        if isinstance(content, dict) and "phase" not in content:
            content = {"phase": self._identity(), **content}
        (place / METRICS).write_text(json.dumps(content), encoding="utf-8")

    def _tell_hidden(self, hidden: Mapping[ExportedSubmission, Sequence[Row]]) -> None:
        of = Counter(one.team for one, rows in hidden.items() for _ in rows)
        if of:
            teams = ", ".join(f"{printable(team)} ({count})" for team, count in of.items())
            there = "evaluation is" if of.total() == 1 else "evaluations are"
            told = "not published, and left out, as on the platform"
            tell([f"Note: {self.path.name}: {of.total()} {there} {told}: {teams}"])

    def _by_submission(self) -> dict[ExportedSubmission, list[Row]]:
        """Return the evaluations of each submission, the newest last. Raises `PhaseError`."""
        known: dict[str, ExportedSubmission] = {}
        found: dict[ExportedSubmission, list[tuple[datetime, Row]]] = defaultdict(list)
        problems: list[str] = []
        for exported in self.rows:
            try:
                created = time_of(exported.values, exported.place)
            except PhaseError as error:
                problems += error.problems
            try:
                one = submission_of(exported)
            except PhaseError as error:
                problems += error.problems
            if not problems:
                found[known.setdefault(one.key, one)].append((created, exported.values))
        PhaseError.raise_all(problems)
        return {one: [row for _, row in sorted(of, key=itemgetter(0))] for one, of in found.items()}

    def _identity(self) -> dict[str, Any]:
        if self.choices.phase is None:
            raise RankingError(
                f"{self.path.name}: expected whole metrics.json of this package. Of those of the leaderboard "
                "alone, name the phase with --ground-truth, or download as an administrator. "
                "Of another container, name numbers with --metric PATH=higher|lower"
            )
        loaded = load_phase(self.choices.phase)
        return {
            "challenge": loaded.challenge.name,
            "name": loaded.config.name,
            "manifest": loaded.manifest.digest,
            "options": loaded.options.recorded(),
        }


def _is_published(row: Row) -> bool:
    return str(row.get("published", True)).casefold() != "false"


def _metrics_of(evaluations: Sequence[Row]) -> Any:
    """Return the content of the newest `metrics.json`, None if no evaluation succeeded."""
    for row in reversed(evaluations):
        outputs = row["outputs"] if isinstance(row["outputs"], list) else []
        for value in outputs:
            if row["status"] == _SUCCEEDED and isinstance(value, dict) and slug_of(value) == _OUTPUT:
                return value.get("value")
    return None


# --- The numbers of any container's evaluations at dotted paths, as a table of results ---

_TABLE, _BESIDE = "evaluations.csv", "evaluations.json"
_TASK = "results"
_KNOWN_PATHS = 12


@dataclass(frozen=True)
class Submitted:
    """A submission: the content of its `metrics.json`, or why it has none."""

    team: str
    name: str
    content: Any
    absence: str | None = None


def write_table(
    folder: Path, file: str, title: str, submitted: Sequence[Submitted], paths: Sequence[str]
) -> None:
    """Write the numbers of submissions at dotted paths into a folder, for `read_exported_table`.

    The table is one that `rank` also reads from csv. What it has no cell for lies beside it: submissions
    without any of the numbers, and why. Those that lack some are counted on standard error. Raises
    `RankingError` for a path that no submission has.
    """
    rows, absent = [], []
    lacking: dict[str, Counter[str]] = {path: Counter() for path in paths}
    for one in submitted:
        values = _values_at(one.content, paths)
        rows += [[f"{one.team}/{one.name}", _TASK, path, repr(value)] for path, value in values.items()]
        if not values:
            absent.append((one.team, one.name, one.absence or f"no number at {' or '.join(paths)}"))
        if one.absence is None:
            for path in paths:
                lacking[path][one.team] += path not in values
    with_results = sum(one.absence is None for one in submitted)
    known = sorted({path for one in submitted for path in _number_paths(one.content)})
    RankingError.raise_all(
        [
            f"{file}: {path}: expected a number in an evaluation that succeeded, found none"
            f"{suggestion(path, known)}; numbers are at {', '.join(known[:_KNOWN_PATHS]) or 'no path'}"
            for path, teams in lacking.items()
            if teams.total() == with_results
        ]
    )
    folder.mkdir(exist_ok=True)
    write_csv(folder / _TABLE, ["team", "task", "metric", "value"], rows)
    beside = {"title": title, "absent": absent}
    (folder / _BESIDE).write_text(json.dumps(beside), encoding="utf-8")
    for path, teams in lacking.items():
        if total := teams.total():
            of = ", ".join(f"{printable(team)} ({count})" for team, count in teams.items() if count)
            of_all = f"{total} of {with_results} evaluations that succeeded have no number at {path}"
            tell([f"Note: {file}: {of_all}: {of}"])


def is_exported_table(folder: Path) -> bool:
    """Return whether a folder was written by `write_table`."""
    return (folder / _BESIDE).is_file()


def read_exported_table(folder: Path, metrics: Mapping[str, MetricDefinition]) -> PhaseResults:
    """Return what `write_table` wrote, with the roles of `teams.csv` beside. Raises `RankingError`."""
    beside = json.loads((folder / _BESIDE).read_text(encoding="utf-8"))
    table = read_results_table(folder / _TABLE, metrics, beside["title"])
    found = [Submission(team, name, {}, absence=why) for team, name, why in beside["absent"]]
    for one in table.submissions:
        team, _, name = one.team.partition("/")
        found.append(replace(one, team=team, name=name))
    found.sort(key=lambda one: (natural_order(one.team), natural_order(one.name)))
    problems: list[str] = []
    roles = read_roles(folder / TEAMS, {one.team for one in found}, problems)
    RankingError.raise_all(problems)
    return replace(
        table,
        submissions=tuple(one for one in found if one.team not in roles.unlisted),
        ineligible=roles.ineligible,
        compare_with=roles.compare_with,
    )


def _values_at(content: Any, paths: Sequence[str]) -> dict[str, float]:
    found = {}
    for path in paths:
        value = content
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        # As on the platform, a truth value counts as 0 or 1.
        if isinstance(value, int | float) and math.isfinite(value):
            found[path] = float(value)
    return found


def _number_paths(content: Any, prefix: str = "") -> Iterator[str]:
    for key, value in content.items() if isinstance(content, dict) else ():
        if isinstance(value, dict):
            yield from _number_paths(value, f"{prefix}{key}.")
        elif isinstance(value, int | float):
            yield f"{prefix}{key}"


def read_phase_results(paths: Mapping[str, Path], metrics: list[str]) -> dict[str, PhaseResults]:
    """Return the results by role of folders and tables.

    metrics: of the tables, as `read_definitions` takes them. Raises `RankingError`, also without any table.
    """
    if metrics and not any(path.is_file() or is_exported_table(path) for path in paths.values()):
        raise RankingError("--metric describes a table, and none is given")
    described = read_definitions(metrics)

    def read(path: Path) -> PhaseResults:
        if is_exported_table(path):
            return read_exported_table(path, described)
        return read_results_table(path, described) if path.is_file() else read_results(path)

    return {role: read(path) for role, path in paths.items()}
