"""The connected components of a mask, numbered, whatever they are: lesions, objects, parts of a structure."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Bools

Neighbours = Literal["all", "edges", "faces"]


def neighbourhood(axes: int, neighbours: Neighbours) -> Bools:
    """Return the 3 × 3 (× 3) pixels around one that count as its neighbours, with itself."""
    from scipy import ndimage  # 0.3 s that only few challenges need

    steps = {"faces": 1, "edges": 2, "all": axes}[neighbours]
    around: Bools = ndimage.generate_binary_structure(axes, steps)
    return around


def components_of(mask: Bools, neighbours: Neighbours = "all") -> tuple[NDArray[np.int32], int]:
    """Return each pixel's connected component, counted from 1, 0 for none, and the number of components.

    mask: shape (z, y, x) or (y, x). neighbours: see `lesion_f1`.
    """
    from scipy import ndimage

    labelled, count = ndimage.label(mask, structure=neighbourhood(mask.ndim, neighbours))
    return labelled, int(count)
