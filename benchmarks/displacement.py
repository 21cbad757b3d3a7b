"""A displacement field of 192³ with the Dice of 30 labels, against SciPy's `map_coordinates` alone.

    python -m benchmarks --only displacement

In memory, one process, through the metrics that a phase declares. Processor time: both run in one thread.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates

from benchmarks.measure import Row, processor_seconds_of
from evaluation.challenges.declared.displacement import DisplacementFieldTable
from evaluation.challenges.declared.label_maps import Dice
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.io.kinds.displacement import Displacement
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.crops import Crop

SHAPE = (192, 192, 192)
LABELS = 30


def rows(runs: int) -> list[Row]:
    """Return the rows of both."""
    random = np.random.default_rng(0)
    blocks = random.integers(0, LABELS + 1, (2, 12, 12, 12)).astype(np.uint8)
    fixed, moving = (np.kron(of, np.ones((16, 16, 16), np.uint8)) for of in blocks)
    smooth = np.stack([gaussian_filter(random.normal(0, 1, SHAPE), 8) for _ in range(3)])
    vectors = (smooth / smooth.std() * 4).astype(np.float32)
    labels = {str(number): f"label {number}" for number in range(1, LABELS + 1)}
    table = DisplacementFieldTable(kind="displacement_field", labels=labels)
    measure = Dice(metric="dice", absent="exclude").measure("dice", "field", table)
    spacing = (1.0, 1.0, 1.0)
    maps = (LabelMapValue(Crop(of, (0, 0, 0)), SHAPE, spacing) for of in (fixed, moving))
    names = ("field_fixed_labels", "field_moving_labels")
    references = {"field": None, **dict(zip(names, maps, strict=True))}

    def ours() -> None:
        measure.row(FieldComparison("field", Displacement(vectors, spacing), references))

    def alone() -> None:
        map_coordinates(moving, np.indices(SHAPE) + vectors[::-1], order=0)

    title = "displacement field, 192³, processor time from arrays"
    seconds, rival = (processor_seconds_of(of, runs) for of in (ours, alone))
    return [
        Row(title, f"warp {LABELS} labels, Dice of each", seconds),
        Row(title, "rival: SciPy, map_coordinates alone", rival, rival / seconds),
    ]
