"""Views of participant, public and organiser on one run of the container on the platform."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from evaluation.platform.facts import LOG_LINES, MESSAGE_LENGTH

_KILLED = 137


@dataclass(frozen=True)
class ContainerRun:
    """How a run ended: exit status, the lines that the platform logged of both streams, and metrics.json.

    A message of the platform itself, for example about the time limit, is the last line of stderr.
    """

    status: int
    stdout: tuple[str, ...]
    stderr: tuple[str, ...]
    metrics: bytes | None


def recorded_run(folder: Path) -> ContainerRun:
    """Return a run that `scripts/platform.sh` has recorded in a folder. Raises `OSError`, `ValueError`."""
    stdout, stderr = (
        tuple((folder / name).read_text(encoding="utf-8").splitlines()) for name in ("stdout", "stderr")
    )
    metrics = folder / "output" / "metrics.json"
    status = int((folder / "status").read_text(encoding="ascii"))
    return ContainerRun(status, stdout, stderr, metrics.read_bytes() if metrics.exists() else None)


def views_of(run: ContainerRun, settings: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the lines that participant, public and organiser see of a run under a phase's settings."""
    errors, log = run.stderr[-LOG_LINES:], run.stdout[-LOG_LINES:]
    metrics = _metrics(run, errors)
    if isinstance(metrics, str):
        participant = ["The evaluation failed; it does not use up an attempt.", f"Message: {metrics}"]
        public = ["Nothing on the leaderboard.", f"On the evaluation's own page, the message: {metrics}"]
    else:
        row = _leaderboard_row(metrics, settings)
        shown = "metrics.json is not shown."
        if settings["display_all_metrics"]:
            sections = ", ".join(f"{key} ({_count(value)})" for key, value in metrics.items())
            shown = f"metrics.json as a whole; values by section: {sections}."
        participant = ["The evaluation succeeded; it uses up an attempt.", *row, shown]
        public = [*row, shown]
    organiser = [
        "The same, and:",
        f"exit status {run.status}",
        f"stdout ({len(log)} lines):",
        *(f"  {line}" for line in log),
        f"stderr ({len(errors)} lines):",
        *(f"  {line}" for line in errors),
    ]
    return {"participant": participant, "public": public, "organiser": organiser}


def _metrics(run: ContainerRun, errors: Sequence[str]) -> Mapping[str, Any] | str:
    """Return the content of metrics.json; the message that is shown if the evaluation counts as failed."""
    if run.status == _KILLED:
        return "The container was killed as it exceeded the memory limit"
    if run.status != 0:
        last = next((line.strip() for line in reversed(errors) if line.strip()), "")
        return last[:MESSAGE_LENGTH] or "No errors were reported in the logs."
    try:
        content = json.loads(run.metrics or b"")
    except (ValueError, RecursionError):
        return "metrics.json is missing or no JSON"
    return content if isinstance(content, dict) else "metrics.json holds no object"


def looked_up(metrics: Mapping[str, Any], path: str) -> Any:
    """Return the value at a dotted path, as the platform looks it up; None where there is none."""
    try:
        return reduce(lambda value, key: value[key], path.split("."), metrics)
    except (KeyError, TypeError):
        return None


def _leaderboard_row(metrics: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    columns = [
        (settings["score_title"], settings["score_jsonpath"], settings["score_error_jsonpath"]),
        *((c["title"], c["path"], c.get("error_path", "")) for c in settings["extra_results_columns"]),
    ]
    dropped = [title for title, path, _ in columns if not _is_number(looked_up(metrics, path))]
    if dropped:
        return [f"Not on the leaderboard, without a message: no number for {', '.join(dropped)}."]
    digits = settings["score_decimal_places"]
    lines = ["On the leaderboard:"]
    for title, path, error_path in columns:
        error = looked_up(metrics, error_path)
        lines.append(
            f"  {title}: {looked_up(metrics, path):.{digits}f}"
            + (f" ± {error:.{digits}f}" if _is_number(error) else "")
        )
    return lines


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: Any) -> int:
    return sum(map(_count, value.values())) if isinstance(value, Mapping) else 1
