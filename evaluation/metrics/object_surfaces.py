"""Distances between the surfaces of matched objects, of all pairs of a case at once."""

from collections.abc import Sequence

import numpy as np

from evaluation.metrics.arrays import Bools, Floats, Integers
from evaluation.metrics.matching import AnyIntegers, Overlaps
from evaluation.metrics.surfaces import SurfaceNeighbours

Directions = tuple[tuple[Integers, Floats], tuple[Integers, Floats]]
"""Of both sides: the pair of each surface voxel, and its distance in mm."""


def surface_of_objects(objects: AnyIntegers, neighbours: SurfaceNeighbours = "faces") -> Bools:
    """Return the voxels with a neighbour ("faces" or "all") outside of their object or the image."""
    surface = np.zeros(objects.shape, np.bool_)
    for axis in range(objects.ndim):
        along, edges = np.moveaxis(objects, axis, 0), np.moveaxis(surface, axis, 0)
        differs, before = along[1:] != along[:-1], edges.copy()
        if neighbours == "all":  # one axis after the other reaches every corner
            edges[1:] |= before[:-1]
            edges[:-1] |= before[1:]
        edges[1:] |= differs
        edges[:-1] |= differs
        edges[:1] = edges[-1:] = True
    surface &= objects > 0
    return surface


def distances_of_pairs(
    prediction: AnyIntegers,
    reference: AnyIntegers,
    matched: Overlaps,
    spacing_mm: Sequence[float],
    neighbours: SurfaceNeighbours = "faces",
) -> Directions:
    """Return the distances of the surface voxels of each pair from the surface of the other object.

    prediction, reference: the number of each voxel's object from 1 on, 0 for none, of one shape. matched: the
    pairs. spacing_mm: along each axis. neighbours: see `surface_of_objects`. Of the predicted objects, then
    of the reference's: the pair of each voxel, and its distance in mm.
    """
    sides = [(prediction, matched.pair_prediction), (reference, matched.pair_reference)]
    surfaces = [np.pad(np.where(surface_of_objects(of, neighbours), of, 0), _NEAR) for of, _ in sides]
    points = [_points(surface, pairs) for surface, (_, pairs) in zip(surfaces, sides, strict=True)]
    found = []
    for own, other in ((0, 1), (1, 0)):
        (pair, place), numbers = points[own], sides[other][1] + 1
        distance, far = _near_distances(surfaces[other], place, numbers[pair], spacing_mm)
        if far.size:
            from scipy.spatial import KDTree  # 0.3 s that few phases need

            needed = np.isin(points[other][0], pair[far])
            shape = surfaces[0].shape
            # Each pair lies at a place of its own along a further axis, farther apart than an image is wide.
            apart = 2 * sum(size * step for size, step in zip(shape, spacing_mm, strict=True))
            to, from_ = (
                np.column_stack([*(np.stack(np.unravel_index(at, shape)).T * spacing_mm).T, of * apart])
                for of, at in ((points[other][0][needed], points[other][1][needed]), (pair[far], place[far]))
            )
            distance[far] = KDTree(to).query(from_)[0]
        found.append((pair, distance))
    return found[0], found[1]


_NEAR = 3  # voxels: matched objects lie together, so that most distances are that short


def _near_distances(
    surface: AnyIntegers, places: Integers, wanted: Integers, spacing_mm: Sequence[float]
) -> tuple[Floats, Integers]:
    """Return the distance of each place from the surface of an object, and the indices of the far ones.

    surface: the number of each voxel's object, 0 off the surfaces, with a margin of `_NEAR`. places: flat
    indices; wanted: the number of an object for each.
    """
    offsets = np.indices((2 * _NEAR + 1,) * surface.ndim).reshape(surface.ndim, -1).T - _NEAR
    lengths = np.sqrt(((offsets * np.asarray(spacing_mm, np.float64)) ** 2).sum(axis=1))
    # All places nearer than this are among the offsets.
    near = lengths < (_NEAR + 1) * min(spacing_mm)
    order = np.argsort(lengths[near], kind="stable")
    steps = (offsets[near] @ (np.array(surface.strides) // surface.itemsize))[order]
    values, distances = surface.reshape(-1), np.zeros(len(places))
    left, here, sought = np.arange(len(places)), places, wanted.astype(surface.dtype)
    for step, length in zip(steps.tolist(), lengths[near][order].tolist(), strict=True):
        missed = values[here + step] != sought
        distances[left] = length
        left, here, sought = left[missed], here[missed], sought[missed]
        if not left.size:
            break
    return distances, left


def _points(surface: AnyIntegers, of_pair: Integers) -> tuple[Integers, Integers]:
    """Return the pair and the flat index of each surface voxel of the object of each pair."""
    places = np.flatnonzero(surface != 0)
    owner = surface.reshape(-1)[places]
    rest, found = np.arange(len(of_pair)), []
    while rest.size:  # an object in several pairs is taken several times
        pair = np.full(int(surface.max(initial=0)) + 1, -1)
        objects, first = np.unique(of_pair[rest], return_index=True)
        pair[objects + 1] = rest[first]
        taken = pair[owner] >= 0
        found.append((pair[owner[taken]], places[taken]))
        rest = np.delete(rest, first)
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    pairs, indices = (np.concatenate(of) for of in zip(*found, strict=True))
    return pairs, indices


def average_distances(directions: Directions, pairs: int) -> Floats:
    """Return for each pair the mean over the surface voxels of both objects, in mm."""
    pair, distance = (np.concatenate(of) for of in zip(*directions, strict=True))
    means: Floats = np.bincount(pair, distance, pairs) / np.maximum(np.bincount(pair, minlength=pairs), 1)
    return means


def hausdorff_distances(directions: Directions, pairs: int, percentile: float) -> Floats:
    """Return for each pair the larger percentile of both directions, by linear interpolation, in mm."""
    found = np.zeros((2, pairs))
    for pair, distance, result in ((*directions[0], found[0]), (*directions[1], found[1])):
        ordered = distance[np.lexsort((distance, pair))]
        counts = np.bincount(pair, minlength=pairs)
        place = (counts - 1) * (percentile / 100) + np.cumsum(counts) - counts
        low = np.floor(place).astype(np.int64)
        high = np.minimum(low + 1, len(ordered) - 1)
        result[:] = ordered[low] + (place - low) * (ordered[high] - ordered[low]) if pairs else 0
    larger: Floats = found.max(axis=0, initial=0.0)
    return larger
