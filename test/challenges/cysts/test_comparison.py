import numpy as np
import pytest
from scipy import ndimage

from evaluation.challenges.cysts.rules import compare_planes
from evaluation.metrics.crops import Crop, content_of

SHAPE = (6, 20, 30)


def compared(prediction, level, confidence, annotators=(), across_planes=True):
    volumes = prediction, level, confidence, *annotators
    planes = ([content_of(volume[z]) for volume in volumes] for z in range(SHAPE[0]))
    return compare_planes(planes, 0.01, across_planes)


def random_volumes(seed, share=0.1):
    rng = np.random.default_rng(seed)
    level = np.where(rng.random(SHAPE) < share, rng.integers(1, 6, SHAPE), 0).astype(np.uint8)
    confidence = np.where(level > 0, rng.random(SHAPE) * 0.9 + 0.1, 0).astype(np.float32)
    prediction = np.where(rng.random(SHAPE) < share, rng.random(SHAPE), 0).astype(np.float32)
    return prediction, level, confidence


@pytest.mark.parametrize("seed", range(2))
def test_counts_and_sums_are_those_of_whole_arrays(seed):
    prediction, level, confidence = random_volumes(seed)
    annotators = [np.roll(level, shift, axis=2) for shift in (1, 2)]
    found = compared(prediction, level, confidence, annotators)
    marked, a, b = prediction >= 0.01, prediction.astype(float), confidence.astype(float)
    assert found.sums == pytest.approx(((a * b).sum(), (a * a).sum(), (b * b).sum()), rel=1e-12)
    both = annotators[0].astype(bool) & annotators[1].astype(bool)
    for counts, reference in zip(
        (found.overlap, *found.of_annotators),
        (level, *annotators, both),
        strict=True,
    ):
        expected = ((marked & (reference > 0)).sum(), marked.sum(), (reference > 0).sum())
        assert (counts.intersection, counts.prediction, counts.reference) == expected
    assert found.voxels.tolist() == [0, *(np.sum(level == c) for c in range(1, 6))]
    assert found.found.tolist() == [0, *(np.sum(marked & (level == c)) for c in range(1, 6))]
    values, voxels = np.unique(confidence[level > 0], return_counts=True)
    np.testing.assert_array_equal(found.confidences, values)
    np.testing.assert_array_equal(found.voxels_of_confidence, voxels)


@pytest.mark.parametrize("across_planes", [True, False])
@pytest.mark.parametrize("share", [0.01, 0.04])
def test_components_join_planes_only_where_these_are_near(share, across_planes):
    """Against SciPy: neighbours are those of a plane, and of the planes beside it if these are near."""
    prediction, level, confidence = random_volumes(7, share)
    found = compared(prediction, level, confidence, across_planes=across_planes)
    neighbours = np.ones((3, 3, 3))
    neighbours[[0, 2]] = across_planes
    marked = prediction >= 0.01
    components, count = ndimage.label(marked, neighbours)
    touched = np.unique(components[level > 0])
    assert found.false_components == count - np.count_nonzero(touched)
    cysts, count = ndimage.label(level > 0, neighbours)
    highest = ndimage.maximum(level, cysts, range(1, count + 1)).astype(int)
    seen = np.isin(range(1, count + 1), np.unique(cysts[marked]))
    expected = np.zeros((6, 2), int)
    np.add.at(expected, (highest, seen.astype(int)), 1)
    assert found.cysts.tolist() == expected.tolist()


def test_planes_that_are_given_cut_keep_their_place():
    marks = np.zeros((4, 3), np.float32)
    marks[1:, 2] = 1
    planes = Crop(marks, (5, 6)), Crop(marks[1:].astype(np.uint8), (7, 9)), Crop(marks[1:], (7, 9))
    result = compare_planes([planes], marked_from=0.5, across_planes=True)
    # Rows 6 to 8 of column 8, and rows 7 to 9 of column 11.
    assert np.argwhere(result.marked).tolist() == [[0, row, 0] for row in (0, 1, 2)]
    assert np.argwhere(result.annotated).tolist() == [[0, row, 3] for row in (1, 2, 3)]
    assert result.overlap.intersection == 0
    assert result.false_components == 1


def test_a_confidence_without_a_level_is_refused():
    prediction, level, confidence = random_volumes(1)
    confidence[0][level[0] == 0] = 0.5
    with pytest.raises(ValueError, match="confidence 0 where the level is 0"):
        compared(prediction, level, confidence)
