"""Evaluations that were exported from grand-challenge.org, as a folder of results that is ranked."""

import json
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from evaluation.cli.common import tell
from evaluation.core.fault import PhaseError, printable
from evaluation.io.tables import write_csv
from evaluation.organiser.platform_export import Row, has_rows, read_rows, slug_of
from evaluation.organiser.ranking.results import METRICS, REJECTED, TEAMS, RankingError
from evaluation.organiser.ranking.selection import FILE_NAME as TIMES
from evaluation.phase.phase import load_phase

_OUTPUT = "metrics-json-file"
_SUCCEEDED = "Succeeded"
_HINT = (
    "the platform's export has no values per case, so that intervals, tests and subgroups are left out: "
    "download the predictions of each submission (predictions_file) and score them with `evaluate --each`"
)


def is_evaluations(path: Path) -> bool:
    """Return whether a file holds exported evaluations, and not a table of results."""
    return has_rows(path, "submission", "outputs")


@contextmanager
def results_folders(paths: Mapping[str, Path], phase: Path | None = None) -> Iterator[dict[str, Path]]:
    """Yield paths of results by role, with a temporary folder in place of each file of evaluations.

    Teams are the creators of submissions, which are named by number and key. Of a submission, the newest
    evaluation that succeeded counts. A `teams.csv` beside the file is that of the results. Submissions
    without such an evaluation are told on standard error. ``phase``: needed where the platform showed only
    the metrics of its leaderboard. Raises `RankingError` with every fault of the files.
    """
    with tempfile.TemporaryDirectory() as temporary:
        found = dict(paths)
        for number, (role, path) in enumerate(paths.items()):
            if is_evaluations(path):
                found[role] = Path(temporary) / str(number)
                _write_results(path, role, found[role], phase)
        try:
            yield found
        except RankingError as error:
            texts = error.problems
            for role, path in paths.items():
                texts = tuple(text.replace(str(found[role]), str(path)) for text in texts)
            raise RankingError(*texts) from None
    if found != dict(paths):
        tell([f"Note: {_HINT}"])


def _write_results(path: Path, role: str, folder: Path, phase: Path | None) -> None:
    if path.name == METRICS:
        raise RankingError(
            f"{path}: is the result of one submission (expected FOLDER, with <team>/{METRICS})"
        )
    try:
        rows = read_rows(path, ("submission", "outputs", "status", "created"))
        of_submissions = _by_submission(path, _of_one_phase(path, rows, role))
    except PhaseError as error:
        raise RankingError(*error.problems) from None
    failed: Counter[str] = Counter()
    times = []
    submitted: dict[str, list[list[Row]]] = defaultdict(list)
    for evaluations in sorted(of_submissions, key=_created_of):
        submitted[evaluations[0]["submission"]["creator"]["username"]].append(evaluations)
    for team, submissions in submitted.items():
        for number, evaluations in enumerate(submissions, start=1):
            # With its key: submissions of one name belong together over phases, those of one number do not.
            name = f"{number}-{re.sub(r'[^0-9A-Za-z]', '', str(evaluations[0]['submission']['pk']))[:8]}"
            place = folder / team / name
            place.mkdir(parents=True)
            times.append([team, name, _created_of(evaluations).isoformat()])
            content = _metrics_of(evaluations)
            if content is None:
                failed[team] += 1
                status = printable(str(evaluations[-1]["status"]))
                (place / REJECTED).write_text(f"on the platform: {status}\n", encoding="utf-8")
                continue
            if isinstance(content, dict) and "phase" not in content:
                content = {"phase": _identity_of(path, phase), **content}
            (place / METRICS).write_text(json.dumps(content), encoding="utf-8")
    write_csv(folder / TIMES, ["team", "submission", "submitted_at"], times)
    if (path.parent / TEAMS).is_file():
        shutil.copy(path.parent / TEAMS, folder)
    if failed:
        of = ", ".join(f"{printable(team)} ({count})" for team, count in failed.items())
        total = f"{failed.total()} of {len(of_submissions)} submissions"
        tell([f"Note: {path.name}: {total} have no evaluation that succeeded: {of}"])


def _of_one_phase(path: Path, rows: Sequence[Row], role: str) -> list[Row]:
    """Return the rows of one phase, of the role's where there are several."""

    def phase_of(row: Row) -> str:
        phase = row["submission"].get("phase") if isinstance(row["submission"], dict) else None
        return str(phase.get("slug", "")) if isinstance(phase, dict) else ""

    phases = sorted(set(map(phase_of, rows)))
    if len(phases) > 1 and role not in phases:
        names = ", ".join(phases)
        raise RankingError(
            f"{path.name}: expected evaluations of one phase, found {names}: name it as PHASE=FILE"
        )
    return [row for row in rows if len(phases) == 1 or phase_of(row) == role]


def _by_submission(path: Path, rows: Sequence[Row]) -> list[list[Row]]:
    """Return the evaluations of each submission, the newest last. Raises `PhaseError` with every fault."""
    found: dict[str, list[Row]] = defaultdict(list)
    problems = []
    for number, row in enumerate(rows, start=1):
        place = f"{path.name}, row {number}"
        try:
            submission = row["submission"]
            team, key = submission["creator"]["username"], submission["pk"]
            times = (datetime.fromisoformat(row["created"]), datetime.fromisoformat(submission["created"]))
        except (KeyError, TypeError, ValueError) as error:
            problems.append(
                f"{place}: expected a submission with pk, created and creator.username: {error!r}"
            )
            continue
        if any(time.tzinfo is None for time in times):
            problems.append(f"{place}: created: expected a time with its offset, found {row['created']!r}")
        if not isinstance(team, str) or not team.strip() or team[0] == "." or set(team) & set("/\\\0"):
            problems.append(f"{place}: creator.username: expected a name, found {printable(str(team))!r}")
        found[str(key)].append(row)
    PhaseError.raise_all(problems)
    return [sorted(of, key=lambda row: datetime.fromisoformat(row["created"])) for of in found.values()]


def _created_of(evaluations: Sequence[Row]) -> datetime:
    return datetime.fromisoformat(evaluations[0]["submission"]["created"])


def _metrics_of(evaluations: Sequence[Row]) -> Any:
    """Return the content of the newest `metrics.json`, None if no evaluation succeeded."""
    for row in reversed(evaluations):
        outputs = row["outputs"] if isinstance(row["outputs"], list) else []
        for value in outputs:
            if row["status"] == _SUCCEEDED and isinstance(value, dict) and slug_of(value) == _OUTPUT:
                return value.get("value")
    return None


def _identity_of(path: Path, phase: Path | None) -> dict[str, Any]:
    if phase is None:
        raise RankingError(
            f"{path.name}: expected whole metrics.json, found those of the leaderboard alone: name the "
            "phase with --ground-truth, or download as an administrator of the challenge"
        )
    loaded = load_phase(phase)
    return {
        "challenge": loaded.challenge.name,
        "name": loaded.config.name,
        "manifest": loaded.manifest.digest,
        "options": loaded.options.recorded(),
    }
