"""Phases by name: a folder, the name of one below ground-truth/, or the phase of an image."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.core.fault import PhaseError

if TYPE_CHECKING:
    from evaluation.phase.phase import Phase

PHASES = "ground-truth"
BAKED = Path("/opt/evaluation/ground-truth")
UPLOADED = Path("/opt/ml/input/data/ground_truth")
"""Where a phase lies in an image, and where the platform unpacks an uploaded ground truth.

The platform makes the second folder for every evaluation, also where nothing was uploaded.
"""
# A package that is used out of its repository brings the bundled phases along.
_REPOSITORY = Path(__file__).parents[2]


def phase_folder(phase: str | Path) -> Path:
    """Return the folder of a phase: the path itself, or the name of a folder below ground-truth/.

    ground-truth/ is looked for in the working folder, then beside the package. Raises `PhaseError` with the
    names of the known phases.
    """
    places = (Path(PHASES), _REPOSITORY / PHASES)
    for folder in (Path(phase), *(place / phase for place in places)):
        if folder.is_dir():
            return folder
    known = sorted({path.parent.name for place in places for path in place.glob("*/phase.toml")})
    names = f"known are {', '.join(known)}" if known else f"there is none in {places[0].resolve()}"
    raise PhaseError(f"{phase}: expected a phase folder or the name of a phase, found neither ({names})")


def phase_of_image() -> Path:
    """Return the folder of an uploaded phase if it holds anything, else of the phase in this image."""
    return UPLOADED if UPLOADED.is_dir() and any(UPLOADED.iterdir()) else BAKED


def named_phase(phase: str | Path) -> Phase:
    """Return a phase, whether or not it is sealed; an existing seal is verified. Raises `PhaseError`."""
    # Not above: `evaluate` finds its phase before anything heavy is imported.
    from evaluation.phase.manifest import FILE_NAME as MANIFEST
    from evaluation.phase.manifest import scan
    from evaluation.phase.phase import load_phase

    folder = phase_folder(phase)
    return load_phase(folder, None if (folder / MANIFEST).exists() else scan(folder))
