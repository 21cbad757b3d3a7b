"""ADAM: size and position of lesions in the grid around the fovea, and their errors by ring.

Source: Fang et al. 2022, IEEE Trans. Med. Imaging 41:2828, sections 1 and 4.4.
"""

from collections.abc import Iterator
from math import nan, pi, sqrt

import numpy as np

from evaluation.challenges.adam import FOVEA, LESIONS
from evaluation.core.form import CaseForm
from evaluation.io.kinds.points import PointSet
from evaluation.metrics.arrays import Integers
from evaluation.metrics.crops import Crop, around
from evaluation.organiser.analyses import plain_mean, texts_of
from evaluation.organiser.analyses.analysis import FurtherAnalysis, Measured
from evaluation.organiser.report.case_views import OpenCase

RINGS = {"centre": 1 / 3, "inner": 1.0, "outer": 2.0, "beyond": np.inf}
"""The outer radius of each ring in diameters of the disc: circles of 1, 3 and 6 mm, a disc being 1.5 mm."""


def pixels_by_ring(region: Crop, fovea: PointSet, disc_diameter: float) -> Integers:
    """Return how many pixels of a region lie in each of `RINGS`, shape (4,); a circle's pixels are inside.

    Pixels count by their centres, whose coordinates are whole numbers; the diameter is in pixels.
    """
    rows, columns = np.nonzero(region.values)
    ((x, y),) = fovea.positions
    top, left = region.corner
    distances = np.hypot(rows + top - y, columns + left - x) / disc_diameter
    counts: Integers = np.bincount(np.searchsorted([*RINGS.values()], distances), minlength=len(RINGS))
    return counts


def _measure(case: OpenCase) -> Iterator[Measured]:
    name, fovea = case.form.name, case.references["fovea"]
    disc = case.references["disc"].region(1)
    if reason := _unknown_grid(disc, fovea, case.form):
        yield Measured("grid", name, left_out=reason)
        return
    area = np.count_nonzero(disc.values)
    for lesion in LESIONS:
        if lesion not in case.submitted:
            yield Measured("grid", name, left_out=f"no mask of {lesion} was submitted")
            continue
        own, true = (values[lesion].region(1) for values in (case.submitted, case.references))
        box = around(own, true)
        shared = Crop(own.within(box) & true.within(box), box.corner)
        counts = [pixels_by_ring(one, fovea, 2 * sqrt(area / pi)).tolist() for one in (own, true, shared)]
        for ring, submitted, reference, hit in zip(RINGS, *counts, strict=True):
            values = {
                "reference": reference / area if reference else nan,
                "difference": (submitted - reference) / area if submitted or reference else nan,
                "dice": 2 * hit / (submitted + reference) if reference else nan,
                "sensitivity": hit / reference if reference else nan,
            }
            yield Measured("grid", name, f"{lesion}_{ring}", values | {"error": abs(values["difference"])})


def _unknown_grid(disc: Crop, fovea: PointSet, form: CaseForm) -> str:
    """Return why a case has no grid, empty where it has one."""
    box = disc.box
    if box.is_empty:
        return "the reference has no optic disc"
    if not FOVEA.is_visible(fovea):
        return "the fovea of the reference is invisible"
    cut = min(box.corner) == 0 or box.end[0] == form.height or box.end[1] == form.width
    return "the border of the image cuts the optic disc" if cut else ""


ANALYSES = (
    FurtherAnalysis(
        "grid",
        texts_of("adam")["grid"],
        frozenset({"disc", "fovea", *LESIONS}),
        (
            plain_mean("reference", "Area in the reference", low=0),
            plain_mean("difference", "Submitted − reference"),
            plain_mean("error", "Absolute error", low=0),
            plain_mean("dice", "Dice", low=0, high=1),
            plain_mean("sensitivity", "Sensitivity", low=0, high=1),
        ),
        {"Dice": {"dice": ""}},
        _measure,
    ),
)
