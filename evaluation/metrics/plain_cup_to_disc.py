"""The vertical cup-to-disc ratio on plain arrays."""

from __future__ import annotations

from numpy.typing import ArrayLike

from evaluation.metrics import cup_to_disc
from evaluation.metrics.cup_to_disc import VerticalDiameter
from evaluation.metrics.plain_arguments import check_shapes, mask_of


def cup_to_disc_ratio(
    cup: ArrayLike, disc: ArrayLike, *, definition: VerticalDiameter = "column_count"
) -> float:
    """Return the vertical cup-to-disc ratio of an optic nerve head.

    Parameters
    ----------
    cup : array_like of bool, shape (y, x)
        The region of the optic cup.
    disc : array_like of bool, shape (y, x)
        The region of the optic disc, including the cup.
    definition : {"column_count", "extent"}, optional
        The vertical diameter of a region: the largest number of its pixels in one column, or the last row
        minus the first row plus one. They differ for regions with holes, several parts or slanted shapes.

    Returns
    -------
    float
        In [0, 1] if the disc includes the cup.

    Raises
    ------
    ValueError
        For shapes that differ or have not two axes, values other than 0 and 1, or another definition.

    Notes
    -----
    0 if the disc is empty, also for arrays without elements.

    References
    ----------
    J. I. Orlando et al., "REFUGE Challenge: a unified framework for evaluating automated methods for glaucoma
    assessment from fundus photographs", Medical Image Analysis 59:101570, 2020.

    Examples
    --------
    >>> cup_to_disc_ratio([[0, 0], [1, 0], [1, 0], [0, 0]], [[1, 0], [1, 1], [1, 1], [1, 0]])
    0.5
    """
    regions = [mask_of(region, name) for region, name in ((cup, "cup"), (disc, "disc"))]
    check_shapes(*regions)
    diameters = [cup_to_disc.vertical_diameter(region, definition) for region in regions]
    return cup_to_disc.vertical_cup_to_disc_ratio(*diameters)
