"""Connected components of volumes, and the structure of a region: holes, centre line, boundary.

Masks of a region have the shape (z, y, x) or (y, x); beyond them is background.
"""

from itertools import chain, combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Bools

Neighbours = Literal["all", "edges", "faces"]
ThinningAxes = Literal["zyx", "xyz"]


def components_of(mask: Bools, neighbours: Neighbours = "all") -> tuple[NDArray[np.int32], int]:
    """Return each pixel's connected component, counted from 1, 0 for none, and the number of components.

    mask: shape (z, y, x) or (y, x). neighbours: see `lesion_f1`.
    """
    from scipy import ndimage  # 0.3 s that only few challenges need

    steps = {"faces": 1, "edges": 2, "all": mask.ndim}[neighbours]
    labelled, count = ndimage.label(mask, structure=ndimage.generate_binary_structure(mask.ndim, steps))
    return labelled, int(count)


def betti_numbers(mask: Bools) -> tuple[int, int]:
    """Return how many components and how many tunnels a region has, in two dimensions holes.

    Voxels that share a corner are connected. Source: Kong and Rosenfeld 1989, CVGIP 48:357; the second number
    follows from the Euler characteristic of the union of the closed voxels.
    """
    from scipy import ndimage  # takes a while to import

    padded = np.pad(mask, 1)
    _, components = ndimage.label(padded, np.ones((3,) * mask.ndim, dtype=np.bool_))
    _, outside = ndimage.label(~padded)
    tunnels = components - _euler_characteristic(padded)
    # In two dimensions what is enclosed is a hole itself.
    return components, int(tunnels + (outside - 1 if mask.ndim == 3 else 0))


def _euler_characteristic(padded: Bools) -> int:
    """Return the number of cells of even minus those of odd dimension: corners, edges, faces, voxels."""
    axes = range(padded.ndim)
    total = 0
    for thin in chain.from_iterable(combinations(axes, count) for count in range(padded.ndim + 1)):
        cells = padded
        for axis in thin:
            size = cells.shape[axis]
            cells = cells.take(range(1, size), axis) | cells.take(range(size - 1), axis)
        total += (-1) ** (padded.ndim - len(thin)) * int(np.count_nonzero(cells))
    return total


def centreline_dice(prediction: Bools, reference: Bools, axes: ThinningAxes = "zyx") -> float:
    """Return the centreline Dice (clDice) of two regions of one shape, in [0, 1].

    The harmonic mean of the shares of each region's skeleton that the other region holds; 0 where both are 0,
    1 if both regions are empty. Some regions have an empty skeleton in three dimensions, such as a cube of
    eight voxels: nothing of it is in the other region, unless that has no skeleton either. Then both regions
    stand for their skeletons. Thinning takes one direction after the other, so that a skeleton depends on
    their order: ``axes``, of regions that are (z, y, x). Raises ModuleNotFoundError without scikit-image.
    Source: Shit et al. 2021, CVPR, p. 16560; skeletons of scikit-image, in three dimensions Lee's of 1994.
    """
    from skimage.morphology import skeletonize

    if not prediction.any() or not reference.any():
        return float(prediction.any() == reference.any())

    def skeleton_of(region: Bools) -> Bools:
        ordered = region if axes == "zyx" else region.T
        thinned = np.asarray(skeletonize(ordered)) > 0  # type: ignore[no-untyped-call]
        return thinned if axes == "zyx" else thinned.T

    found, true = skeleton_of(prediction), skeleton_of(reference)
    if not true.any():
        found, true = found if found.any() else prediction, reference
    sizes = [int(np.count_nonzero(one)) for one in (found & reference, found, true & prediction, true)]
    precision, sensitivity = sizes[0] / max(1, sizes[1]), sizes[2] / sizes[3]
    return 2 * precision * sensitivity / (precision + sensitivity) if precision + sensitivity else 0.0
