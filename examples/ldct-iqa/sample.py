"""Writes a synthetic phase of LDCT-IQA and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from table_sample import write_tables


def write_sample(folder: Path, cases: int = 30, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``."""
    random = np.random.Generator(np.random.PCG64(seed))
    true = random.uniform(0, 4, cases).round(1)
    found = np.clip(true + random.normal(0, 0.7, cases), 0, 4).round(1)
    write_tables(folder, Path(__file__).parent, ("quality", true.tolist()), ("quality", found.tolist()))


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
