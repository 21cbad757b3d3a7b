"""REFUGE: the neuroretinal rim and the asymmetry of a patient's eyes, with errors and as classifiers.

Source: Orlando et al. 2020, Medical Image Analysis 59:101570, section 5.3. It names the rim-to-disc ratio
(Kumar et al. 2019, Scientific Reports 9:7099), the thickness of the rim and the symmetry of both eyes as
measures to diagnose by, instead of the cup-to-disc ratio alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isnan, nan

import numpy as np
from scipy import ndimage

from evaluation.challenges.refuge import RATIO, RefugeOptions, cup_to_disc_ratio, regions_of
from evaluation.core.class_estimators import RocArea
from evaluation.core.metric import Metric
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.arrays import Floats
from evaluation.organiser.analyses import plain_mean, texts_of
from evaluation.organiser.analyses.analysis import FurtherAnalysis, Measured
from evaluation.organiser.report.case_views import OpenCase

# --- The rim of one disc, seen from the centre of the disc ---

_STEP = 0.5
"""Pixels between two points of a ray."""
_ANGLES = np.radians(np.arange(360) + 0.5)
"""Directions, from the right over below (y points downwards)."""
_QUADRANTS = {"right": -45, "inferior": 45, "left": 135, "superior": 225}
"""The first direction of each quadrant, in degrees."""


@dataclass(frozen=True)
class Rim:
    """The rim of a disc in 360 directions: its width by the diameter of the disc in the same axis, in [0, 1].

    NaN in a direction without disc, beside a crescent. ``centre_x``: of the disc, in pixels of the image.
    """

    ratios: Floats
    centre_x: float

    @property
    def narrowest(self) -> float:
        """The rim-to-disc ratio: where the rim is narrowest."""
        return float(np.nanmin(self.ratios))

    def quadrant(self, name: str) -> float:
        """Return the mean over 90° around a direction of the image: right, inferior, left or superior."""
        first = _QUADRANTS[name]
        return float(np.nanmean(self.ratios[np.arange(first, first + 90) % 360]))


def rim_of(mask: LabelMapValue) -> Rim | None:
    """Return the rim in a mask of labels, None without a disc.

    Of several discs the largest counts. On a ray from its centroid, the rim reaches from the furthest pixel
    of the cup to the furthest pixel of the disc; on a ray without cup it begins at the centroid.
    Source: the disc damage likelihood scale, "the radial width of the rim compared to the diameter of the
    disc in the same axis" (Spaeth et al. 2002, Trans. Am. Ophthalmol. Soc. 100:181).
    """
    cup_region, disc_region = regions_of(mask)
    disc = disc_region.values
    if not disc.any():
        return None
    parts, _ = ndimage.label(disc, np.ones((3, 3)))
    disc = parts == np.argmax(np.bincount(parts[disc]))
    cup = cup_region.values & disc
    rows, columns = np.nonzero(disc)
    y, x = float(rows.mean()), float(columns.mean())
    distances = np.arange(0, np.hypot(rows - y, columns - x).max() + 1, _STEP)
    places = tuple(
        np.rint(start + np.outer(direction(_ANGLES), distances)).astype(np.intp).clip(-1, side) + 1
        for start, direction, side in ((y, np.sin, disc.shape[0]), (x, np.cos, disc.shape[1]))
    )
    outer, inner = (
        np.where(np.pad(region, 1)[places], distances + _STEP, 0).max(axis=1) for region in (disc, cup)
    )
    diameter = outer + np.roll(outer, 180)
    return Rim((outer - inner) / np.where(diameter > 0, diameter, nan), disc_region.corner[1] + x)


# --- Both analyses ---

_RIM, _ASYMMETRY = "rim", "asymmetry"
_NARROWEST, _ISNT = "narrowest_rim", "isnt"
_MEASURES = (RATIO, _NARROWEST, "inferior", "superior", "nasal", "temporal", _ISNT)
_LARGER_IN_GLAUCOMA = (RATIO, _ISNT)
_OF_EYES = (RATIO, _NARROWEST)
_METRICS = (
    plain_mean("difference", "Submitted − reference"),
    plain_mean("error", "Absolute error", low=0),
    Metric("auc", "AUC as submitted", RocArea("submitted_risk", "glaucoma"), best=1, worst=0),
    Metric("reference_auc", "AUC of the reference", RocArea("reference_risk", "glaucoma"), best=1, worst=0),
)


def _measures(
    mask: LabelMapValue, rim: Rim, nasal_is_right: bool | None, options: RefugeOptions
) -> dict[str, float]:
    """Return the measures of a mask with a disc; NaN for those of a side that is not known."""
    sides = ("right", "left") if nasal_is_right else ("left", "right")
    nasal, temporal = (nan, nan) if nasal_is_right is None else map(rim.quadrant, sides)
    isnt = (rim.quadrant("inferior"), rim.quadrant("superior"), nasal, temporal)
    broken = nan if nasal_is_right is None else float(sum(b > a for a, b in pairwise(isnt)))
    ratio = cup_to_disc_ratio(mask, options.vertical_diameter)
    return dict(zip(_MEASURES, (ratio, rim.narrowest, *isnt, broken), strict=True))


def _nasal_is_right(case: OpenCase, disc: Rim) -> bool | None:
    """Return whether the nose is on the right of the image, by the column ``eye`` or the fovea."""
    if (eye := case.cells.get("eye", "").casefold()) in _RIGHT_EYE | _LEFT_EYE:
        return eye in _RIGHT_EYE
    if "fovea" not in case.references:
        return None
    return bool(case.references["fovea"].positions[0, 0] < disc.centre_x)


_RIGHT_EYE, _LEFT_EYE = {"right", "r", "od"}, {"left", "l", "os"}


def _measure(case: OpenCase) -> Iterator[Measured]:
    assert isinstance(case.options, RefugeOptions)
    name, true_rim = case.form.name, rim_of(case.references["segmentation"])
    if "segmentation" not in case.submitted:
        yield Measured(_RIM, name, left_out="no mask was submitted")
    elif true_rim is None or (rim := rim_of(case.submitted["segmentation"])) is None:
        of = "reference" if true_rim is None else "submitted mask"
        yield Measured(_RIM, name, left_out=f"the {of} has no optic disc")
    else:
        side = _nasal_is_right(case, true_rim)
        submitted = _measures(case.submitted["segmentation"], rim, side, case.options)
        reference = _measures(case.references["segmentation"], true_rim, side, case.options)
        label = float(case.references["glaucoma_risk"]) if "glaucoma_risk" in case.references else nan
        for part in _MEASURES:
            values = _row(submitted[part], reference[part], label, part in _LARGER_IN_GLAUCOMA)
            yield Measured(_RIM, name, part, values)
            if part in _OF_EYES:
                yield Measured(
                    _ASYMMETRY, name, part, {**values, "nasal_is_right": nan if side is None else float(side)}
                )


def _row(submitted: float, reference: float, glaucoma: float, larger_in_glaucoma: bool) -> dict[str, float]:
    sign = 1 if larger_in_glaucoma else -1
    known = nan if isnan(submitted - reference) else glaucoma
    return {
        "submitted": submitted,
        "reference": reference,
        "difference": submitted - reference,
        "error": abs(submitted - reference),
        "submitted_risk": sign * submitted,
        "reference_risk": sign * reference,
        "glaucoma": known,
    }


def _pairs(rows: Sequence[Measured], clusters: Mapping[str, str]) -> Sequence[Measured]:
    """Return the absolute differences between the eyes of patients with two images, one of each eye.

    The label is 1 where either eye has glaucoma. Two images whose sides are known to be the same are no pair.
    """
    found = []
    by_patient: dict[tuple[str, str], list[Measured]] = {}
    for row in rows:
        if clusters.get(row.case):
            by_patient.setdefault((row.part, clusters[row.case]), []).append(row)
    for eyes in by_patient.values():
        if len(eyes) == 2:
            first, second = (eye.values or {} for eye in eyes)
            if first["nasal_is_right"] != second["nasal_is_right"]:
                label = max(first["glaucoma"], second["glaucoma"])
                own, true = (abs(first[side] - second[side]) for side in ("submitted", "reference"))
                found.append(replace(eyes[0], values=_row(own, true, label, larger_in_glaucoma=True)))
    return found


_CHARTED = {
    "Area under the ROC curve": {"auc": "submitted", "reference_auc": "reference"},
    "Absolute error": {"error": ""},
}
_TEXTS, _FIELDS = texts_of("refuge"), frozenset({"segmentation"})

ANALYSES = (
    FurtherAnalysis(_RIM, _TEXTS[_RIM], _FIELDS, _METRICS, _CHARTED, _measure),
    FurtherAnalysis(_ASYMMETRY, _TEXTS[_ASYMMETRY], _FIELDS, _METRICS, _CHARTED, _measure, _pairs),
)
