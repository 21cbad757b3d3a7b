"""The argument PHASE of commands that need no submission: a folder, or a name below ground-truth/."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.core.fault import PhaseError
from evaluation.phase.manifest import FILE_NAME as MANIFEST
from evaluation.phase.manifest import scan
from evaluation.phase.phase import Phase, load_phase

_PHASES = Path("ground-truth")


def add_phase_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the argument PHASE."""
    parser.add_argument("phase", metavar="PHASE", help=f"a phase folder, or the name of one below {_PHASES}/")


def named_phase(text: str) -> Phase:
    """Return the phase of an argument, sealed (its seal is verified) or not. Raises `PhaseError`."""
    folder = phase_folder(text)
    return load_phase(folder, None if (folder / MANIFEST).exists() else scan(folder))


def phase_folder(text: str) -> Path:
    """Return the folder of an argument. Raises `PhaseError` naming the phases that there are."""
    for folder in (Path(text), _PHASES / text):
        if folder.is_dir():
            return folder
    known = sorted(path.parent.name for path in _PHASES.glob("*/phase.toml"))
    there = f"{_PHASES}/ has {', '.join(known)}" if known else f"there is none below {_PHASES.resolve()}"
    raise PhaseError(f"{text}: is neither a phase folder nor the name of a phase; {there}")
