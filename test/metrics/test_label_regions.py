import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from evaluation.metrics.label_regions import around, content_region, label_regions


@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 0.05, 0.5]), st.sampled_from([(4, 5, 6), (1, 5), (9,)]))
def test_regions_are_what_scipy_finds_in_the_whole_map(seed, share, shape):
    generator = np.random.default_rng(seed)
    values = (generator.integers(1, 4, shape) * (generator.random(shape) < share)).astype(np.uint8)
    assert label_regions(values, 4) == ndimage.find_objects(values, max_label=4)
    (content,) = ndimage.find_objects(values > 0, max_label=1)
    assert content_region(values) == (content or tuple(slice(0, 0) for _ in shape))


def test_around_two_regions():
    regions = (slice(1, 3), slice(5, 6)), (slice(2, 4), slice(0, 1))
    assert around(regions) == (slice(1, 4), slice(0, 6))
