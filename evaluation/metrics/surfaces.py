"""Distances between the surfaces of two regions, in 2D and 3D, under the conventions in use.

Two conventions of a surface are in use: "voxels" are the region's voxels with a face
neighbour outside of it, of equal weight; "elements" lie between voxels and are weighted by their area. Their
figures differ by up to several per cent.

Distances are exact at any size. Memory holds the two surfaces, and for millions of surface voxels some
ten bytes for each voxel of the box around half of them.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Bools, Floats, Integers

Surface = Literal["voxels", "elements"]
SurfaceNeighbours = Literal["faces", "all", "faces_in_image"]
"""A voxel is surface if one of these neighbours is outside of the region: 6 or 26, in a plane 4 or 8.

Beyond the image is outside, but for "faces_in_image": the 6 or 4 as far as the image has them.
"""
Directions = Literal["directed", "pooled"]
DirectionsOfMean = Literal["directed", "pooled", "mean", "to_reference"]
Percentile = Literal["index", "linear"]
_MAX_SORTED = 1 << 22
_BINS = 1024
_ROUNDED_SHARE = 1e-9  # rounding of a sum of tens of millions of areas is below it, the share of one above
ROUNDING = 1e-6
"""A distance that exceeds a tolerance by this share of it does so by rounding: of spacings, of distances."""


def spacing_of(values: NDArray[np.generic], spacing_mm: Sequence[float] | None) -> Floats:
    """Return the spacing along each axis of an array, by default 1. Raises ValueError."""
    spacing = np.ones(values.ndim) if spacing_mm is None else np.asarray(spacing_mm, dtype=np.float64)
    if spacing.shape != (values.ndim,) or not (np.isfinite(spacing) & (spacing > 0)).all():
        raise ValueError(f"spacing_mm: expected {values.ndim} numbers above 0, found {spacing_mm}")
    return spacing


def check_percentile(surface: Surface, definition: Percentile) -> None:
    """Raise ValueError for "elements" with "linear"."""
    if surface == "elements" and definition == "linear":
        raise ValueError("percentile: expected 'index' for surface 'elements', found 'linear'")


def check_neighbours(surface: Surface, neighbours: SurfaceNeighbours) -> None:
    """Raise ValueError for unknown neighbours, and for any but the default where elements have none."""
    allowed = get_args(SurfaceNeighbours) if surface == "voxels" else ("faces",)
    if neighbours not in allowed:
        expected = " or ".join(map(repr, allowed))
        raise ValueError(
            f"surface_neighbours: expected {expected} for surface {surface!r}, found {neighbours!r}"
        )


@dataclass(frozen=True, slots=True)
class WeightedDistances:
    """Distances in mm, shape (n,), and their weights, shape (n,) (None: equal).

    Mean and percentile need one distance or more.
    """

    values: NDArray[Any]
    weights: Floats | None

    def mean(self) -> float:
        """Return the weighted mean."""
        return float(np.average(self.values.astype(np.float64, copy=False), weights=self.weights))

    def percentile(self, percent: float, definition: Percentile) -> float:
        """Return a percentile, in [0, 100], as `hausdorff_distance` defines it; with weights, by index."""
        if percent == 100:
            return float(self.values.max())
        share = percent / 100
        if self.weights is not None:
            return _weighted_percentile(self.values, self.weights, share)
        if definition == "linear":
            return float(np.percentile(self.values, percent))
        position = int((self.values.size - 1) * Fraction(repr(float(percent))) / 100)
        return float(np.partition(self.values, position)[position])

    def weight(self) -> float:
        """Return the sum of the weights."""
        return float(self.values.size if self.weights is None else self.weights.sum())

    def weight_within(self, tolerance_mm: float) -> float:
        """Return the sum of the weights of the distances that do not exceed a tolerance."""
        near = self.values <= tolerance_mm * (1 + ROUNDING)
        return float(np.count_nonzero(near) if self.weights is None else self.weights[near].sum())


def _weighted_percentile(values: NDArray[Any], weights: Floats, share: float) -> float:
    """Return the first value at which the cumulated weight reaches a share of the whole weight.

    A sum that falls short of the share by rounding reaches it.
    """
    whole, below = weights.sum(), 0.0
    share = max(0.0, share - _ROUNDED_SHARE)
    if values.size > _MAX_SORTED:
        # Sorting tens of millions takes gigabytes: only the bin in which the share is reached is sorted.
        in_bins, edges = np.histogram(values, _BINS, weights=weights)
        found = min(int(np.searchsorted(np.cumsum(in_bins) / whole, share)), _BINS - 1)
        # With a neighbour on each side, since a value on an edge may be counted on either side of it.
        low, high = edges[max(found - 1, 0)], edges[min(found + 2, _BINS)]
        below = float(weights[values < low].sum())
        chosen = (values >= low) & (values <= high)
        values, weights = values[chosen], weights[chosen]
    order = np.lexsort((weights, values))
    reached = (below + np.cumsum(weights[order])) / whole
    position = min(int(np.searchsorted(reached, share)), order.size - 1)
    return float(values[order[position]])


def pooled(first: WeightedDistances, second: WeightedDistances) -> WeightedDistances:
    """Return the distances of both directions together."""
    weights = (
        None
        if first.weights is None or second.weights is None
        else np.concatenate((first.weights, second.weights))
    )
    return WeightedDistances(np.concatenate((first.values, second.values)), weights)


# --- Surface elements of a mask, and their areas ---

Codes = NDArray[np.uint8]
Corner = tuple[int, ...]
Point = tuple[float, ...]
_CORNERS: tuple[Corner, ...] = tuple(itertools.product((0, 1), repeat=3))


def element_codes(mask: Bools) -> Codes:
    """Return the codes of the elements of a mask in two or three dimensions; 0 where there is no element.

    The surface is drawn between the centres of neighbouring voxels, one cell of 2 × 2 × 2 voxels at a time
    (Lorensen and Cline 1987, SIGGRAPH 21:163): it cuts each edge between a voxel inside and one outside in
    the middle. Each cell that it passes is an element, as of Nikolov et al. 2018 (arXiv:1809.04430), weighted
    with the area of its triangles; in a plane a cell is 2 × 2 pixels and an element has a length.

    mask: shape (z, y, x) or (y, x), boolean; beyond its border is outside. Element (z, y, x) lies between
    voxel (z − 1, y − 1, x − 1) and voxel (z, y, x), so that the result has one more along every axis.
    `element_sizes` gives the size of each code. Raises ValueError for any other number of dimensions.
    """
    if mask.ndim not in {2, 3}:
        raise ValueError(f"mask: expected 2 or 3 dimensions, found {mask.ndim}")
    return _cell_codes(np.pad(mask, 1))


def _cell_codes(values: Bools | Codes) -> Codes:
    """Return the codes of the cells between voxels, given as 0 and 1: one cell less along every axis."""
    codes = values.view(np.uint8)
    for axis in reversed(range(values.ndim)):
        first, second = (codes[(slice(None),) * axis + (part,)] for part in (slice(None, -1), slice(1, None)))
        codes = first | second << np.uint8(1 << (values.ndim - 1 - axis))
    inside = np.uint8((1 << (1 << values.ndim)) - 1)
    result: Codes = codes * (codes != inside)
    return result


def element_sizes(spacing_mm: Sequence[float]) -> Floats:
    """Return the size of an element by its code.

    spacing_mm: (z, y, x) for areas in mm², shape (256,); (y, x) for lengths in mm, shape (16,). Raises
    ValueError for any other number of axes.
    """
    if len(spacing_mm) not in {2, 3}:
        raise ValueError(f"spacing_mm: expected 2 or 3 numbers, found {len(spacing_mm)}")
    return _lengths(*spacing_mm) if len(spacing_mm) == 2 else _element_areas(spacing_mm)


def _lengths(height: float, width: float) -> Floats:
    """Return the length of the contour in a cell of 2 × 2 pixels by its code, shape (16,)."""
    corner = float(np.hypot(height, width)) / 2
    lengths = np.zeros(16)
    for code in range(1, 15):
        upper_left, upper_right, lower_left, lower_right = ((code >> bit) & 1 for bit in range(4))
        inside = upper_left + upper_right + lower_left + lower_right
        if inside != 2:
            lengths[code] = corner
        elif upper_left == lower_right:
            lengths[code] = 2 * corner
        else:
            lengths[code] = width if upper_left == upper_right else height
    return lengths


def _element_areas(spacing_mm: Sequence[float]) -> Floats:
    """Return the area of the surface in a cell of 2 × 2 × 2 voxels by its code, shape (256,)."""
    codes, triangles = _triangles()
    edges = np.diff(triangles * np.asarray(spacing_mm), axis=1)
    areas = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / 2
    return np.asarray(np.bincount(codes, areas, 256), dtype=np.float64)


@cache
def _triangles() -> tuple[Integers, Floats]:
    """Return the triangles of all cells: their codes, shape (n,), and corners, shape (n, 3, 3), in voxels.

    A cell and the one with inside and outside exchanged have the same surface: that which parts the fewer
    voxels from each other where they touch at an edge or corner only.
    """
    codes, triangles = [], []
    for code in range(1, 255):
        inside = {corner for bit, corner in enumerate(_CORNERS) if code >> bit & 1}
        fewer = inside if len(inside) <= len(_CORNERS) // 2 else set(_CORNERS) - inside
        for polygon in _polygons(fewer):
            for triangle in _largest_triangulation(polygon):
                codes.append(code)
                triangles.append(triangle)
    return np.array(codes), np.array(triangles)


def _polygons(inside: set[Corner]) -> Iterator[list[Point]]:
    """Yield the closed lines in which the surface cuts the faces of a cell."""
    neighbours: dict[Point, list[Point]] = {}
    for axis, side in itertools.product(range(3), (0, 1)):
        face = [(*pair[:axis], side, *pair[axis:]) for pair in ((0, 0), (0, 1), (1, 1), (1, 0))]
        middles = [_middle(face[i], face[(i + 1) % 4]) for i in range(4)]
        cut = [i for i in range(4) if (face[i] in inside) != (face[(i + 1) % 4] in inside)]
        # A face whose diagonals differ is cut twice, around each of its corners inside.
        ends = [(cut[0], cut[1])] if len(cut) == 2 else [(i - 1, i) for i in range(4) if face[i] in inside]
        for first, second in ends if cut else ():
            neighbours.setdefault(middles[first], []).append(middles[second])
            neighbours.setdefault(middles[second], []).append(middles[first])
    while neighbours:
        point = next(iter(neighbours))
        polygon = []
        while point in neighbours:
            polygon.append(point)
            following = neighbours.pop(point)
            point = next((other for other in following if other in neighbours), point)
        yield polygon


def _largest_triangulation(polygon: list[Point]) -> list[list[Point]]:
    """Return the triangles of a polygon, cut such that their area is largest (edges of one voxel)."""
    options = [[[polygon[i] for i in t] for t in cut] for cut in _triangulations(0, len(polygon) - 1)]
    return max(options, key=lambda triangles: round(sum(map(_unit_area, triangles)), 9))


def _triangulations(first: int, last: int) -> list[list[tuple[int, int, int]]]:
    """Return all ways to cut the polygon of the vertices first … last into triangles."""
    if last - first < 2:
        return [[]]
    return [
        [*left, *right, (first, middle, last)]
        for middle in range(first + 1, last)
        for left in _triangulations(first, middle)
        for right in _triangulations(middle, last)
    ]


def _unit_area(triangle: list[Point]) -> float:
    edges = np.diff(np.array(triangle), axis=0)
    return float(np.linalg.norm(np.cross(edges[0], edges[1]))) / 2


def _middle(first: Corner, second: Corner) -> Point:
    return tuple((a + b) / 2 for a, b in zip(first, second, strict=True))
