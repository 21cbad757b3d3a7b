"""Cysts: detection by their height, and volumes by ring of the macula."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from scipy import ndimage

from evaluation.challenges.cysts.rules import CystsOptions
from evaluation.io.tables import is_number, parse_number
from evaluation.io.volume_header import geometry_of
from evaluation.metrics.arrays import Bools, Floats
from evaluation.metrics.crops import Crop, around
from evaluation.organiser.analyses import plain_mean, texts_of
from evaluation.organiser.analyses.analysis import FurtherAnalysis, Measured
from evaluation.organiser.report.case_views import OpenCase

_HEIGHTS, _RINGS = "heights", "rings"
_HIGH_UM = 380
_RADII_MM = (0.5, 1.5, 3)
_PARTS = ("centre", "inner", "outer", "beyond")


def heights_of(
    annotated: Bools, marked: Bools, depth_um: float, across: bool
) -> Iterator[tuple[float, bool]]:
    """Yield the height in µm of every cyst, and whether any of its voxels is marked.

    annotated, marked: shape (B-scan, depth, x). depth_um: of a voxel. across: cysts are components of 26
    neighbours, else of the 8 neighbours in a B-scan.
    """
    joined = np.ones((3, 3, 3), dtype=np.bool_)
    joined[[0, 2]] &= across
    labels, number = ndimage.label(annotated, joined)
    found = set(np.unique(labels[marked]).tolist())
    for cyst, (_, depth, _) in enumerate(ndimage.find_objects(labels) if number else [], start=1):
        yield (depth.stop - depth.start) * depth_um, cyst in found


def ring_volumes(planes: Iterable[Crop], distances_mm: Floats, voxel_mm3: float) -> list[float]:
    """Return the volumes in mm³ up to 0.5, to 1.5 and to 3 mm from the centre, and beyond.

    planes: of marked voxels. distances_mm: of each column of voxels to the centre, shape (B-scan, x).
    """
    counts = np.zeros(distances_mm.shape)
    for z, plane in enumerate(planes):
        counts[z, plane.box.slices[1]] += plane.values.sum(axis=0)
    rings = np.searchsorted(_RADII_MM, distances_mm)
    volumes: list[float] = (np.bincount(rings.ravel(), counts.ravel(), len(_PARTS)) * voxel_mm3).tolist()
    return volumes


def _measure(case: OpenCase) -> Iterator[Measured]:
    assert isinstance(case.options, CystsOptions)
    name, geometry = case.form.name, geometry_of(case.form)
    if "cysts" not in case.submitted or geometry.spacing_mm is None:
        reason = "the spacing is not known" if "cysts" in case.submitted else "no volume was submitted"
        yield from (Measured(analysis, name, left_out=reason) for analysis in (_HEIGHTS, _RINGS))
        return
    x_mm, y_mm, z_mm = geometry.spacing_mm
    # A plane is valid until the next one is read: comparisons copy it.
    marked, annotated = (
        [Crop(plane.values >= least, plane.corner) for plane in planes]
        for least, planes in (
            (case.options.marked_from, case.submitted["cysts"]),
            (1, case.references["level"].planes()),
        )
    )
    box = around(*annotated, *marked)
    true, own = (np.stack([plane.within(box) for plane in planes]) for planes in (annotated, marked))
    for height, found in heights_of(true, own, 1000 * y_mm, z_mm < case.options.continuity_mm):
        values = {"found": float(found), "height_um": height}
        yield Measured(_HEIGHTS, name, "high" if height > _HIGH_UM else "low", values)
    depth, _, width = geometry.shape
    cells = [case.cells.get(column, "") for column in ("fovea_x", "fovea_b_scan")]
    known = all(map(is_number, cells))
    at_x, at_z = map(parse_number, cells) if known else ((width - 1) / 2, (depth + 1) / 2)
    distances = np.hypot.outer((np.arange(depth) + 1 - at_z) * z_mm, (np.arange(width) - at_x) * x_mm)
    volumes = (ring_volumes(planes, distances, x_mm * y_mm * z_mm) for planes in (marked, annotated))
    for part, submitted, reference in zip(_PARTS, *volumes, strict=True):
        error = submitted - reference
        values = {"submitted": submitted, "reference": reference, "difference": error, "error": abs(error)}
        yield Measured(_RINGS, name, part, {**values, "fovea_known": float(known)})


_TEXTS, _FIELDS = texts_of("cysts"), frozenset({"cysts"})

ANALYSES = (
    FurtherAnalysis(
        _HEIGHTS,
        _TEXTS[_HEIGHTS],
        _FIELDS,
        (plain_mean("found", "Share found", 0, 1), plain_mean("height_um", "Mean height in µm", 0)),
        {"Share of the cysts that are found": {"found": ""}},
        _measure,
    ),
    FurtherAnalysis(
        _RINGS,
        _TEXTS[_RINGS],
        _FIELDS,
        (
            plain_mean("reference", "Reference", 0),
            plain_mean("difference", "Submitted − reference"),
            plain_mean("error", "Absolute error", 0),
        ),
        {"Absolute error in mm³": {"error": ""}},
        _measure,
    ),
)
