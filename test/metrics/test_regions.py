import numpy as np
import SimpleITK
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.metrics.crop import Crop, crop
from evaluation.metrics.overlap import dice
from evaluation.metrics.regions import grow_by_a_pixel, overlap_of, region_of

MASKS = arrays(np.uint8, (6, 7), elements=st.sampled_from([0, 128, 255, 255]))


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


@settings(max_examples=60, deadline=None)
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
        oracle = SimpleITK.LabelOverlapMeasuresImageFilter()
        images = [SimpleITK.GetImageFromArray(mask.astype(np.uint8)) for mask in (true, predicted)]
        oracle.Execute(*images)
        assert abs(dice(counts, both_empty=1.0) - oracle.GetDiceCoefficient()) < 1e-12


def test_a_region_as_a_whole_image():
    region = Crop(np.array([[True, False], [True, True]]), 1, 2)
    assert region.in_image(4, 5).astype(int).tolist() == [
        [0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 1, 1, 0],
        [0, 0, 0, 0, 0],
    ]


def test_a_pixel_more():
    image = np.array([[0, 0, 7], [7, 0, 0], [0, 7, 0]])
    grow_by_a_pixel(image, 0)
    # The region of the first row ends at the border; that of the second is the first with room to its right.
    assert image.tolist() == [[0, 0, 7], [7, 7, 0], [0, 7, 0]]
