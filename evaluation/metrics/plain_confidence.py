"""Overlap of confidence maps on plain arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics import confidence
from evaluation.metrics.plain_arguments import check_shapes


def weighted_dice(prediction: ArrayLike, reference: ArrayLike) -> float:
    """Return the confidence-weighted Dice of two maps, 2·Σ A·B / (Σ A² + Σ B²).

    Parameters
    ----------
    prediction : array_like of float, any shape
        Confidences in [0, 1].
    reference : array_like of float, same shape
        Confidences of the reference in [0, 1].

    Returns
    -------
    float
        In [0, 1], higher is better. For binary maps it equals the Dice coefficient.

    Raises
    ------
    ValueError
        For shapes that differ, or values outside [0, 1].

    Notes
    -----
    0 if exactly one map is 0 everywhere, 1 if both are, also for arrays without elements.

    References
    ----------
    "A novel benchmark model for intelligent annotation of spectral-domain optical coherence tomography scans
    using the example of cyst annotation", 2016, Eq. 3.

    Examples
    --------
    >>> weighted_dice([1.0, 0.5], [0.5, 1.0])
    0.8
    """
    first, second = np.asarray(prediction, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    check_shapes(first, second)
    for name, values in (("prediction", first), ("reference", second)):
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"{name}: expected confidences from 0 to 1")
    sums = confidence.ConfidenceSums(
        float((first * second).sum()), float((first * first).sum()), float((second * second).sum())
    )
    return confidence.weighted_dice(sums)
