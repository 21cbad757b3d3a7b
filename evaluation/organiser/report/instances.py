"""Pictures of instances: those that match, missed and false ones, by the metric that matches them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.challenges.declared.lesions import LesionTable
from evaluation.challenges.declared.rules import field_tables, metric_tables
from evaluation.core.challenge import Options, Task
from evaluation.core.field import Field
from evaluation.metrics.arrays import Bools
from evaluation.metrics.crops import Box, Crop, VolumeCrop, around
from evaluation.metrics.matching import overlaps_of
from evaluation.organiser.report import overlays

Numbers = NDArray[Any]
"""The number of each voxel's object, from 1 on, 0 for none."""


@dataclass(frozen=True)
class DrawnInstances:
    """The instances of a case: their voxels (z, y, x), and which match, shape (instances,)."""

    predicted: VolumeCrop
    reference: VolumeCrop
    hit: Bools
    found: Bools


def metric_of_instances(options: Options, task: Task, field: Field) -> tuple[str, LesionTable] | None:
    """Return the first metric of a declared task that matches the instances of a field one to one."""
    is_only = len(field_tables(options)) == 1
    for name, table in metric_tables(options, task.name).items():
        of_field = table.field == field.name or (table.field is None and is_only)
        if of_field and isinstance(table, LesionTable) and table.matching != "any":
            return name, table
    return None


def instances_of(
    options: Options, task: Task, field: Field, predicted: Any, reference: Any
) -> DrawnInstances | None:
    """Return the instances of a field with their matches; None for a kind or a task without any.

    Instances of one class match by the rule of `metric_of_instances`.
    """
    own, true = field.kind.objects, field.reference.kind.objects
    known = metric_of_instances(options, task, field)
    if not (known and own and true and own.numbered and true.numbered):
        return None
    table, maps = known[1], (own.numbered(predicted), true.numbered(reference))
    corner, end = around(*maps)
    made, given = (VolumeCrop(one.within(corner, end), corner) for one in maps)
    classes = own.of(predicted)[:, 0], true.of(reference)[:, 0]
    pairs = overlaps_of(made.values, given.values, *map(len, classes))
    same = classes[0][pairs.pair_prediction] == classes[1][pairs.pair_reference]
    matched = pairs.take(same).matched(table.threshold, table.strict, table.matching, table.agreement)
    hit, found = (np.zeros(len(of), np.bool_) for of in classes)
    hit[matched.pair_prediction], found[matched.pair_reference] = True, True
    return DrawnInstances(made, given, hit, found)


def instance_panel(
    drawn: DrawnInstances, size: tuple[int, int], photograph: overlays.Colours | None
) -> Image.Image:
    """Return the plane with most voxels of instances that do not match, else of the reference.

    size: height and width of the image in pixels, 0 where they are not known.
    """
    wrong = (drawn.predicted.values > 0) & ~_of(drawn.hit, drawn.predicted.values)
    wrong |= (drawn.reference.values > 0) & ~_of(drawn.found, drawn.reference.values)
    counted = wrong if wrong.any() else drawn.reference.values > 0
    plane = int(np.argmax(counted.sum(axis=(1, 2)))) if counted.size else 0
    crops = [
        Crop(one.values[plane] if one.values.size else np.zeros((0, 0), np.uint8), *one.corner[1:])
        for one in (drawn.predicted, drawn.reference)
    ]
    whole = size if all(size) else (drawn.reference.end[1], drawn.reference.end[2])
    window = overlays.window_of(Box.union(*(crop.box for crop in crops)), whole)
    predicted, reference = (
        crop.within(window) if crop.values.size else np.zeros(window.shape, np.uint8) for crop in crops
    )
    hit, found = _of(drawn.hit, predicted), _of(drawn.found, reference)
    edges = _edges(predicted), _edges(reference)
    kinds = (
        (overlays.AGREEMENT, hit | found, (hit & edges[0]) | (found & edges[1])),
        (overlays.MISSED, (reference > 0) & ~found, edges[1] & ~found),
        (overlays.FALSE, (predicted > 0) & ~hit, edges[0] & ~hit),
    )
    return overlays.fitted(overlays.painted_over(overlays.ground(window, photograph), kinds))


def _of(verdict: Bools, numbers: Numbers) -> Bools:
    """Return the verdict on the instance of each pixel, False for none."""
    return np.concatenate([[False], verdict])[numbers.astype(np.int64)]


def _edges(numbers: Numbers) -> Bools:
    """Return the pixels of instances, shape (y, x), with a neighbour outside of their own."""
    padded = np.pad(numbers, 1)
    sides = padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]
    beside = np.logical_or.reduce([side != numbers for side in sides])
    found: Bools = (numbers > 0) & beside
    return found
