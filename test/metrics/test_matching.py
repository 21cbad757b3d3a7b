"""Overlaps and matches of objects, against sets of voxels, dense assignments and loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.ndimage import binary_erosion, distance_transform_edt
from scipy.optimize import linear_sum_assignment

from evaluation.metrics import object_surfaces
from evaluation.metrics.matching import in_order, optimal_pairs, overlaps_of

MAPS = array_shapes(min_dims=2, max_dims=3, max_side=6).flatmap(
    lambda shape: st.tuples(*(arrays(np.uint32, shape, elements=st.integers(0, 6)) for _ in range(2)))
)
THRESHOLDS = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5])


def compared(maps):
    """Return the maps in order, the overlaps, and the dense IoU of all pairs."""
    (made, predictions), (true, references) = map(in_order, maps)
    overlaps = overlaps_of(made, true, len(predictions), len(references))
    shape = (len(predictions), len(references))
    dense, shared = np.zeros(shape), np.zeros(shape)
    for i, j in np.ndindex(shape):
        one, other = maps[0] == predictions[i], maps[1] == references[j]
        shared[i, j] = (one & other).sum()
        dense[i, j] = shared[i, j] / (one | other).sum()
    return overlaps, dense, shared


def pairs_of(overlaps):
    return set(zip(overlaps.pair_prediction.tolist(), overlaps.pair_reference.tolist(), strict=True))


@given(MAPS)
def test_all_pairs_are_those_of_sets(maps):
    overlaps, dense, shared = compared(maps)
    assert pairs_of(overlaps) == set(zip(*map(np.ndarray.tolist, np.nonzero(dense)), strict=True))
    places = overlaps.pair_prediction, overlaps.pair_reference
    assert overlaps.iou == pytest.approx(dense[places])
    assert overlaps.dice == pytest.approx(2 * dense[places] / (1 + dense[places]))
    assert overlaps.pair_voxels.tolist() == shared[places].tolist()
    for values, sizes in zip(maps, (overlaps.prediction_voxels, overlaps.reference_voxels), strict=True):
        assert sizes.tolist() == np.unique(values[values > 0], return_counts=True)[1].tolist()


@given(st.lists(st.integers(0, 2**32 - 1), max_size=20))
def test_objects_of_any_numbers_are_in_order(values):
    objects, numbers = in_order(np.array(values, np.uint32))
    assert numbers.tolist() == sorted({*values} - {0})
    assert [0, *numbers.tolist()] == sorted([0, *numbers.tolist()])
    assert np.append(0, numbers)[objects].tolist() == values


@given(MAPS, THRESHOLDS, st.booleans())
def test_one_to_one_is_as_the_assignment_of_cellseg(maps, threshold, strict):
    """Its cost: −1 for each pair that overlaps enough, and −IoU by twice the number of pairs at most."""
    overlaps, dense, _ = compared(maps)
    enough = (dense > threshold if strict else dense >= threshold) & (dense > 0)
    rows, columns = linear_sum_assignment(-1.0 * enough - dense / (2 * max(1, min(dense.shape))))
    found = overlaps.matched(threshold, strict, "optimal")
    assert len(found.iou) == enough[rows, columns].sum()
    assert found.hits == found.detected == len(found.iou)
    best = linear_sum_assignment(
        np.where(enough, 1 + dense / (2 * max(1, min(dense.shape))), 0), maximize=True
    )
    assert found.iou.sum() == pytest.approx(np.where(enough, dense, 0)[best].sum())


@given(MAPS, THRESHOLDS)
def test_other_ways_to_match_are_loops(maps, threshold):
    overlaps, dense, shared = compared(maps)
    of_each = [j for j in range(dense.shape[1]) if len(dense) and dense[:, j].max() > 0]
    best = {(int(dense[:, j].argmax()), j) for j in of_each if dense[:, j].max() >= threshold}
    assert pairs_of(overlaps.matched(threshold, False, "best")) == best
    most = {(int(shared[:, j].argmax()), j) for j in of_each}
    sizes = (np.unique(values[values > 0], return_counts=True)[1] for values in maps)
    dice = 2 * shared / np.add.outer(*sizes)
    assert pairs_of(overlaps.matched(threshold, True, "most_overlap", "dice")) == {
        pair for pair in most if dice[pair] > threshold
    }


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(0, 4), st.integers(0, 4)),
        elements=st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.4, 0.5]),
    )
)
def test_the_largest_sum_of_gains(overlap):
    """As PI-CAI matches findings: the sum of 1 + overlap over pairs of at least 0.1."""
    first, second = np.nonzero(overlap >= 0.1)
    chosen = optimal_pairs(first, second, 1 + overlap[first, second])
    gains = np.where(overlap >= 0.1, 1 + overlap, 0)
    best = gains[linear_sum_assignment(gains, maximize=True)].sum()
    assert (1 + overlap[first, second])[chosen].sum() == pytest.approx(best)
    for taken in (first[chosen], second[chosen]):
        assert len(taken) == len({*taken.tolist()})


@given(
    arrays(np.uint8, st.sampled_from([(7,), (5, 6), (3, 4, 5)]), elements=st.integers(0, 2), fill=st.just(1))
)
def test_the_surface_of_objects_is_what_an_erosion_of_each_takes_away(objects):
    expected = np.zeros(objects.shape, bool)
    for number in (1, 2):
        expected |= (objects == number) & ~binary_erosion(objects == number)
    np.testing.assert_array_equal(object_surfaces.surface_of_objects(objects), expected)


@pytest.mark.parametrize(("shape", "spacing_mm"), [((40, 50), (0.5, 2.0)), ((8, 14, 15), (3.0, 1.0, 0.7))])
def test_surfaces_of_all_pairs_at_once(shape, spacing_mm):
    random = np.random.default_rng(len(shape))
    true = np.zeros(shape, np.uint16)
    for number in range(1, 9):
        corner = random.integers(0, np.array(shape) - 5)
        true[
            tuple(slice(at, at + size) for at, size in zip(corner, random.integers(2, 7, 3), strict=False))
        ] = number
    made = np.roll(true, 1, 1)
    made[made == 3] = 4
    (made, predictions), (true, references) = map(in_order, (made, true))
    matched = overlaps_of(made, true, len(predictions), len(references)).matched(0, True, "best")
    assert matched.hits < matched.detected  # one serves two
    found = object_surfaces.distances_of_pairs(made, true, matched, spacing_mm)
    pairs = len(matched.iou)
    means, farthest, p90 = [], [], []
    for i, j in zip(matched.pair_prediction, matched.pair_reference, strict=True):
        masks = made == i + 1, true == j + 1
        outlines = [mask & ~binary_erosion(mask) for mask in masks]
        apart = [distance_transform_edt(~outline, spacing_mm) for outline in outlines]
        directed = apart[1][outlines[0]], apart[0][outlines[1]]
        means.append(np.concatenate(directed).mean())
        farthest.append(max(one.max() for one in directed))
        p90.append(max(np.percentile(one, 90) for one in directed))
    assert object_surfaces.average_distances(found, pairs) == pytest.approx(means)
    assert object_surfaces.hausdorff_distances(found, pairs, 100) == pytest.approx(farthest)
    assert object_surfaces.hausdorff_distances(found, pairs, 90) == pytest.approx(p90)
    nothing = matched.take(np.zeros(pairs, bool))
    assert (
        len(
            object_surfaces.hausdorff_distances(
                object_surfaces.distances_of_pairs(made, true, nothing, spacing_mm), 0, 95
            )
        )
        == 0
    )


def test_more_objects_than_sixteen_bits_can_number():
    values = np.arange(70_000, dtype=np.uint32)[::-1]
    places, numbers = in_order(values)
    np.testing.assert_array_equal(places, values)
    np.testing.assert_array_equal(numbers, np.arange(1, 70_000))
    sparse, numbers = in_order(np.array([0, 5, 1 << 30, 5]))
    assert (sparse.tolist(), numbers.tolist()) == ([0, 1, 2, 1], [5, 1 << 30])
