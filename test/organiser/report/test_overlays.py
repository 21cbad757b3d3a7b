"""Overlays: which pixel has which colour."""

import numpy as np
from PIL import ImageColor

from evaluation.metrics.crops import Crop
from evaluation.organiser.report.overlays import (
    AGREEMENT,
    FALSE,
    MISSED,
    Region,
    Solid,
    region_panels,
    solid_panels,
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


def test_a_perfect_prediction_has_no_error():
    found = colours(region_panels([Region("cup", block(10, 10), block(10, 10))], (60, 60), None))
    assert rgb(AGREEMENT) in found
    assert not {rgb(MISSED), rgb(FALSE)} & set(found)


def test_a_missed_region_is_all_missed():
    found = colours(region_panels([Region("cup", EMPTY, block(10, 10))], (60, 60), None))
    assert rgb(MISSED) in found
    assert not {rgb(AGREEMENT), rgb(FALSE)} & set(found)


def test_a_photograph_is_seen_around_and_through_the_regions():
    photograph = np.full((60, 60, 3), (200, 100, 50), np.uint8)
    found = colours(region_panels([Region("cup", block(10, 10), block(10, 10))], (60, 60), photograph))
    assert (200, 100, 50) in found
    mixed = tuple(
        round(0.45 * own + 0.55 * over) for own, over in zip((200, 100, 50), rgb(AGREEMENT), strict=True)
    )
    assert mixed in found


def test_one_panel_for_each_region():
    one = region_panels([Region("cup", block(5, 5), block(5, 5))], (60, 60), None)
    three = region_panels([Region("cup", block(5, 5), block(5, 5))] * 3, (60, 60), None)
    assert three.width == 3 * one.width + 2 * 6
    assert three.height == one.height


def test_the_original_volume_is_seen_around_the_structure():
    reference = np.zeros((10, 20, 30), bool)
    reference[3:6, 5:15, 5:25] = True
    original = np.full(reference.shape, 77, np.uint8)
    found = colours(solid_panels(Solid("cyst", reference, reference, None), original))
    assert (77, 77, 77) in found
    assert rgb(AGREEMENT) in found  # where nothing differs, the planes go through the structure


def test_a_volume_is_cut_where_it_differs_most():
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
