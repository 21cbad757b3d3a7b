import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.io.volume_header import Geometry
from evaluation.io.volumes import open_volume, write_volume
from evaluation.io.voxels import Plane, whole_plane
from evaluation.metrics.crops import Box
from test.io.volumes.files import Bytes

SHAPES = st.tuples(*[st.integers(1, 9)] * 3)


def test_the_rows_that_are_looked_at_change_nothing():
    values = np.zeros((5, 6), dtype=np.float32)
    values[2:4, [1, 4]] = 0.5
    for plane in (whole_plane(values), Plane(values, 2, 4), Plane(values, 1, 5)):
        assert plane.crop.box == Box(2, 4, 1, 5)
        np.testing.assert_array_equal(plane.crop.values, values[2:4, 1:5])


@pytest.mark.parametrize("plane", [whole_plane(np.zeros((5, 6))), Plane(np.zeros((5, 6)), 3, 3)])
def test_an_empty_plane_lies_at_the_corner(plane):
    assert plane.crop.box == Box(0, 0, 0, 0)
    assert plane.crop.values.shape == (0, 0)


@pytest.mark.parametrize("extension", [".mha", ".nii.gz", ".nii", ".tif"])
@given(
    values=arrays(np.int16, st.tuples(*[st.integers(1, 9)] * 3), fill=st.just(0)), planes=st.integers(1, 9)
)
def test_nothing_lies_outside_the_rows_of_a_file(extension, values, planes):
    data = write_volume(values, Geometry(values.shape), extension)
    volume = open_volume(Bytes(data), f"V1{extension}", planes * values[0].nbytes)
    for expected, plane in zip(values, volume.planes(), strict=True):
        np.testing.assert_array_equal(plane.values, expected)
        np.testing.assert_array_equal(plane.crop.in_image(*expected.shape), expected)


def test_empty_planes_are_known_without_looking_at_them():
    values = np.zeros((4, 512, 1024), dtype=np.uint8)
    values[1, 300, 7] = values[3, 511, 1023] = 1
    volume = open_volume(Bytes(write_volume(values, Geometry(values.shape), ".mha")), "V1.mha", values.nbytes)
    rows = [(plane.top, plane.bottom) for plane in volume.planes()]
    assert rows[0] == rows[2] == (0, 0)
    assert rows[1][0] <= 300 < rows[1][1]
    assert rows[3][0] <= 511 < rows[3][1]
