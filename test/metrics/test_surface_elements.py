import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from surface_distance.lookup_tables import create_table_neighbour_code_to_surface_area
from surface_distance.metrics import compute_surface_distances

from evaluation.metrics.crops import Crop, box_of_content
from evaluation.metrics.surfaces import element_codes, element_planes, element_sizes

SPACING = st.sampled_from([(1.0, 1.0, 1.0), (2.5, 0.7, 0.7), (0.33, 5.0, 1.7)])


def sizes_of(mask, spacing_mm):
    codes = element_codes(mask)
    return element_sizes(spacing_mm)[codes[codes > 0]]


@given(st.integers(1, 254), SPACING)
def test_area_of_every_cell_as_surface_distance(code, spacing_mm):
    cell = np.array([code >> bit & 1 for bit in range(7, -1, -1)], dtype=bool).reshape(2, 2, 2)
    expected = create_table_neighbour_code_to_surface_area(spacing_mm)[code]
    found = element_sizes(spacing_mm)[element_codes(cell)[1, 1, 1]]
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
@given(st.integers(0, 2**32 - 1), SPACING, st.booleans())
def test_elements_as_surface_distance(seed, spacing_mm, flat):
    mask = np.random.default_rng(seed).random((4, 5, 6)) > 0.6
    if flat:
        mask, spacing_mm = mask[0], spacing_mm[:2]
    expected = compute_surface_distances(mask, np.ones_like(mask), spacing_mm)["surfel_areas_gt"]
    np.testing.assert_allclose(np.sort(sizes_of(mask, spacing_mm)), np.sort(expected))


def test_a_flat_contour_by_hand():
    # One pixel of 2 × 4 mm: four corners of half a diagonal, each half a pixel off its centre.
    mask = np.array([[False, True]])
    assert sizes_of(mask, (2.0, 4.0)).tolist() == pytest.approx([np.sqrt(5)] * 4)
    assert np.argwhere(element_codes(mask)).tolist() == [[0, 1], [0, 2], [1, 1], [1, 2]]


def test_a_large_box_has_nearly_its_own_surface():
    sizes = sizes_of(np.ones((10, 20, 30), dtype=bool), (1.0, 1.0, 1.0))
    assert sizes.sum() == pytest.approx(2 * (200 + 300 + 600), rel=0.05)


def test_an_empty_mask_has_no_element():
    assert not element_codes(np.zeros((3, 3, 3), dtype=bool)).any()


def test_refuses_other_dimensions():
    with pytest.raises(ValueError, match=r"^mask:"):
        element_codes(np.ones(3, dtype=bool))
    with pytest.raises(ValueError, match=r"^spacing_mm:"):
        element_sizes((1.0,))


@given(st.integers(0, 2**32 - 1))
def test_planes_hold_the_elements_of_the_whole_volume(seed):
    mask = np.random.default_rng(seed).random((4, 5, 6)) > 0.6
    planes = [Crop(plane[box.slices], box.top, box.left) for plane in mask for box in [box_of_content(plane)]]
    codes = np.stack([plane.in_image(6, 7) for plane in element_planes(planes)])
    np.testing.assert_array_equal(codes, element_codes(mask))
