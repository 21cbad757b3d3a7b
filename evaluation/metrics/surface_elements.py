"""Surface elements of a mask: where its surface passes between voxels, and how much area it has there.

The surface is drawn between the centres of neighbouring voxels, one cell of 2 × 2 × 2 voxels at a time
(Lorensen and Cline 1987, SIGGRAPH 21:163): it cuts each edge between a voxel inside and one outside in the
middle. Each cell that it passes is one element, at the centre of the cell, weighted with the area of its
triangles; in a plane, a cell is 2 × 2 pixels and an element has a length. These are the surface elements of
Nikolov et al. 2018 (arXiv:1809.04430).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Bools, Floats, Integers
from evaluation.metrics.crops import EMPTY, Box, Crop

Codes = NDArray[np.uint8]
Corner = tuple[int, ...]
Point = tuple[float, ...]
_CORNERS: tuple[Corner, ...] = tuple(itertools.product((0, 1), repeat=3))


def element_codes(mask: Bools) -> Codes:
    """Return the codes of the elements of a mask in two or three dimensions; 0 where there is no element.

    mask: shape (z, y, x) or (y, x), boolean; beyond its border is outside. Element (z, y, x) lies between
    voxel (z − 1, y − 1, x − 1) and voxel (z, y, x), so that the result has one more along every axis.
    `element_sizes` gives the size of each code. Raises ValueError for any other number of dimensions.
    """
    if mask.ndim not in {2, 3}:
        raise ValueError(f"mask: expected 2 or 3 dimensions, found {mask.ndim}")
    return _cell_codes(np.pad(mask, 1))


def element_planes(planes: Sequence[Crop]) -> list[Crop]:
    """Return the codes of `element_codes` for a region given as boolean planes, plane by plane."""
    return [_element_plane(*pair) for pair in itertools.pairwise((EMPTY, *planes, EMPTY))]


def _element_plane(before: Crop, after: Crop) -> Crop:
    voxels = before.box.union(after.box)
    if voxels.is_empty:
        return EMPTY
    around = Box(voxels.top - 1, voxels.bottom + 1, voxels.left - 1, voxels.right + 1)
    codes = _cell_codes(np.stack([plane.within(around) for plane in (before, after)]))
    return Crop(codes[0], voxels.top, voxels.left)


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
    return _lengths(*spacing_mm) if len(spacing_mm) == 2 else _areas(spacing_mm)


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


def _areas(spacing_mm: Sequence[float]) -> Floats:
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
