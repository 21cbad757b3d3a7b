"""Regions of masks and volumes: structures, sizes and measurements, and which pixel has which colour."""

import numpy as np
import pytest
from PIL import ImageColor

from evaluation.challenges.refuge import CHALLENGE, CUP, DISC, ELSEWHERE, RefugeOptions
from evaluation.core.challenge import fields_of
from evaluation.core.field import Field, Files, Reference, Socket
from evaluation.core.form import CaseForm
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.metrics.crops import Crop, VolumeCrop, crop
from evaluation.organiser.report.overlays import (
    AGREEMENT,
    FALSE,
    MISSED,
    ComparedNumber,
    Region,
    Solid,
    StructureSize,
    measurements,
    region_panels,
    regions_in,
    sizes,
    solid_panels,
    solids,
)

EMPTY = Crop(np.zeros((0, 0), bool))


def colours(picture):
    """Return the colours of a picture and how many pixels each has."""
    values, counts = np.unique(np.asarray(picture).reshape(-1, 3), axis=0, return_counts=True)
    return {tuple(value): count for value, count in zip(values.tolist(), counts.tolist(), strict=True)}


def rgb(colour):
    return ImageColor.getrgb(colour)


def block(top, left, size=8):
    return Crop(np.ones((size, size), bool), top, left)


def test_agreement_missed_and_false_have_their_colours():
    found = colours(region_panels([Region("cup", block(10, 10), block(10, 14))], (60, 60), None))
    assert {rgb(AGREEMENT), rgb(MISSED), rgb(FALSE)} <= set(found)
    assert found[rgb(MISSED)] == found[rgb(FALSE)]  # as wide as each other


@pytest.mark.parametrize(
    ("predicted", "reference", "shown"),
    [(block(10, 10), block(10, 10), AGREEMENT), (EMPTY, block(10, 10), MISSED)],
    ids=["perfect", "missed"],
)
def test_a_region_that_is_perfect_or_missed_has_one_colour(predicted, reference, shown):
    found = colours(region_panels([Region("cup", predicted, reference)], (60, 60), None))
    assert {rgb(AGREEMENT), rgb(MISSED), rgb(FALSE)} & set(found) == {rgb(shown)}


def test_a_photograph_is_seen_around_and_through_the_regions():
    photograph = np.full((60, 60, 3), (200, 100, 50), np.uint8)
    found = colours(region_panels([Region("cup", block(10, 10), block(10, 10))], (60, 60), photograph))
    assert (200, 100, 50) in found
    mixed = tuple(
        round(0.45 * own + 0.55 * over) for own, over in zip((200, 100, 50), rgb(AGREEMENT), strict=True)
    )
    assert mixed in found


def test_a_volume_is_cut_where_it_differs_most_on_the_original():
    reference = np.zeros((10, 20, 30), bool)
    reference[:, 5:15, 5:25] = True
    predicted = reference.copy()
    predicted[4, 5:15, 5:25] = False  # one plane is missed
    picture = solid_panels(Solid("cyst", predicted, reference, (0.2, 0.1, 0.1)))
    found = colours(picture.crop((0, 0, 300, 200)))  # the plane of the scan
    assert rgb(MISSED) in found
    assert rgb(AGREEMENT) not in found
    # Planes across y are 10 · 0.2 mm high and 30 · 0.1 mm wide.
    assert picture.width == 300 + 6 + 300 + 6 + 300
    reference[3:6, 5:15, 5:25] = True
    original = np.full(reference.shape, 77, np.uint8)
    found = colours(solid_panels(Solid("cyst", reference, reference, None), original))
    assert (77, 77, 77) in found
    assert rgb(AGREEMENT) in found  # where nothing differs, the planes go through the structure


FIELD = next(field for field in fields_of(CHALLENGE.tasks(RefugeOptions())) if field.name == "segmentation")


def mask(rows_of_cup, rows_of_disc):
    image = np.full((12, 10), ELSEWHERE, np.uint8)
    image[2 : 2 + rows_of_disc, 2:6] = DISC
    image[3 : 3 + rows_of_cup, 3:5] = CUP
    return crop(image, ELSEWHERE)


PREDICTED, REFERENCE = mask(2, 6), mask(4, 8)


def test_sizes_and_ratios_of_prediction_and_reference():
    found = list(sizes(FIELD, CaseForm("a", 10, 12), PREDICTED, REFERENCE))
    assert found == [
        StructureSize("segmentation", "optic cup", "pixels", 4, 8),
        StructureSize("segmentation", "optic disc", "pixels", 24, 32),
    ]
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
