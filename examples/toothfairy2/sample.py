"""Writes a synthetic phase of ToothFairy2 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from volume_sample import Volumes, write_volumes

SPACING_MM = (0.3, 0.3, 0.3)
LABELS = [*range(1, 11), *(ten + tooth for ten in (10, 20, 30, 40) for tooth in range(1, 9))]


def write_sample(folder: Path, scans: int = 4, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; some teeth are moved or lost."""
    random = np.random.Generator(np.random.PCG64(seed))

    def scan() -> tuple[Volumes, Volumes]:
        true, found = (np.zeros((14, 26, 30), np.uint8) for _ in range(2))
        for number, label in enumerate(LABELS):
            z, y, x = number % 2 * 7, number // 2 % 5 * 5, number // 10 * 6
            if random.random() < 0.9:
                true[z : z + 5, y : y + 4, x : x + 5] = label
            if random.random() < 0.9:
                moved = int(random.integers(0, 2))
                found[z + moved : z + 5, y : y + 4, x + moved : x + 5] = label
        return {"structures": true}, {"structures": found}

    phase = Path(__file__).with_name("phase.toml")
    write_volumes(folder, phase, SPACING_MM, [scan() for _ in range(scans)], ".mha")


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
