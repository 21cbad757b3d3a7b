"""What a submission may hold and looks wrong where all of its images have it, for the notes of `check`."""

from collections.abc import Iterator
from itertools import islice, product
from typing import Any

import numpy as np

from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.views import Objects, Regions, Voxels
from evaluation.io.volumes import case_geometry
from evaluation.metrics.arrays import Floats
from evaluation.metrics.crops import Box, Crop, Place
from evaluation.metrics.segmentation import edge

LACKS = "lack some of their values, which count as wrong"
"""The clause on a value that is incomplete."""


def oddities(kind: Kind, value: Any, case: CaseForm) -> Iterator[str]:
    """Yield what looks wrong about a value, in clauses that `check` notes where they hold for all images."""
    if (choices := kind.choices) is not None and not choices.neither and None in choices.of(value):
        yield LACKS
    if (regions := kind.regions) is not None:
        yield from _of_regions(regions, value, case_geometry(case, regions.dimensions).shape)
    elif (objects := kind.objects) is not None:
        yield from _of_objects(objects, objects.of(value))
    elif (voxels := kind.voxels) is not None:
        yield from _of_planes(voxels, value, case_geometry(case, voxels.dimensions).shape[1:])


def _of_objects(view: Objects, rows: Floats) -> Iterator[str]:
    lower, upper = np.split(rows[:, 2:], 2, axis=1)
    if view.form == "component":
        if not len(rows):
            yield _NOTHING
        return
    if not len(rows):
        yield f"there is no {view.form}"
    if view.unit == "pixels" and (upper <= 1).all():
        yield "all positions lie within one pixel (from 0 to 1? Positions are in pixels)"
    if view.form == "box" and (upper <= lower).any(axis=1).all():
        yield "no box has an area"


_NOTHING, _UNLABELLED = "every value is 0", "nothing is labelled"
_INVERTED = "all corners of the image are labelled (inverted?)"


def _of_planes(view: Voxels, value: Any, shape: Place) -> Iterator[str]:
    planes = [_is_labelled_to_the_corners(plane, shape) for plane in view.of(value) if plane.any()]
    if not planes:
        yield _UNLABELLED if view.marks else _NOTHING
    elif view.marks and any(planes):
        yield _INVERTED


def _of_regions(view: Regions, value: Any, shape: Place) -> Iterator[str]:
    masks = zip(view.names, view.of(value), strict=True)
    found = list(islice(((name, mask) for name, mask in masks if mask.any()), 2))
    if not found:
        yield _UNLABELLED
    if any(_is_labelled_to_the_corners(mask, shape) for _, mask in found):
        yield _INVERTED
    if view.nested and len(found) > 1:
        (first, inner), (second, outer) = found
        plane, inside = outer.values[0], inner.within(outer.box)[0]
        rim = edge(plane)
        if np.count_nonzero(inside) == np.count_nonzero(plane):
            found.pop()
        elif np.count_nonzero(rim & inside) * 2 > np.count_nonzero(rim):  # in pixels beside the background
            yield f"{first} surrounds {second} (exchanged?)"
    if len(found) == 1 and len(view.names) > 1:
        yield f"no label but {found[0][0]} occurs"


def _is_labelled_to_the_corners(mask: Crop, shape: Place) -> bool:
    if mask.box != Box.whole(shape):
        return False
    corners = product(*((0, length - 1) for length in shape))
    return all(mask.part(Box(at, tuple(place + 1 for place in at))).any() for at in corners)
