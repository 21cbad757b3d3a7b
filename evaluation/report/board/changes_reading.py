"""Reading of `changes.json`, which `evaluate --each --since` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from evaluation.core.fault import PhaseError
from evaluation.report.board.reading import with_absent
from evaluation.rescoring.changes import FILE_NAME, Changes


def read_changes(location: Path) -> tuple[Changes, ...]:
    """Return the changes of all phases from a file or a folder of results.

    Raises `PhaseError` where it is missing or not of this package.
    """
    path = location / FILE_NAME if location.is_dir() else location
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise PhaseError(
            f"{path}: is missing; `evaluate --each FOLDER --since RESULTS` writes it beside its results"
        ) from None
    except (OSError, ValueError) as error:
        raise PhaseError(f"{path}: cannot be read: {error}") from None
    kind: Any = tuple[Changes, ...]
    try:
        changes: tuple[Changes, ...] = TypeAdapter(kind).validate_python(with_absent(content["phases"], kind))
    except (ValidationError, TypeError, AttributeError, KeyError) as error:
        raise PhaseError(f"{path}: is not a file of this package ({error})") from None
    return changes
