"""Writes a synthetic phase of RARE25 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from table_sample import write_tables


def write_sample(folder: Path, cases: int = 60, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; every fifth case is neoplastic."""
    random = np.random.Generator(np.random.PCG64(seed))
    neoplastic = np.arange(cases) % 5 == 0
    likelihood = np.clip(0.3 + 0.3 * neoplastic + random.normal(0, 0.2, cases), 0, 1).round(2)
    classes = ("class", np.where(neoplastic, "neo", "ndbe").tolist())
    write_tables(folder, Path(__file__).parent, classes, ("likelihood", likelihood.tolist()))


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
