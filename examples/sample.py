"""Writes phase and submission of an example without a script of its own: ``sample.py EXAMPLE FOLDER``."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from evaluation.organiser.starter.repository import write_sample

if __name__ == "__main__":
    example, folder = sys.argv[1:]
    phase = Path(folder) / "phase"
    phase.mkdir(parents=True)
    shutil.copy(Path(__file__).parent / example / "phase.toml", phase)
    write_sample(phase, Path(folder) / "submission")
