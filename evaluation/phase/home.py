"""Challenges that are programmed at home: `challenge.py` beside `phase.toml`, or one folder up.

A file one folder up serves several phases. It defines ``CHALLENGE`` and imports public names of the package
only. Its name is never that of a bundled challenge.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from types import ModuleType

from evaluation.core.challenge import Challenge
from evaluation.core.fault import PhaseError

FILE_NAME = "challenge.py"
_MODULE = "evaluation_challenge_at_home_{}"

_files: dict[str, Path] = {}
_challenges: dict[str, Challenge] = {}


def find_file(folder: Path) -> Path | None:
    """Return the file with the challenge of a phase folder, None where there is none."""
    absolute = folder.absolute()
    for place in (absolute, absolute.parent):
        if (place / FILE_NAME).is_file():
            return place / FILE_NAME
    return None


def load(file: Path) -> Challenge:
    """Run a file once in this process and return its challenge, known by its name from then on.

    Raises `PhaseError` if it cannot be run or defines no challenge, and for a second file that defines
    another challenge of a known name.
    """
    file = file.resolve()
    for name, known in _files.items():
        if known == file:
            return _challenges[name]
    challenge = _run(file)
    if (other := _files.get(challenge.name)) is not None and other.read_bytes() != file.read_bytes():
        raise PhaseError(f"{file}: challenge {challenge.name!r} is also defined, differently, by {other}")
    _files[challenge.name] = file
    _challenges[challenge.name] = challenge
    return challenge


def load_beside(folder: Path) -> None:
    """Load the challenge of a phase folder, if one is programmed beside it. Raises `PhaseError`."""
    if (file := find_file(folder)) is not None:
        load(file)


def file_of(name: str) -> str | None:
    """Return the path of the file that defines a challenge that was loaded, None for any other."""
    return str(_files[name]) if name in _files else None


def loaded(name: str) -> Challenge | None:
    """Return a challenge that was loaded, None for any other."""
    return _challenges.get(name)


def _run(file: Path) -> Challenge:
    module_name = _MODULE.format(len(_files))
    module = ModuleType(module_name)
    module.__file__ = str(file)
    # Dataclasses and pickles look their module up there.
    sys.modules[module_name] = module
    try:
        # Not by an importer, which would write byte code into the phase folder.
        exec(compile(file.read_bytes(), file, "exec"), vars(module))  # noqa: S102
    except Exception as error:
        del sys.modules[module_name]
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f", line {last.lineno}" if Path(last.filename) == file else ""
        raise PhaseError(f"{file}{place}: cannot be run: {type(error).__name__}: {error}") from None
    challenge = getattr(module, "CHALLENGE", None)
    if not isinstance(challenge, Challenge):
        found = "nothing of that name" if challenge is None else f"a {type(challenge).__name__}"
        raise PhaseError(f"{file}: CHALLENGE: expected a Challenge, found {found}")
    return challenge
