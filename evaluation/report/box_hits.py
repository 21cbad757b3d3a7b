"""The hits among the boxes of one image at one threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.box_matching import match_boxes
from evaluation.phase.phase import Phase

Floats = NDArray[np.float64]
HIT = 0.5
"""Least intersection over union of a hit, in figures of one threshold."""


@dataclass(frozen=True)
class BoxHits:
    """The predicted boxes of one image: hit or not, shape (boxes,); numbers found, false and missed."""

    hit: NDArray[np.bool_]
    found: int
    false: int
    missed: int


def case_hits(predicted: Floats, reference: Floats, threshold: float, inclusive: bool) -> BoxHits:
    """Return the hits of one image, and the numbers of hits, false and missed boxes.

    predicted, reference: shape (boxes, 6), class index, confidence and corners in pixels.
    """
    matches = match_boxes(
        predicted[:, 2:],
        predicted[:, 0].astype(np.int64),
        predicted[:, 1],
        reference[:, 2:],
        reference[:, 0].astype(np.int64),
        inclusive,
    )
    hit = (matches.claimed < threshold) & (threshold <= matches.iou)
    found = int(hit.sum())
    return BoxHits(hit, found, len(predicted) - found, len(reference) - found)


def inclusive_corners(phase: Phase) -> bool:
    """Return whether both corners of a box belong to it, as the phase chose."""
    return bool(getattr(phase.options, "inclusive_corners", False))
