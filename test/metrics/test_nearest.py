"""Every way to the nearest voxel gives what all pairs give."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from evaluation.metrics import nearest
from evaluation.metrics.nearest import coordinates, nearest_distances

SPACING = (0.05, 0.002, 0.0117)
VOLUMES = arrays(np.bool_, (3, 6, 5))

# Limits that choose: SciPy's tree, scikit-learn's, the transform of all, of halves whose margins grow.
SLOW_SEARCH = {"_SEARCH": 1e9, "_SAMPLED": 1}
WAYS = {
    "light tree": {},
    "bounded tree": {**SLOW_SEARCH, "_MAX_TRANSFORMED": 0},
    "quicker transform": SLOW_SEARCH,
    "transform": {"MAX_SEARCHED": 0},
    "transform of halves": {"MAX_IN_TREE": 0, "_MAX_TRANSFORMED": 0},
    "growing transform": {"MAX_SEARCHED": 0, "_MAX_TRANSFORMED": 0, "_FIRST_MARGIN": 0.01},
}


def nearest_by(way, here, there, spacing=SPACING):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in WAYS[way].items():
            patch.setattr(nearest, name, value)
        return nearest_distances(here.view(np.uint8), there.view(np.uint8), spacing)


def all_pairs(here, there):
    return cdist(np.argwhere(here) * SPACING, np.argwhere(there) * SPACING).min(axis=1)


@pytest.mark.parametrize("way", WAYS)
@given(data=st.data())
@settings(max_examples=35)
def test_every_way_is_what_all_pairs_give(way, data):
    here, there = data.draw(VOLUMES), data.draw(VOLUMES)
    if not here.any() or not there.any():
        return
    found = nearest_by(way, here, there)
    np.testing.assert_allclose(found, all_pairs(here, there), rtol=1e-12, atol=0)
    assert found.dtype == np.float64


@given(volume=VOLUMES)
@settings(max_examples=15)
def test_coordinates_are_in_the_order_of_the_volume(volume):
    np.testing.assert_array_equal(coordinates(volume.view(np.uint8)), np.argwhere(volume))


def test_a_source_far_from_what_is_searched_is_found():
    here, there = np.zeros((2, 300, 4, 2), dtype=bool)
    here[0, 0, 0] = here[9, 3, 1] = there[299, 2, 1] = True
    found = nearest_by("growing transform", here, there)
    np.testing.assert_allclose(found, all_pairs(here, there), rtol=1e-12)


@given(volume=VOLUMES, other=VOLUMES)
@settings(max_examples=15)
def test_every_way_gives_the_same_bits(volume, other):
    if not volume.any() or not other.any():
        return
    found = {np.sort(nearest_by(way, volume, other, (0.3, 0.7, 0.7))).tobytes() for way in WAYS}
    assert len(found) == 1
