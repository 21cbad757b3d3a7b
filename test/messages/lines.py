"""Messages to participants about a spoilt submission."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from evaluation.core.fault import Faults
from evaluation.core.form import Form
from evaluation.evaluate import check
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from evaluation.platform.messages import participant_line
from test.examples.samples import write_sample
from test.repository import REPOSITORY


@cache
def form_of(phase: str) -> Form:
    """Return the participants' form of a bundled phase or of an example."""
    with tempfile.TemporaryDirectory() as temporary:
        source = REPOSITORY / "ground-truth" / phase
        if not source.exists():
            source = write_sample(Path(temporary) / "sample", phase) / "phase"
        folder = Path(shutil.copytree(source, Path(temporary) / "phase"))
        seal(folder, scan(folder))
        return load_phase(folder).form


def faults_of(phase: str, spoil: Callable[[Path], object], folder: Path) -> Faults:
    """Return the faults of the good submission to a phase, spoilt in an empty folder."""
    good = REPOSITORY / "test" / "input" / phase
    if not good.exists():
        good = write_sample(folder / "sample", phase) / "submission"
    submission = Path(shutil.copytree(good, folder / "submission"))
    spoil(submission)
    return check(form_of(phase), submission, 0).faults


def line_of(phase: str, spoil: Callable[[Path], object], folder: Path) -> str:
    """Return the participants' line for the good submission to a phase, spoilt in an empty folder."""
    faults = faults_of(phase, spoil, folder)
    assert faults, "this is no fault"
    return participant_line(faults)
