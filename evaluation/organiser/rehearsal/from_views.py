"""Submissions that are made of the views of a kind: the smallest structures, and three that are blind.

The blind ones tell nothing of an image, or more than was asked: a metric that they win is no measure. What a
kind has no view for is left as in the near-perfect submission; beside the smallest structures, as in the
empty one.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from evaluation.core.field import Kind, Variant
from evaluation.core.form import CaseForm
from evaluation.core.metric import Metric
from evaluation.io.volumes import case_geometry
from evaluation.metrics.arrays import Floats, Integers
from evaluation.metrics.crops import Crop

WHOLE = "whole image"
"""One structure, object or box that fills each image."""
GRID = "grid beside near-perfect"
"""The near-perfect submission, and small objects in a grid wherever it has none."""
ALIKE = "one confidence"
"""The near-perfect submission with one confidence for all."""
BLIND = (WHOLE, GRID, ALIKE)
SMALLEST = "smallest"
"""A cube of eight voxels in each image (four pixels), which has no skeleton."""
MADE = (SMALLEST, *BLIND)

_MOST_IN_GRID = 500
_LEAST_STEP = 4
_POINTS_ALONG = 6
_SHOWN = 6


def can_be_made(name: str, kind: Kind) -> bool:
    """Return whether a kind has the views that such a submission is made of."""
    objects = kind.objects
    listed = bool(objects and objects.value and objects.number == "any")
    if name == ALIKE:
        return listed and bool(objects and objects.with_confidence)
    view = kind.regions
    filled = view and (view.value or (objects and objects.of_numbered))
    if name == GRID:
        return bool(filled or listed)
    if name == SMALLEST:
        return bool(filled or (kind.voxels and kind.voxels.value))
    is_plane = bool(objects and (objects.form, objects.axes, objects.unit) == ("box", 2, "pixels"))
    return bool(filled or (kind.voxels and kind.voxels.value) or (listed and is_plane))


def made_value(name: str, kind: Kind, of: Mapping[Variant, Any], case: CaseForm) -> Any:
    """Return the value of such a submission; ``of``: values of the rehearsal by their variant."""
    near, perfect, objects = of[Variant.NEAR], of[Variant.PERFECT], kind.objects
    if name == ALIKE:
        assert objects is not None
        assert objects.value is not None
        rows = objects.of(near).copy()
        rows[:, 1] = 0.5
        return objects.value(rows, case)
    has_image = kind.pixels(case) or kind.regions
    shape = case_geometry(case, kind.image_axes).shape if has_image else (0, 0, 0)
    middle = tuple(slice(side // 2, side // 2 + 2) for side in shape)
    cube = np.zeros(shape, np.uint8)
    cube[middle] = 1
    if (view := kind.regions) and view.value:
        if name == SMALLEST:
            nothing = Crop(np.zeros((0, 0, 0), np.bool_), (0, 0, 0))
            shown = [position for position, mask in enumerate(view.of(perfect)) if mask.any()][:1]
            small = Crop(cube.astype(np.bool_), (0, 0, 0))
            masks = [small if position in shown else nothing for position in range(len(view.names))]
            return view.value(masks, case)
        if name == WHOLE:
            return view.value([Crop(np.ones(shape, np.bool_), (0, 0, 0))] * len(view.names), case)
        masks = list(view.of(near))
        first = masks[0].whole(shape).copy()
        for z, y, x in _grid(masks, shape):
            first[z, y, x] = True
        return view.value([Crop(first, (0, 0, 0)), *masks[1:]], case)
    if objects and objects.of_numbered and objects.numbered and view:
        if name == WHOLE:
            return objects.of_numbered(np.ones(shape, np.uint8), np.array([[0.0, 1.0]]), case)
        if name == SMALLEST:
            first = objects.of(perfect)[:1, :2]
            return objects.of_numbered(cube if len(first) else 0 * cube, first, case)
        rows = objects.of(near)[:, :2]
        numbered = objects.numbered(near).whole(shape).astype(np.int64)
        places = _grid(list(view.of(near)), shape)
        numbered[tuple(places.T)] = len(rows) + 1 + np.arange(len(places))
        return objects.of_numbered(numbered, np.vstack([rows, np.tile([0.0, 1.0], (len(places), 1))]), case)
    if (voxels := kind.voxels) and voxels.value and name in (WHOLE, SMALLEST):
        return voxels.value(np.ones(shape) if name == WHOLE else cube.astype(np.float64), case)
    assert objects is not None
    assert objects.value is not None
    if name == WHOLE:
        return objects.value(np.array([[0, 1, 0, 0, case.width, case.height]], float), case)
    return objects.value(_beside(objects.of(near), objects.axes, objects.form == "box"), case)


def _grid(masks: list[Crop], shape: tuple[int, int, int]) -> Integers:
    """Return voxels (z, y, x) in a grid, two or more from all structures; shape (voxels, 3)."""
    near = np.zeros(shape, np.bool_)
    for mask in masks:
        near[mask.box.slices] |= mask.values
    for axis in range(3):
        along = np.moveaxis(near, axis, 0)
        along[1:] |= along[:-1].copy()
        along[:-1] |= along[1:].copy()
    axes = sum(side > 1 for side in shape) or 1
    step = max(_LEAST_STEP, math.ceil((math.prod(shape) / _MOST_IN_GRID) ** (1 / axes)))
    lines = [np.arange(0, side, step) for side in shape]
    places = np.stack(np.meshgrid(*lines, indexing="ij"), -1).reshape(-1, 3)
    free: Integers = places[~near[tuple(places.T)]]
    return free


def _beside(rows: Floats, axes: int, with_size: bool) -> Floats:
    """Return rows of objects and, after them, objects of the first class in a grid around them."""
    if not len(rows):
        return rows
    low, high = rows[:, 2 : 2 + axes].min(axis=0), rows[:, 2 + axes :].max(axis=0)
    lines = [np.linspace(*ends, _POINTS_ALONG) for ends in zip(low, high, strict=True)]
    corners = np.stack(np.meshgrid(*lines, indexing="ij"), -1).reshape(-1, axes)
    upper = np.minimum(corners + (high - low) / (4 * _POINTS_ALONG), high) if with_size else corners
    lower_class = np.tile([0.0, 0.01], (len(corners), 1))
    return np.concatenate([rows, np.column_stack([lower_class, corners, upper])])


def wins_of(
    name: str, figures: Mapping[str, Mapping[str, float]], metrics: Mapping[str, Metric]
) -> Iterator[str]:
    """Yield the metrics in which such a submission is no worse than the near-perfect one, in a sentence.

    figures: by metric and submission. metrics: those to compare. Of one confidence: the metrics that it costs
    everything.
    """
    found = []
    for key, metric in metrics.items():
        of = figures.get(key, {})
        own, near = of.get(name, math.nan), of.get(Variant.NEAR, math.nan)
        gain = own - near if metric.better == "higher" else near - own
        if name == ALIKE and own == metric.worst:
            found.append(f"{key} ({own:.4g})")
        elif name != ALIKE and gain >= -_TOLERANCE:
            found.append(f"{key} ({own:.4g} for {near:.4g})")
    if found:
        found[_SHOWN:] = [f"{len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        says = "has the worst value" if name == ALIKE else "is no worse than the near-perfect one"
        yield f'the submission "{name}" {says} in {", ".join(found)}'


_TOLERANCE = 1e-9
