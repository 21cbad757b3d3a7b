"""The reports of the bundled submissions."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import evaluation
from evaluation.organiser.report.results import SubmissionResults, results_of
from evaluation.phase.phase import load_phase
from test.repository import REPOSITORY

PHASES = tuple(sorted(path.parent.name for path in (REPOSITORY / "ground-truth").glob("*/phase.toml")))

DISTINCT = tuple(name for name in PHASES if name not in ("adam-online", "refuge-offline"))
"""Those whose reports differ: the other two have the charts and sections of adam-onsite and refuge-onsite."""


@dataclass(frozen=True)
class Bundled:
    """A sealed copy of a bundled phase, its submission, and the submission's results."""

    phase: Path
    submission: Path
    results: SubmissionResults


@cache
def bundled(name: str, folder: Path) -> Bundled:
    """Return a bundled phase, sealed in a folder, with its submission scored."""
    phase = folder / name
    shutil.copytree(REPOSITORY / "ground-truth" / name, phase)
    evaluation.seal(phase)
    submission = REPOSITORY / "test" / "input" / name
    scored = evaluation.evaluate(phase, submission, workers=0)
    return Bundled(phase, submission, results_of(load_phase(phase), scored.to_dict(), scored.records))
