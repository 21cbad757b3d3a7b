import numpy as np
import pytest
import SimpleITK as sitk  # noqa: N813 - the library's usual name
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evaluation.metrics.crop import crop
from evaluation.metrics.overlap import (
    OverlapCounts,
    count_overlap,
    dice,
    f_beta,
    jaccard,
    overlap_of,
    precision,
    recall,
    region_of,
)


def f2(counts, *, both_empty):
    return f_beta(counts, 2, both_empty=both_empty)


ALL = (dice, jaccard, precision, recall, f2)

# intersection, prediction, reference -> dice, jaccard, precision, recall, F2, by hand
TABLE = [
    ((2, 4, 3), (4 / 7, 2 / 5, 1 / 2, 2 / 3, 10 / 16)),
    ((5, 5, 5), (1, 1, 1, 1, 1)),
    ((0, 4, 3), (0, 0, 0, 0, 0)),
    ((1, 1, 10), (2 / 11, 1 / 10, 1, 1 / 10, 5 / 41)),
    ((0, 0, 3), (0, 0, 0, 0, 0)),  # nothing predicted
    ((0, 4, 0), (0, 0, 0, 0, 0)),  # nothing there
    ((0, 0, 0), (0.25, 0.25, 0.25, 0.25, 0.25)),  # both empty: what the caller says
]


@pytest.mark.parametrize(("counts", "expected"), TABLE)
def test_scalars(counts, expected):
    for metric, value in zip(ALL, expected, strict=True):
        found = metric(OverlapCounts(*counts), both_empty=0.25)
        assert type(found) is float
        assert found == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("dtype", [np.int64, np.uint32])
def test_arrays(dtype):
    counts = OverlapCounts(*np.array([row for row, _ in TABLE], dtype=dtype).T)
    for position, metric in enumerate(ALL):
        expected = [values[position] for _, values in TABLE]
        np.testing.assert_allclose(metric(counts, both_empty=0.25), expected, atol=1e-15)


def test_beta_zero_is_precision_even_without_prediction():
    for counts, (_, _, expected, _, _) in TABLE:
        assert f_beta(OverlapCounts(*counts), 0, both_empty=0.25) == pytest.approx(expected)


@pytest.mark.parametrize("both_empty", [0.0, 1.0])
def test_masks_of_zero_size_are_empty(both_empty):
    nothing = np.zeros((0, 5), dtype=bool)
    assert count_overlap(nothing, nothing) == OverlapCounts(0, 0, 0)
    for metric in ALL:
        assert metric(count_overlap(nothing, nothing), both_empty=both_empty) == both_empty


def test_agrees_with_simpleitk():
    generator = np.random.default_rng(7)
    for shape in ((40, 31), (6, 12, 9)):
        prediction, reference = generator.random(shape) < 0.3, generator.random(shape) < 0.6
        overlap = sitk.LabelOverlapMeasuresImageFilter()
        overlap.Execute(
            sitk.GetImageFromArray(prediction.astype(np.uint8)),  # source
            sitk.GetImageFromArray(reference.astype(np.uint8)),  # target: what its errors are a share of
        )
        counts = count_overlap(prediction, reference)
        assert dice(counts, both_empty=1) == pytest.approx(overlap.GetDiceCoefficient(1), abs=1e-12)
        assert jaccard(counts, both_empty=1) == pytest.approx(overlap.GetJaccardCoefficient(1), abs=1e-12)
        false_negative = overlap.GetFalseNegativeError(1)
        assert recall(counts, both_empty=1) == pytest.approx(1 - false_negative, abs=1e-12)


masks = hnp.arrays(bool, (4, 5))


@settings(max_examples=60)
@given(masks, masks, st.sampled_from([0.5, 1.0, 2.0]))
def test_invariants(a, b, beta):
    there, back = count_overlap(a, b), count_overlap(b, a)
    d, j = dice(there, both_empty=1), jaccard(there, both_empty=1)
    p, r = precision(there, both_empty=1), recall(there, both_empty=1)
    assert 0 <= j <= d <= 1
    assert dice(back, both_empty=1) == d
    assert jaccard(back, both_empty=1) == j
    assert precision(back, both_empty=1) == r
    assert d == pytest.approx(2 * j / (1 + j))
    assert (d == 1) == np.array_equal(a, b)
    assert f_beta(there, 1, both_empty=1) == pytest.approx(d)
    if there.intersection:
        harmonic = (1 + beta**2) * p * r / (beta**2 * p + r)
        assert f_beta(there, beta, both_empty=1) == pytest.approx(harmonic)


def test_refused_masks():
    with pytest.raises(ValueError, match=r"prediction: expected shape \(2, 3\), found \(3, 2\)"):
        count_overlap(np.zeros((3, 2), dtype=bool), np.zeros((2, 3), dtype=bool))
    with pytest.raises(ValueError, match=r"masks: expected bool, found uint8 and bool"):
        count_overlap(np.zeros((2, 2), dtype=np.uint8), np.zeros((2, 2), dtype=bool))


MASKS = hnp.arrays(np.uint8, (6, 7), elements=st.sampled_from([0, 128, 255, 255]))


def test_regions_by_hand():
    image = np.full((4, 5), 255, np.uint8)
    image[1:3, 1:4] = 128
    image[1, 2] = 0
    mask = crop(image, 255)
    cup, disc = region_of(mask, [0]), region_of(mask, [0, 128])
    assert cup.values.tolist() == [[False, True, False], [False, False, False]]
    assert disc.values.all()
    assert (cup.top, cup.left) == (disc.top, disc.left) == (1, 1)
    shifted = np.roll(image, 1, axis=1)
    counts = overlap_of(region_of(crop(shifted, 255), [0, 128]), disc)
    assert (counts.intersection, counts.prediction, counts.reference) == (4, 6, 6)


@settings(max_examples=60)
@given(MASKS, MASKS, st.sampled_from([(0,), (0, 128)]))
def test_cropping_changes_no_overlap(prediction, reference, labels):
    counts = overlap_of(region_of(crop(prediction, 255), labels), region_of(crop(reference, 255), labels))
    predicted, true = np.isin(prediction, labels), np.isin(reference, labels)
    assert (counts.intersection, counts.prediction, counts.reference) == (
        (predicted & true).sum(),
        predicted.sum(),
        true.sum(),
    )
    if predicted.any() or true.any():
        oracle = sitk.LabelOverlapMeasuresImageFilter()
        images = [sitk.GetImageFromArray(mask.astype(np.uint8)) for mask in (true, predicted)]
        oracle.Execute(*images)
        assert abs(dice(counts, both_empty=1.0) - oracle.GetDiceCoefficient()) < 1e-12
