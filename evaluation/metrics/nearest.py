"""Distance from every voxel of one set to the nearest voxel of another, for sets given plane by plane.

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
from evaluation.metrics.crops import Box, Crop

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
Box3D = Integers
"""First and last + 1 voxel, each along z, y and x; shape (2, 3)."""


def coordinates(planes: Sequence[Crop]) -> NDArray[np.int32]:
    """Return the voxels (z, y, x) at which the planes are not 0, in that order, shape (n, 3)."""
    found = [np.zeros((0, 3), dtype=np.int32)]
    for z, plane in enumerate(planes):
        rows, columns = np.divmod(np.flatnonzero(plane.values != 0), max(plane.values.shape[1], 1))
        voxels = np.empty((rows.size, 3), dtype=np.int32)
        voxels[:, 0], voxels[:, 1], voxels[:, 2] = z, rows + plane.top, columns + plane.left
        found.append(voxels)
    return np.concatenate(found)


def nearest_distances(here: Sequence[Crop], there: Sequence[Crop], spacing_mm: Spacing) -> Floats:
    """Return the distance in mm of every voxel of ``here`` to the nearest of ``there``, shape (n,).

    The sets are the voxels at which the planes are not 0; neither may be empty. spacing_mm: (z, y, x). The
    result has the order of `coordinates`.
    """
    searched, known = (sum(int(np.count_nonzero(p.values)) for p in planes) for planes in (here, there))
    if searched > MAX_SEARCHED or known > MAX_IN_TREE:
        return _by_transform(here, there, spacing_mm, searched, grow=known > MAX_IN_TREE)
    from scipy.spatial import KDTree

    queries, sources = coordinates(here), coordinates(there)
    tree = KDTree(sources * np.asarray(spacing_mm), balanced_tree=False)
    box = _size(_around(_extent(here), _extent(there)))
    if _search_time(tree, queries, spacing_mm) <= _TRANSFORM_STARTS + _TRANSFORM_VOXEL * box:
        steps = queries - sources[tree.query(queries * np.asarray(spacing_mm))[1]]
        return _lengths(steps.T, spacing_mm)
    if box <= _MAX_TRANSFORMED:
        return _by_transform(here, there, spacing_mm, searched, grow=False)
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


def _by_transform(
    here: Sequence[Crop], there: Sequence[Crop], spacing_mm: Spacing, searched: int, grow: bool
) -> Floats:
    """Transform the box of ``here``, where it is large of one half after the other, which bounds the memory.

    The nearest voxel can be anywhere in ``there``, so that the box includes all of it. With ``grow`` it
    includes near voxels first, and more only until no distance exceeds the included margin.
    """
    result = np.full(searched, np.nan)
    whole = _extent(there)
    block = _extent(here)
    blocks = _halves(block, whole) if grow or _size(_around(block, whole)) > _MAX_TRANSFORMED else [block]
    for block in blocks:
        margin_mm = _FIRST_MARGIN * max(spacing_mm) if grow else math.inf
        while True:
            near = _overlap(whole, _dilated(block, margin_mm, spacing_mm))
            box = _around(block, near)
            nearest = _nearest_voxels(box, there, spacing_mm) if (near[0] < near[1]).all() else None
            if nearest is not None:
                farthest = _pick(here, block, box, nearest, spacing_mm, result)
                del nearest
                if np.array_equal(near, whole) or farthest <= margin_mm:
                    break
            margin_mm *= _GROWTH
    return result


def _nearest_voxels(box: Box3D, sources: Sequence[Crop], spacing_mm: Spacing) -> NDArray[np.int32] | None:
    """Return where in a box the nearest source of each voxel lies, shape (3, z, y, x); None without any."""
    from scipy import ndimage

    (z0, y0, x0), (z1, y1, x1) = box.tolist()
    window = Box(y0, y1, x0, x1)
    outside = np.ones((z1 - z0, *window.shape), dtype=np.bool_)
    for z in range(z0, z1):
        plane = sources[z]
        shared = plane.box.intersection(window)
        if not shared.is_empty:
            outside[z - z0][shared.slices_in(window)] = plane.values[shared.slices_in(plane.box)] == 0
    if outside.all():
        return None
    nearest: NDArray[np.int32] = ndimage.distance_transform_edt(
        outside, spacing_mm, return_distances=False, return_indices=True
    )
    return nearest


def _pick(
    here: Sequence[Crop],
    block: Box3D,
    box: Box3D,
    nearest: NDArray[np.int32],
    spacing_mm: Spacing,
    result: Floats,
) -> float:
    """Write the distances of those voxels of ``here`` that lie in a block; return the largest of them."""
    planes, rows, columns = block.T.tolist()
    z0, y0, x0 = box[0].tolist()
    offset, farthest = 0, 0.0
    for z, plane in enumerate(here):
        marked = np.flatnonzero(plane.values)
        if planes[0] <= z < planes[1] and marked.size:
            y, x = np.divmod(marked, plane.values.shape[1])
            y, x = y + plane.top, x + plane.left
            chosen = (rows[0] <= y) & (y < rows[1]) & (columns[0] <= x) & (x < columns[1])
            y, x = y[chosen] - y0, x[chosen] - x0
            found = nearest[:, z - z0].reshape(3, -1).take(y * nearest.shape[3] + x, axis=1)
            distances = _lengths((np.int64(z - z0) - found[0], y - found[1], x - found[2]), spacing_mm)
            result[offset + np.flatnonzero(chosen)] = distances
            farthest = max(farthest, float(distances.max(initial=0)))
        offset += marked.size
    return farthest


def _extent(planes: Sequence[Crop]) -> Box3D:
    """Return the box of the planes' crops; at least one is not empty."""
    filled = [(z, plane.box) for z, plane in enumerate(planes) if not plane.box.is_empty]
    firsts = np.array([(z, box.top, box.left) for z, box in filled])
    ends = np.array([(z + 1, box.bottom, box.right) for z, box in filled])
    return np.array([firsts.min(axis=0), ends.max(axis=0)])


def _halves(box: Box3D, other: Box3D) -> list[Box3D]:
    """Cut a box along the axis that leaves the smallest boxes around a half and another box."""

    def cut(axis: int) -> list[Box3D]:
        lower, upper = box.copy(), box.copy()
        lower[1, axis] = upper[0, axis] = (box[0, axis] + box[1, axis] + 1) // 2
        return [half for half in (lower, upper) if half[0, axis] < half[1, axis]]

    return min(map(cut, range(3)), key=lambda halves: max(_size(_around(half, other)) for half in halves))


def _size(box: Box3D) -> int:
    return math.prod((box[1] - box[0]).tolist())


def _dilated(box: Box3D, margin_mm: float, spacing_mm: Spacing) -> Box3D:
    margins = [math.ceil(margin_mm / step) if math.isfinite(margin_mm) else 1 << 40 for step in spacing_mm]
    return np.array([box[0] - margins, box[1] + margins])


def _overlap(first: Box3D, second: Box3D) -> Box3D:
    return np.array([np.maximum(first[0], second[0]), np.minimum(first[1], second[1])])


def _around(first: Box3D, second: Box3D) -> Box3D:
    return np.array([np.minimum(first[0], second[0]), np.maximum(first[1], second[1])])
