"""Division where the denominator may be zero."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def ratio_or_nan(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotients of two arrays of matching shapes; NaN where the denominator is not above 0."""
    result = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=result, where=denominator > 0)
    return result
