"""Results that are ranked: folders, tables, and evaluations that were exported from grand-challenge.org."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas

from evaluation.cli.common import tell
from evaluation.core.fault import PhaseError, printable
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
    METRIC,
    NO_TASK,
    TASK,
    VALUE,
    MetricDefinition,
    read_definitions,
    read_results_table,
    results_in_table,
)
from evaluation.organiser.ranking.results import (
    METRICS,
    TEAMS,
    PhaseResults,
    Result,
    Submission,
    natural_order,
    read_results,
    results_of,
    with_roles,
)
from evaluation.phase.leaderboard import TEAM
from evaluation.phase.phase import load_phase
from evaluation.phase.validation import suggestion

_OUTPUT = "metrics-json-file"
_SUCCEEDED = "Succeeded"
_HINT = (
    "the platform's export has no values per case, so that intervals, tests and subgroups are left out: "
    "download the predictions of each submission (predictions_file) and score them with `evaluate --each`"
)
Paths = Mapping[str, Sequence[Path]]


def read_phase_results(paths: Paths, metrics: Sequence[str], phase: Path | None) -> dict[str, PhaseResults]:
    """Return the results by role of folders, tables, and files of exported evaluations.

    metrics: of tables, as `read_definitions` takes them, or of evaluations of any container by the dotted
    paths of numbers. phase: the phase folder, needed where the platform showed only the metrics of its
    leaderboard. Several files of a role are pages of one list. A single role without a name becomes one for
    each phase of the platform in the files where metrics are named. Teams are the creators of submissions,
    which are named by number and key. Of a submission, the newest evaluation that succeeded counts. A
    `teams.csv` beside the file is that of the results. What is left out is told on standard error. Raises
    `PhaseError` with every fault of a file, and for metrics without any table.
    """
    described = read_definitions(metrics)
    exported = [
        role
        for role, files in paths.items()
        if all(has_rows(file, "submission", "outputs") for file in files)
    ]
    PhaseError.raise_all(
        [
            f"{', '.join(map(str, files))}: expected one folder or table, or pages of exported evaluations"
            for role, files in paths.items()
            if len(files) > 1 and role not in exported
        ]
    )
    if metrics and not any(file.is_file() for files in paths.values() for file in files):
        raise PhaseError("--metric describes a table, and none is given")
    found: dict[str, PhaseResults] = {}
    for role, files in paths.items():
        if role not in exported:
            path = files[0]
            found[role] = read_results_table(path, described) if path.is_file() else read_results(path)
            continue
        for name, rows in _by_phase(files, role, bool(metrics)).items():
            found[name] = _Export(files[0], rows, phase, described).read()
    if exported:
        tell([f"Note: {_HINT}"])
    return found


def notices_of_order(board: Leaderboard, results: Mapping[str, PhaseResults]) -> list[str]:
    """Return how the places of exported evaluations compare with the platform's own ranks, by role."""
    notices = []
    of_role = {phase.role or "": phase for phase in board.phases}
    for role, ranks in ((role, one.platform_ranks) for role, one in results.items()):
        if not any(ranks.values()):
            continue
        phase = of_role[role]
        overall = phase.scheme["overall"] or next(iter(phase.scheme["boards"]))["name"]
        here = {team.team: place for team in phase.teams if (place := team.boards[overall].place)}
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
        raise PhaseError(f"{names}: is the result of one submission (expected FOLDER, with <team>/{METRICS})")
    rows = read_rows(files, ("submission", "outputs", "status", "created"))
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
    raise PhaseError(f"{names}: expected evaluations of one phase, found {known}: name it as PHASE=FILE")


@dataclass(frozen=True)
class _Export:
    """The evaluations of one phase, and the (first) file that they come from."""

    path: Path
    rows: Sequence[ExportedRow]
    phase: Path | None
    metrics: Mapping[str, MetricDefinition]

    def read(self) -> PhaseResults:
        """Return the results, with the platform's best rank of each team."""
        every = self._by_submission()
        taken = {one: [row for row in of if _is_published(row)] for one, of in every.items()}
        hidden = Counter(one.team for one, of in every.items() for row in of if not _is_published(row))
        there = "evaluation is" if hidden.total() == 1 else "evaluations are"
        self._tell(hidden, f"{hidden.total()} {there} not published, and left out, as on the platform")
        ranks: dict[str, int] = {}
        submitted: list[Result] = []
        numbers: Counter[str] = Counter()
        for one in sorted((one for one, of in taken.items() if of), key=lambda one: one.created):
            evaluations, numbers[one.team] = taken[one], numbers[one.team] + 1
            given = [int(row["rank"]) for row in evaluations if str(row.get("rank", "")).isdecimal()]
            ranks[one.team] = min(filter(None, [ranks.get(one.team, 0), *given]), default=0)
            content = _metrics_of(evaluations)
            absence = f"on the platform: {printable(str(evaluations[-1]['status']))}"
            name = one.name(numbers[one.team])
            place = self.path / one.team / name
            submitted.append(Result(one.team, name, place, content, absence if content is None else None))
        if not submitted:
            raise PhaseError(f"{self.path.name}: expected published evaluations, found none")
        submitted.sort(key=lambda one: (natural_order(one.team), natural_order(one.name)))
        results = self._results_of_metrics(submitted) if self.metrics else self._results(submitted)
        failed = Counter(one.team for one in submitted if one.absence)
        of_all = f"{failed.total()} of {len(submitted)} submissions"
        self._tell(failed, f"{of_all} have no evaluation that succeeded")
        return replace(results, platform_ranks=ranks)

    def _results(self, submitted: Sequence[Result]) -> PhaseResults:
        """Return the results from whole `metrics.json` of this package."""
        whole = []
        for one in submitted:
            if isinstance(one.content, dict) and "phase" not in one.content:
                one = replace(one, content={"phase": self._identity, **one.content})
            whole.append(one)
        return results_of(self.path, whole, self.path.parent / TEAMS)

    def _results_of_metrics(self, submitted: Sequence[Result]) -> PhaseResults:
        """Return the results from the numbers of any container at dotted paths.

        Submissions that lack numbers are counted on standard error. Raises `PhaseError` for a path that no
        submission has.
        """
        paths, file = tuple(self.metrics), self.path.name
        rows, found = [], list[Submission]()
        lacking: dict[str, Counter[str]] = {path: Counter() for path in paths}
        for one in submitted:
            values = _values_at(one.content, paths)
            rows += [(f"{one.team}/{one.name}", path, value) for path, value in values.items()]
            if not values:
                absence = one.absence or f"no number at {' or '.join(paths)}"
                found.append(Submission(one.team, one.name, {}, absence=absence))
            if one.absence is None:
                for path in paths:
                    lacking[path][one.team] += path not in values
        with_results = sum(one.absence is None for one in submitted)
        known = sorted({path for one in submitted for path in _number_paths(one.content)})
        PhaseError.raise_all(
            [
                f"{file}: {path}: expected a number in an evaluation that succeeded, found none"
                f"{suggestion(path, known)}; numbers are at {', '.join(known[:_KNOWN_PATHS]) or 'no path'}"
                for path, teams in lacking.items()
                if teams.total() == with_results
            ]
        )
        phase = self.rows[0].values["submission"].get("phase") or {}
        title = str(phase.get("title") or phase.get("slug") or self.path.stem)
        frame = pandas.DataFrame(rows, columns=[TEAM, METRIC, VALUE]).assign(**{TASK: NO_TASK})
        table = results_in_table(self.path, frame, self.metrics, title, [])
        for path, teams in lacking.items():
            of_all = f"{teams.total()} of {with_results} evaluations that succeeded"
            self._tell(teams, f"{of_all} have no number at {path}")
        for submission in table.submissions:
            team, _, name = submission.team.partition("/")
            found.append(replace(submission, team=team, name=name))
        found.sort(key=lambda one: (natural_order(one.team), natural_order(one.name)))
        return with_roles(replace(table, submissions=tuple(found)), self.path.parent / TEAMS)

    def _tell(self, of_teams: Counter[str], what: str) -> None:
        """Tell what is the case how often, with the number of each team, if it ever is."""
        if of_teams.total():
            teams = ", ".join(f"{printable(team)} ({count})" for team, count in of_teams.items() if count)
            tell([f"Note: {self.path.name}: {what}: {teams}"])

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

    @cached_property
    def _identity(self) -> dict[str, Any]:
        if self.phase is None:
            raise PhaseError(
                f"{self.path.name}: expected whole metrics.json of this package. Of those of the leaderboard "
                "alone, name the phase with --ground-truth, or download as an administrator. "
                "Of another container, name numbers with --metric PATH=higher|lower"
            )
        loaded = load_phase(self.phase)
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


_KNOWN_PATHS = 12


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
