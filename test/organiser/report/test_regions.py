"""Regions of masks and volumes: structures, sizes and measurements, by hand."""

import numpy as np

from evaluation.challenges.refuge import CHALLENGE, CUP, DISC, ELSEWHERE, RefugeOptions
from evaluation.core.challenge import fields_of
from evaluation.core.field import Field, Files, Reference, Socket
from evaluation.core.form import CaseForm
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.metrics.crops import VolumeCrop, crop
from evaluation.organiser.report.overlays import (
    ComparedNumber,
    StructureSize,
    measurements,
    regions,
    regions_in,
    sizes,
    solids,
)

FIELD = next(field for field in fields_of(CHALLENGE.tasks(RefugeOptions())) if field.name == "segmentation")


def mask(rows_of_cup, rows_of_disc):
    image = np.full((12, 10), ELSEWHERE, np.uint8)
    image[2 : 2 + rows_of_disc, 2:6] = DISC
    image[3 : 3 + rows_of_cup, 3:5] = CUP
    return crop(image, ELSEWHERE)


PREDICTED, REFERENCE = mask(2, 6), mask(4, 8)


def test_the_disc_includes_the_cup():
    found = {region.structure: region for region in regions(FIELD, PREDICTED, REFERENCE)}
    assert list(found) == ["optic cup", "optic disc"]
    assert np.count_nonzero(found["optic cup"].reference.values) == 8
    assert np.count_nonzero(found["optic disc"].reference.values) == 32


def test_sizes_of_prediction_and_reference():
    found = list(sizes(FIELD, CaseForm("a", 10, 12), PREDICTED, REFERENCE))
    assert found == [
        StructureSize("segmentation", "optic cup", "pixels", 4, 8),
        StructureSize("segmentation", "optic disc", "pixels", 24, 32),
    ]


def test_the_ratio_is_of_vertical_extents():
    (of_extent,) = [
        field
        for field in fields_of(CHALLENGE.tasks(RefugeOptions(vertical_diameter="extent")))
        if field.name == "segmentation"
    ]
    (found,) = measurements(of_extent, PREDICTED, REFERENCE)
    assert found == ComparedNumber("Vertical ratio of optic cup to optic disc", 2 / 6, 4 / 8)


def labelled(dimensions):
    """Return a field of label maps with two labels."""
    kind = LabelMap({1: "liver", 2: "tumour"}, dimensions=dimensions)
    files = Files("maps", (".nii.gz",))
    return Field("maps", "Maps", kind, files, Socket("maps", "images/maps"), Reference(kind, files))


def value(positions, corner, shape, spacing=None):
    return LabelMapValue(VolumeCrop(np.array(positions, np.uint8), corner), shape, spacing)


def test_each_label_of_an_image_is_a_region():
    predicted = value([[[1, 1], [2, 2]]], (0, 3, 4), (1, 10, 10))
    reference = value([[[1, 1, 2]]], (0, 3, 4), (1, 10, 10))
    field = labelled(2)
    assert regions_in(field).dimensions == 2
    found = list(sizes(field, CaseForm("a", 10, 10), predicted, reference))
    assert found == [
        StructureSize("maps", "liver", "pixels", 2, 2),
        StructureSize("maps", "tumour", "pixels", 2, 1),
    ]


def test_an_image_of_background_alone_has_empty_regions():
    nothing = value(np.zeros((0, 0, 0)), (0, 0, 0), (1, 10, 10))
    found = list(sizes(labelled(2), CaseForm("a", 10, 10), nothing, nothing))
    assert [(size.predicted, size.reference) for size in found] == [(0, 0), (0, 0)]


def test_each_label_of_a_volume_has_its_size():
    predicted = value([[[1, 2]]], (1, 2, 3), (4, 5, 6))
    reference = value([[[1, 2], [2, 2]]], (1, 2, 3), (4, 5, 6))
    field, case = labelled(3), CaseForm("a", 6, 5, {"depth": "4", "spacing_mm": "0.5 0.5 3"})
    unit, voxel = "mm³", 0.75
    assert regions_in(field).dimensions == 3
    found = list(sizes(field, case, predicted, reference))
    assert found == [
        StructureSize("maps", "liver", unit, voxel, voxel),
        StructureSize("maps", "tumour", unit, voxel, 3 * voxel),
    ]
    assert [one.predicted.shape for one in solids(field, case, predicted, reference)] == [(4, 5, 6)] * 2
