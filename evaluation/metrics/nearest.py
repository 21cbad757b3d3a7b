"""Distance from every voxel of one set to the nearest voxel of another one.

A k-d tree is searched, in a time that grows with the distances. Where a sample of them predicts that this
takes longer, and for millions of voxels, the nearest voxel is found for all voxels of a box at once, in a
time that depends on the box alone. Each way only finds the nearest voxel. The distance to it is computed in
double precision from whole numbers of voxels, so that equal distances are equal wherever they were found.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Floats, Integers

MAX_SEARCHED = 1 << 20
"""Up to this number of voxels each is searched by itself, which takes some 4 µs."""
MAX_IN_TREE = 1 << 22
"""A tree of more voxels would take longer than the transform."""
_MAX_TRANSFORMED = 1 << 25
"""A box of more voxels is transformed only where there is no other way: it would take 0.4 GB or more."""
_SAMPLED = 64  # one voxel of so many
_TRANSFORM_STARTS = 20_000  # these three in µs, measured; they change the time alone
_TRANSFORM_VOXEL = 0.06
_SEARCH, _SEARCH_AREA = 0.6, 0.07
_FIRST_MARGIN = 16
_GROWTH = 4
Spacing = tuple[float, float, float]
Marks = NDArray[np.uint8]


def coordinates(marks: Marks) -> NDArray[np.int32]:
    """Return the voxels (z, y, x) that are not 0, in their order, shape (n, 3)."""
    places = np.unravel_index(np.flatnonzero(marks != 0), marks.shape)  # booleans are far faster to find
    return np.stack([axis.astype(np.int32) for axis in places], axis=1)


def nearest_distances(here: Marks, there: Marks, spacing_mm: Spacing) -> Floats:
    """Return the distance in mm of every voxel of ``here`` to the nearest of ``there``, shape (n,).

    The sets are the voxels that are not 0 in arrays of one shape (z, y, x); neither may be empty. spacing_mm:
    (z, y, x). The result has the order of `coordinates`.
    """
    searched, known = int(np.count_nonzero(here)), int(np.count_nonzero(there))
    if searched > MAX_SEARCHED or known > MAX_IN_TREE:
        return _by_transform(here, there, spacing_mm)
    from scipy.spatial import KDTree

    queries, sources = coordinates(here), coordinates(there)
    tree = KDTree(sources * np.asarray(spacing_mm), balanced_tree=False)
    if _search_time(tree, queries, spacing_mm) <= _TRANSFORM_STARTS + _TRANSFORM_VOXEL * here.size:
        steps = queries - sources[tree.query(queries * np.asarray(spacing_mm))[1]]
        return _lengths(steps.T, spacing_mm)
    if here.size <= _MAX_TRANSFORMED:
        return _by_transform(here, there, spacing_mm)
    return _by_bounded_tree(queries, sources, spacing_mm)


def _search_time(tree: Any, queries: NDArray[np.int32], spacing_mm: Spacing) -> float:
    """Return about how many µs a k-d tree takes, from the distances of a sample: it searches their areas."""
    if queries.shape[0] < _SAMPLED:
        return 0.0
    distances, _ = tree.query(queries[::_SAMPLED] * np.asarray(spacing_mm))
    areas = np.square(distances) / math.prod(spacing_mm) ** (2 / 3)
    return float(queries.shape[0] * (_SEARCH + _SEARCH_AREA * areas.mean()))


def _by_bounded_tree(here: NDArray[np.int32], there: NDArray[np.int32], spacing_mm: Spacing) -> Floats:
    # It bounds the points of a node, SciPy's does not: many times as fast where distances are long.
    from sklearn.neighbors import KDTree

    tree = KDTree(there * np.asarray(spacing_mm))
    found = tree.query(here * np.asarray(spacing_mm), return_distance=False)
    return _lengths((here - there[found[:, 0]]).T, spacing_mm)


def _lengths(steps: Sequence[Integers] | Integers, spacing_mm: Spacing) -> Floats:
    """Return the lengths in mm of steps in voxels along z, y and x, shape (n,) each."""
    # From whole numbers of voxels, summed over axes of one spacing, so that rounding depends neither on the
    # place in the volume nor on which of several nearest voxels was found: 3 and 4 are as far as 5 and 0.
    total: Any = 0.0
    for spacing in sorted(set(spacing_mm)):
        along = [axis for axis, other in zip(steps, spacing_mm, strict=True) if other == spacing]
        total = total + sum(np.square(axis, dtype=np.int64) for axis in along) * spacing**2
    lengths: Floats = np.sqrt(total)
    return lengths


def _by_transform(here: Marks, there: Marks, spacing_mm: Spacing) -> Floats:
    """Transform the whole box, or of a large one each half of its planes, which bounds the memory.

    The nearest voxel can be in the other half, so that planes near a half are included, and more of them
    until no distance exceeds their margin.
    """
    planes = len(here)
    step = planes if here.size <= _MAX_TRANSFORMED else -(-planes // 2)
    found = []
    for first in range(0, planes, step):
        last = min(first + step, planes)
        margin = planes if step == planes else math.ceil(_FIRST_MARGIN * max(spacing_mm) / spacing_mm[0])
        while True:
            low, high = max(0, first - margin), min(planes, last + margin)
            if there[low:high].any():
                distances = _in_box(here[first:last], there[low:high], first - low, spacing_mm)
                if high - low == planes or distances.max(initial=0) <= margin * spacing_mm[0]:
                    break
            margin *= _GROWTH
        found.append(distances)
    return np.concatenate(found)


def _in_box(here: Marks, there: Marks, first: int, spacing_mm: Spacing) -> Floats:
    """Return the distances of voxels to the nearest in a box, of which their planes begin at ``first``."""
    from scipy import ndimage

    nearest: NDArray[np.int32] = ndimage.distance_transform_edt(
        there == 0, spacing_mm, return_distances=False, return_indices=True
    )
    distances = [np.zeros(0)]
    for z, plane in enumerate(here, first):
        places = np.flatnonzero(plane != 0)
        y, x = np.divmod(places, plane.shape[1])
        found = nearest[:, z].reshape(3, -1).take(places, axis=1)
        distances.append(_lengths((np.int64(z) - found[0], y - found[1], x - found[2]), spacing_mm))
    return np.concatenate(distances)
