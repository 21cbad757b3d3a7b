"""The structure of a region: components, tunnels and holes, its centre line, and its boundary.

Masks have the shape (z, y, x) or (y, x); beyond them is background.
"""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np

from evaluation.metrics.arrays import Bools
from evaluation.metrics.segmentation import count_overlap, jaccard_of_counts


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


def centreline_dice(prediction: Bools, reference: Bools) -> float:
    """Return the centreline Dice (clDice) of two regions of one shape, in [0, 1].

    The harmonic mean of the shares of each region's skeleton that the other region holds; 0 where both are 0,
    1 if both regions are empty. Raises ModuleNotFoundError without scikit-image.
    Source: Shit et al. 2021, CVPR, p. 16560; skeletons of scikit-image, in three dimensions Lee's of 1994.
    """
    from skimage.morphology import skeletonize

    if not prediction.any() or not reference.any():
        return float(prediction.any() == reference.any())
    shares = []
    for region, other in ((prediction, reference), (reference, prediction)):
        skeleton = skeletonize(region) > 0  # type: ignore[no-untyped-call]
        shares.append(np.count_nonzero(skeleton & other) / np.count_nonzero(skeleton))
    return 2 * shares[0] * shares[1] / sum(shares) if sum(shares) else 0.0


def boundary_iou(prediction: Bools, reference: Bools, width: int) -> float:
    """Return the intersection over union of the voxels within ``width`` of each region's boundary, in [0, 1].

    width: steps to a voxel with which a corner is shared, at least 1. 1 if both regions are empty.
    Source: Cheng et al. 2021, CVPR, p. 15334.
    """
    from scipy import ndimage

    cube = np.ones((3,) * prediction.ndim, dtype=np.bool_)
    edges = [mask & ~ndimage.binary_erosion(mask, cube, width) for mask in (prediction, reference)]
    return jaccard_of_counts(count_overlap(*edges), both_empty=1.0)
