"""Surfaces of label maps given as plain arrays.

Two conventions are in use. Surface "elements" lie between voxels and are weighted by their area
(google-deepmind/surface-distance); surface "voxels" are those of a region with a neighbour outside of it, of
equal weight (SimpleITK, MedPy, MONAI, MetricsReloaded). Their figures differ by up to several per cent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.label_overlap import LabelMap
from evaluation.metrics.label_surfaces import SurfaceComparison, compare_labels
from evaluation.metrics.plain_arguments import check_shapes
from evaluation.metrics.surface_convention import Surface

_MOST_LABELS = 255


def compared_labels(
    prediction: ArrayLike,
    reference: ArrayLike,
    labels: Sequence[int],
    spacing_mm: Sequence[float] | None,
    surface: Surface,
) -> list[SurfaceComparison]:
    """Return the comparison of each label; raise ValueError for arguments that do not fit."""
    maps = np.asarray(prediction), np.asarray(reference)
    check_shapes(*maps)
    if maps[0].ndim not in (2, 3):
        raise ValueError(f"expected arrays of shape (y, x) or (z, y, x), found {maps[0].shape}")
    if len(set(labels)) < len(labels) or len(labels) > _MOST_LABELS:
        raise ValueError(f"labels: expected up to {_MOST_LABELS} different ones, found {list(labels)}")
    if surface not in get_args(Surface):
        raise ValueError(f"surface: expected 'elements' or 'voxels', found {surface!r}")
    first, second = (_positions(values, labels) for values in maps)
    return compare_labels(first, second, len(labels), spacing_of(maps[0], spacing_mm).tolist(), surface)


def _positions(values: NDArray[np.generic], labels: Sequence[int]) -> LabelMap:
    """Return a map with the labels as 1 … n and all other values as 0."""
    if values.dtype == np.bool_ and list(labels) == [1]:
        return values.view(np.uint8)
    positions = np.zeros(values.shape, dtype=np.uint8)
    for position, label in enumerate(labels, 1):
        positions[values == label] = position
    return positions


def spacing_of(values: NDArray[np.generic], spacing_mm: Sequence[float] | None) -> NDArray[np.float64]:
    """Return the spacing along each axis of an array, by default 1. Raises ValueError."""
    spacing = np.ones(values.ndim) if spacing_mm is None else np.asarray(spacing_mm, dtype=np.float64)
    if spacing.shape != (values.ndim,) or not (np.isfinite(spacing) & (spacing > 0)).all():
        raise ValueError(f"spacing_mm: expected {values.ndim} numbers above 0, found {spacing_mm}")
    return spacing
