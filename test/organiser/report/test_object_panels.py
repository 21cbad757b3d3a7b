"""Pictures of points and boxes: what is where, in which colour."""

import numpy as np
from PIL import ImageColor

from evaluation.organiser.report.objects import Drawn, DrawnObjects, object_panels
from evaluation.organiser.report.overlays import AGREEMENT, BACKGROUND, FALSE, MISSED


def places(picture, colour):
    """Return the extent of a colour in a picture: left, right, top, bottom; None without it."""
    rows, columns = np.nonzero((np.asarray(picture) == ImageColor.getrgb(colour)).all(axis=2))
    return (columns.min(), columns.max(), rows.min(), rows.max()) if len(rows) else None


def point(shape, colour, *at, label=""):
    return Drawn(shape, at, at, colour, label)


def test_boxes_stand_in_the_whole_image():
    boxes = (Drawn("box", (10, 20), (30, 40), MISSED), Drawn("box", (-50, 60), (20, 90), FALSE))
    picture = object_panels(DrawnObjects(boxes), (100, 150), None)
    assert picture.size == (300, 200)  # two pixels for one
    assert places(picture, MISSED) == (20, 60, 40, 80)
    assert places(picture, FALSE)[0:2] == (0, 40)  # cut off at the image's border


def test_a_landmark_is_shown_with_its_surroundings():
    found = DrawnObjects(
        (point("ring", AGREEMENT, 50.0, 40.0), point("cross", FALSE, 60.0, 40.0)),
        (((60.0, 40.0), (50.0, 40.0)),),
        surroundings=True,
    )
    picture = object_panels(found, (100, 100), None)
    # Eight pixels around the points are shown: columns 42 to 69.
    left, right, *_ = places(picture, FALSE)
    assert (left + right) / 2 == 300 * (60 - 42) / 27
    assert places(picture, "#ffffff") is not None


def test_photographs_and_numbers():
    photograph = np.full((100, 100, 3), (200, 100, 50), np.uint8)
    picture = object_panels(DrawnObjects((point("cross", FALSE, 5.0, 5.0),)), (100, 100), photograph)
    assert picture.getpixel((150, 150)) == (200, 100, 50)
    one = DrawnObjects((point("ring", AGREEMENT, 50, 50),))
    numbered = DrawnObjects((point("ring", AGREEMENT, 50, 50, label="1"),))
    first, second = (np.asarray(object_panels(found, (100, 100), None)) for found in (one, numbered))
    rows, columns = np.nonzero((first != second).any(axis=2))
    assert columns.min() > 150
    assert columns.max() < 180
    assert rows.max() < 170


def test_positions_in_millimetres_need_no_image():
    found = DrawnObjects(
        (point("ring", MISSED, -500.0, 3.0), point("cross", FALSE, 500.0, 3.0)), in_pixels=False
    )
    picture = object_panels(found, (0, 0), None)
    assert picture.size == (300, 300)
    assert picture.getpixel((0, 0)) == BACKGROUND
    assert places(picture, MISSED)[1] < 60 < 240 < places(picture, FALSE)[0]


def test_three_axes_are_seen_along_each_and_z_points_up():
    found = DrawnObjects(
        (point("ring", AGREEMENT, 0, 0, 0), point("cross", FALSE, 0, 0, 10)), in_pixels=False
    )
    picture = object_panels(found, (0, 0), None)
    assert picture.size == (3 * 300 + 2 * 6, 300)
    along_z, along_y, along_x = (picture.crop((at, 0, at + 300, 300)) for at in (0, 306, 612))
    assert places(along_z, FALSE)[2] > 130  # both in the middle
    for view in (along_y, along_x):
        assert places(view, FALSE)[3] < places(view, AGREEMENT)[2]
