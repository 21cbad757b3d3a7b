"""Vertical cup-to-disc ratio of the optic nerve head."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

VerticalDiameter = Literal["column_count", "extent"]


def vertical_diameter(region: NDArray[np.bool_], definition: VerticalDiameter) -> int:
    """Vertical diameter of a region in pixels; 0 for an empty region and for an array without pixels.

    region: shape (y, x). "column_count" is the largest number of the region's pixels in any one column (the
    definition of REFUGE's public evaluator, behind every published REFUGE figure), "extent" the last row
    minus the first row plus one. They differ where the region is slanted or has holes or separate parts.
    Raises ValueError for another definition or number of dimensions, or a region that is not boolean.
    """
    if region.ndim != 2 or region.dtype != np.bool_:
        raise ValueError(
            f"region: expected a bool array (y, x), found {region.dtype} of shape {region.shape}"
        )
    if definition == "column_count":
        # The bytes of a boolean mask are 0 and 1; summing them as uint32 is twice as fast as `sum`.
        per_column = np.add.reduce(region.view(np.uint8), axis=0, dtype=np.uint32)
        return int(per_column.max(initial=0))
    if definition == "extent":
        rows = np.flatnonzero(region.any(axis=1))
        return int(rows[-1] - rows[0] + 1) if rows.size else 0
    raise ValueError(f"definition: expected 'column_count' or 'extent', found {definition!r}")


def vertical_cup_to_disc_ratio(cup_diameter: float, disc_diameter: float) -> float:
    """Ratio of the vertical diameters of cup and disc (pixels); 0 where the disc is empty (diameter 0).

    In [0, 1] where the disc includes the cup.
    Source: Orlando et al. 2020, Med. Image Anal. 59:101570 (REFUGE).
    """
    return cup_diameter / disc_diameter if disc_diameter > 0 else 0.0
