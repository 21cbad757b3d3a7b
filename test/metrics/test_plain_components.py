import numpy as np
import pytest
from scipy import ndimage

from evaluation.metrics import (
    false_negative_volume,
    false_positive_volume,
    lesion_difference,
    lesion_f1,
    panoptic_quality,
)


def components(mask):
    """Yield each component of a mask as a set of pixels, by SciPy's labelling."""
    labelled, count = ndimage.label(mask, np.ones((3,) * mask.ndim))
    for label in range(1, count + 1):
        yield set(map(tuple, np.argwhere(labelled == label).tolist()))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("shape", [(12, 14), (6, 7, 8)])
def test_by_sets_of_pixels(seed, shape):
    generator = np.random.default_rng(seed)
    reference = generator.random(shape) < 0.12
    prediction = np.where(generator.random(shape) < 0.15, ~reference, reference) & (
        generator.random(shape) < 0.9
    )
    made, true = list(components(prediction)), list(components(reference))
    touching = [[one for one in made if one & other] for other in true]
    found = sum(bool(ones) for ones in touching) / len(true)
    hits = [one for one in made if any(one & other for other in true)]
    precise = len(hits) / len(made)
    assert lesion_f1(prediction, reference) == pytest.approx(2 * found * precise / (found + precise))
    assert lesion_difference(prediction, reference) == abs(len(made) - len(true))
    shares = [len(a & b) / len(a | b) for a in made for b in true]
    matched = [share for share in shares if share > 0.5]
    quality = panoptic_quality(prediction, reference)
    assert quality.recognition == pytest.approx(2 * len(matched) / (len(made) + len(true)))
    assert quality.segmentation == pytest.approx(np.mean(matched) if matched else 0)
    assert quality.panoptic == pytest.approx(quality.recognition * quality.segmentation)
    spacing = (0.5, 2.0, 3.0)[: len(shape)]
    voxel = np.prod(spacing)
    alone = sum(len(one) for one in made if one not in hits)
    assert false_positive_volume(prediction, reference, spacing_mm=spacing) == pytest.approx(alone * voxel)
    missed = sum(len(other) for other, ones in zip(true, touching, strict=True) if not ones)
    assert false_negative_volume(prediction, reference) == missed


def test_empty_regions():
    nothing, something = np.zeros((3, 4)), np.eye(3, 4)
    assert lesion_f1(nothing, nothing) == panoptic_quality(nothing, nothing).panoptic == 1
    assert lesion_f1(something, nothing) == panoptic_quality(something, nothing).panoptic == 0
    assert false_positive_volume(something, nothing) == 3
    assert false_positive_volume(nothing, something) == 0


@pytest.mark.parametrize("spacing", [(1.0,), (1.0, 0.0), (1.0, float("nan"))])
def test_a_spacing_that_does_not_fit(spacing):
    with pytest.raises(ValueError, match="spacing_mm: expected 2 finite numbers above 0"):
        false_positive_volume(np.eye(3), np.eye(3), spacing_mm=spacing)


def test_masks_that_do_not_fit():
    with pytest.raises(ValueError, match=r"found \(3, 3\) and \(4, 4\)"):
        lesion_f1(np.eye(3), np.eye(4))
    with pytest.raises(ValueError, match="expected 0 and 1 only"):
        lesion_f1(2 * np.eye(3), np.eye(3))
