import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage

from evaluation.challenges.cysts.components import LEVELS, ComponentCounter
from evaluation.metrics.crops import box_of_content

SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(1, 6))
MASKS = SHAPES.flatmap(lambda shape: arrays(np.bool_, shape))


def counted(mask, touching, levels, across_planes, cropped=True, **options):
    counter = ComponentCounter(mask.shape[2], across_planes, **options)
    for plane, by, level in zip(mask, touching, levels, strict=True):
        box = box_of_content(plane) if cropped else None
        cut = box.slices if box else (slice(None), slice(None))
        corner = (box.top, box.left) if box else (0, 0)
        counter.add(plane[cut], by[cut], corner, level[cut])
    return counter.counts()


def expected(mask, touching, levels, across_planes):
    """SciPy's components, looked at one by one."""
    structure = np.ones((3, 3, 3), dtype=bool)
    if not across_planes:
        structure[[0, 2]] = False
    labels, number = ndimage.label(mask, structure)
    counts = np.zeros((LEVELS, 2), dtype=int)
    for component in range(1, number + 1):
        inside = labels == component
        counts[levels[inside].max(), int(touching[inside].any())] += 1
    return counts


@pytest.mark.parametrize("together", [1, 5, 1 << 14])
@given(data=st.data(), cropped=st.booleans(), across_planes=st.booleans(), mask=MASKS)
@settings(max_examples=40)
def test_components_are_those_of_scipy(together, cropped, across_planes, data, mask):
    touching = data.draw(arrays(np.bool_, mask.shape))
    levels = np.where(mask, data.draw(arrays(np.uint8, mask.shape, elements=st.integers(1, 5))), 0)
    found = counted(mask, touching, levels, across_planes, cropped, runs_together=together)
    np.testing.assert_array_equal(found, expected(mask, touching, levels, across_planes))
