"""Structural similarity of images of numbers, inside a mask, at one scale and at several."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Bools, Floats

MultiScaleFormula = Literal["wang", "synthrad"]
SCALE_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
"""Of the scales from fine to coarse. Source: Wang et al. 2003, Asilomar Conference, p. 1398."""

_WINDOW = 7
_REACH = _WINDOW // 2  # voxels around its own that a window covers
_SMALLEST_SIDE = 97
"""Five scales of a window of 7 need so many voxels along each axis."""


def similarity_maps(prediction: Floats, reference: Floats, data_range: float) -> tuple[Floats, Floats]:
    """Return luminance and contrast with structure around each voxel, in a uniform window of 7.

    prediction, reference: of one shape, (z, y, x) or (y, x). Variances are of a sample. The product of both
    maps is the structural similarity. Source: Wang et al. 2004, IEEE Trans. Image Process. 13:600, with
    K = 0.01 and 0.03.
    """
    from scipy import ndimage  # 0.3 s that few phases need

    def mean(values: Floats) -> Floats:
        return np.asarray(ndimage.uniform_filter(values, _WINDOW), np.float64)

    voxels = _WINDOW**reference.ndim
    sample = voxels / (voxels - 1)
    small, large = (0.01 * data_range) ** 2, (0.03 * data_range) ** 2
    one, other = mean(prediction), mean(reference)
    spread = sample * (mean(prediction**2) - one**2 + mean(reference**2) - other**2)
    together = sample * (mean(prediction * reference) - one * other)
    luminance: Floats = (2 * one * other + small) / (one**2 + other**2 + small)
    structure: Floats = (2 * together + large) / (spread + large)
    return luminance, structure


def inner(values: NDArray[Any]) -> NDArray[Any]:
    """Return the part of an array in which windows do not leave it, empty where it is smaller."""
    return values[tuple(slice(_REACH, max(_REACH, size - _REACH)) for size in values.shape)]


def extended(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array extended at its edges to at least 97 voxels along each axis."""
    lacking = [max(0, _SMALLEST_SIDE - size) for size in values.shape]
    return np.pad(values, [(size // 2, size - size // 2) for size in lacking], mode="edge")


def mean_inside(values: Floats, mask: Bools) -> float:
    """Return the mean inside a mask, without the windows that leave the image; NaN where nothing is left."""
    chosen = inner(values)[inner(mask)]
    return float(chosen.mean()) if chosen.size else float("nan")


def structural_similarity(prediction: Floats, reference: Floats, mask: Bools, data_range: float) -> float:
    """Return the mean structural similarity inside a mask, at most 1; see `similarity_maps`."""
    luminance, structure = similarity_maps(prediction, reference, data_range)
    return mean_inside(luminance * structure, mask)


def multi_scale_similarity(
    prediction: Floats, reference: Floats, mask: Bools, data_range: float, formula: MultiScaleFormula
) -> float:
    """Return the structural similarity over five scales inside a mask, in [0, 1].

    Images are extended, see `extended`. "wang": the product over scales of the mean contrast and structure,
    at the coarsest with luminance, each raised to the weight of its scale. "synthrad": the product over
    scales of the mean of all three, which are raised before the mean. A scale at which nothing of the mask is
    left counts as 1. Values are not negative.
    """
    one, other, inside = map(extended, (prediction, reference, mask))
    product = 1.0
    for scale, weight in enumerate(SCALE_WEIGHTS):
        luminance, structure = similarity_maps(one, other, data_range)
        structure = np.maximum(structure, 0)
        if formula == "synthrad":
            found = mean_inside((np.maximum(luminance, 0) * structure) ** weight, inside)
        else:
            coarsest = scale == len(SCALE_WEIGHTS) - 1
            found = mean_inside(luminance * structure if coarsest else structure, inside)
            found = max(found, 0.0) ** weight
        product *= 1.0 if np.isnan(found) else min(found, 1.0)
        one, other = _halved(one), _halved(other)
        inside = inside[(slice(None, None, 2),) * inside.ndim]
    return product


def _halved(values: Floats) -> Floats:
    """Return every second voxel of the means of each voxel and the ones before it, 0 beyond the image."""
    for axis in range(values.ndim):
        before = np.roll(values, 1, axis)
        before[(slice(None),) * axis + (0,)] = 0
        values = ((values + before) / 2)[(slice(None),) * axis + (slice(None, None, 2),)]
    return values
