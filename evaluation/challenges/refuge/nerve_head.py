"""Measures of an optic nerve head, which the organiser's file holds for every image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan

import numpy as np

from evaluation.metrics.crop import Crop
from evaluation.metrics.cup_to_disc import (
    VerticalDiameter,
    vertical_cup_to_disc_ratio,
    vertical_diameter,
)

VERTICAL, HORIZONTAL = "vertical_cup_to_disc_ratio", "horizontal_cup_to_disc_ratio"
DISC_AREA, CUP_AREA = "disc_area", "cup_area"
_RATIOS = (VERTICAL, HORIZONTAL)
_MEASURES = (*_RATIOS, DISC_AREA, CUP_AREA)
PREDICTED, REFERENCE = "predicted", "reference"


@dataclass(frozen=True, slots=True)
class NerveHead:
    """The cup-to-disc ratios, 0 without a disc, and the areas in pixels; the disc includes the cup."""

    vertical_cup_to_disc_ratio: float
    horizontal_cup_to_disc_ratio: float
    disc_area: float
    cup_area: float


def measured(cup: Crop, disc: Crop, definition: VerticalDiameter) -> NerveHead:
    """Return the measures of one image's regions.

    The horizontal diameter is defined as the vertical one, of the image turned by a right angle: the largest
    number of pixels in one row, or the last column minus the first plus one.
    """
    upright, turned = (
        vertical_cup_to_disc_ratio(*(vertical_diameter(region, definition) for region in regions))
        for regions in ((cup.values, disc.values), (cup.values.T, disc.values.T))
    )
    disc_area, cup_area = (float(np.count_nonzero(region.values)) for region in (disc, cup))
    return NerveHead(upright, turned, disc_area, cup_area)


def columns_of(predicted: NerveHead | None, reference: NerveHead) -> dict[str, float]:
    """Return the columns of one image: errors of both ratios, and all measures of prediction and reference.

    A signed error is prediction minus reference. Without a prediction all values that depend on it are NaN,
    and the error of the vertical ratio, a metric, takes its worst value.
    """
    values = {
        f"{side}_{name}": nan if head is None else getattr(head, name)
        for side, head in ((PREDICTED, predicted), (REFERENCE, reference))
        for name in _MEASURES
    }
    signed = {ratio: values[f"{PREDICTED}_{ratio}"] - values[f"{REFERENCE}_{ratio}"] for ratio in _RATIOS}
    errors: Mapping[str, float] = {
        **{f"{ratio}_signed_error": error for ratio, error in signed.items()},
        **{f"{ratio}_error": abs(error) for ratio, error in signed.items()},
    }
    if predicted is None:
        errors = {name: error for name, error in errors.items() if name != f"{VERTICAL}_error"}
    return {**errors, **values}


UNPUBLISHED = frozenset(
    {
        *(f"{PREDICTED}_{name}" for name in _MEASURES),
        *(f"{REFERENCE}_{name}" for name in _MEASURES if name != VERTICAL),
        *(f"{ratio}_signed_error" for ratio in _RATIOS),
        f"{HORIZONTAL}_error",
    }
)
"""The columns that only the organiser's file holds."""
