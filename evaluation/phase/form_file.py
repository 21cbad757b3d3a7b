"""The form of a phase as one file for participants, with the data that a check needs."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError, ReadError, printable
from evaluation.core.form import Form, name_key
from evaluation.core.limits import Limits, limits_of
from evaluation.io.json_files import parse_json
from evaluation.phase.registry import tasks_of_form
from evaluation.phase.validation import InvalidTableError, describe_validation

FORMAT = 1


@dataclass(frozen=True, config=ConfigDict(extra="forbid", strict=True))
class _FormFile:
    """The content of the file: the version of its format, and the form."""

    format: int
    form: Form
    limits: Limits | None = None


_ADAPTER = TypeAdapter(_FormFile)


def write_form(form: Form) -> bytes:
    """Return the file of a form, ASCII JSON; the same form gives the same bytes."""
    content = {
        "format": FORMAT,
        "form": dataclasses.asdict(form),
        # Follow from the form; written for human readers.
        "limits": dataclasses.asdict(limits_of(form.cases, fields_of(tasks_of_form(form)))),
    }
    return (json.dumps(content, indent=1, ensure_ascii=True, allow_nan=False) + "\n").encode("ascii")


def read_form(path: Path) -> Form:
    """Return the form in a file. Raises `PhaseError` listing every fault; unknown keys are errors."""
    name = path.name
    try:
        data = path.read_bytes()
        # Rejects duplicate keys; pydantic would take the last.
        parse_json(data)
        found = _ADAPTER.validate_json(data.removeprefix(b"\xef\xbb\xbf"))
    except OSError as error:
        raise PhaseError(f"{name}: {error.strerror}") from None
    except ReadError as error:
        raise PhaseError(f"{name}: {error}") from None
    except ValidationError as error:
        raise PhaseError(*describe_validation(name, error)) from None
    if found.format != FORMAT:
        raise PhaseError(f"{name}: expected format {FORMAT}, found {found.format}")
    if problems := _problems(found.form):
        raise PhaseError(*(f"{name}: {problem}" for problem in problems))
    return found.form


def _problems(form: Form) -> list[str]:
    """Return the faults of a form that a check of types does not find."""
    problems = [
        f"{key}: expected {' or '.join(known)}, found {printable(found)!r}"
        for key, known, found in (
            ("submission", ("archive", "algorithm"), form.submission),
            ("missing", ("reject", "worst"), form.missing),
        )
        if found not in known
    ]
    try:
        tasks_of_form(form)
    except PhaseError as error:
        problems += error.problems
    except InvalidTableError as error:
        problems += error.problems("options")
    for key, count in Counter(name_key(case.name) for case in form.cases).items():
        if count > 1:
            problems.append(f"duplicate case {printable(key)!r} ({count} entries)")
    problems += [
        f"{printable(case.name)}: expected a size in pixels, found {case.width} × {case.height}"
        for case in form.cases
        if case.width < 0 or case.height < 0
    ]
    if not form.cases:
        problems.append("expected at least one case, found none")
    return problems
