import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from surface_distance.lookup_tables import create_table_neighbour_code_to_surface_area
from surface_distance.metrics import compute_surface_distances

from evaluation.metrics.crop import Crop, box_of_content
from evaluation.metrics.surface_elements import element_areas, element_planes, surface_elements

SPACING = st.sampled_from([(1.0, 1.0, 1.0), (2.5, 0.7, 0.7), (0.33, 5.0, 1.7)])


@given(st.integers(1, 254), SPACING)
def test_area_of_every_cell_as_surface_distance(code, spacing_mm):
    cell = np.array([code >> bit & 1 for bit in range(7, -1, -1)], dtype=bool).reshape(2, 2, 2)
    expected = create_table_neighbour_code_to_surface_area(spacing_mm)[code]
    found = surface_elements(cell, spacing_mm)
    centre = (found.positions_mm == np.array(spacing_mm) / 2).all(axis=1)
    assert found.sizes[centre] == pytest.approx(expected, rel=1e-12)


@pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
@given(st.integers(0, 2**32 - 1), SPACING, st.booleans())
def test_elements_as_surface_distance(seed, spacing_mm, flat):
    mask = np.random.default_rng(seed).random((4, 5, 6)) > 0.6
    if flat:
        mask, spacing_mm = mask[0], spacing_mm[:2]
    expected = compute_surface_distances(mask, np.ones_like(mask), spacing_mm)["surfel_areas_gt"]
    np.testing.assert_allclose(np.sort(surface_elements(mask, spacing_mm).sizes), np.sort(expected))


def test_a_flat_contour_by_hand():
    # One pixel of 2 × 4 mm: four corners of half a diagonal, each half a pixel off its centre.
    found = surface_elements(np.array([[False, True]]), (2.0, 4.0))
    assert found.sizes.tolist() == pytest.approx([np.sqrt(5)] * 4)
    assert found.positions_mm.tolist() == [[-1, 2], [-1, 6], [1, 2], [1, 6]]


def test_a_large_box_has_nearly_its_own_surface():
    found = surface_elements(np.ones((10, 20, 30), dtype=bool), (1.0, 1.0, 1.0))
    assert found.sizes.sum() == pytest.approx(2 * (200 + 300 + 600), rel=0.05)


def test_an_empty_mask_has_no_element():
    assert surface_elements(np.zeros((3, 3, 3), dtype=bool), (1.0, 1.0, 1.0)).sizes.size == 0


@pytest.mark.parametrize(("shape", "spacing_mm"), [((3,), (1.0,)), ((2, 2), (1.0, 1.0, 1.0))])
def test_refuses_other_dimensions(shape, spacing_mm):
    with pytest.raises(ValueError, match="expected 2 or 3 dimensions"):
        surface_elements(np.ones(shape, dtype=bool), spacing_mm)


@given(st.integers(0, 2**32 - 1), SPACING)
def test_planes_hold_the_elements_of_the_whole_volume(seed, spacing_mm):
    mask = np.random.default_rng(seed).random((4, 5, 6)) > 0.6
    planes = [Crop(plane[box.slices], box.top, box.left) for plane in mask for box in [box_of_content(plane)]]
    codes = np.stack([plane.in_image(6, 7) for plane in element_planes(planes)])
    expected = surface_elements(mask, spacing_mm)
    np.testing.assert_array_equal((np.argwhere(codes) - 0.5) * spacing_mm, expected.positions_mm)
    np.testing.assert_array_equal(element_areas(spacing_mm)[codes[codes > 0]], expected.sizes)
