"""Results on disk, kept with the digests of their inputs and found again while these hold.

    OUTPUT/<place>/             metrics.json, cases.json and the charts of the phase, or rejected.txt
    OUTPUT/.kept/<place>.json   the record: the digests of the result's inputs and files

A result is withdrawn before another takes its place, `metrics.json` is written last and the record after it.
So a folder holds a whole result or none, and a result without a record is made again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from evaluation.charts.published import file_of as chart_file
from evaluation.io.atomic_file import write_atomically
from evaluation.io.stream import sha256_of, sha256_of_file
from evaluation.phase.config import ChartName
from evaluation.ranking.results_folder import CASES, METRICS, REJECTED
from evaluation.rescoring.environment import Environment
from evaluation.rescoring.task import Answer

FOLDER = ".kept"
_CHARTS = tuple(map(chart_file, get_args(ChartName)))
_FILES = (CASES, REJECTED, *_CHARTS, METRICS)


@dataclass(frozen=True)
class Ingredients:
    """The inputs of a result besides its submission: the seal of the phase, its origin, the code."""

    seal: str
    source: str
    environment: Environment


class Results:
    """The results below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def kept(self, place: str, ingredients: Ingredients) -> str | None:
        """Return the digest of the submission of a whole result with these inputs; None without one."""
        try:
            record = json.loads(self._record(place).read_bytes())
            if record["made_of"] != dataclasses.asdict(ingredients) or record["files"] != self._digests(
                place
            ):
                return None
            return str(record["submission"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def publish(self, place: str, ingredients: Ingredients, answer: Answer) -> None:
        """Replace the result; only a lasting one gets a record. Raises `OSError`."""
        folder = self._folder / place
        self._record(place).unlink(missing_ok=True)
        for name in reversed(_FILES):
            (folder / name).unlink(missing_ok=True)
        files = dict(answer.files) or {REJECTED: f"{answer.line}\n".encode()}
        for name in _FILES:
            if name in files:
                write_atomically(folder / name, files[name])
        if answer.lasting:
            record = {
                "made_of": dataclasses.asdict(ingredients),
                "submission": answer.digest,
                "files": {name: sha256_of(data) for name, data in files.items()},
            }
            write_atomically(self._record(place), _json(record))

    def is_rejection(self, place: str) -> bool:
        """Return whether the present result is a rejection."""
        return (self._folder / place / REJECTED).exists()

    def _record(self, place: str) -> Path:
        return self._folder / FOLDER / f"{place}.json"

    def _digests(self, place: str) -> dict[str, str]:
        digests = {}
        for name in _FILES:
            with contextlib.suppress(FileNotFoundError):
                digests[name] = sha256_of_file(self._folder / place / name)
        return digests


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode("ascii")
