import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.arrays import order_in_groups

CONFIDENCES = st.floats(0, 1) | st.sampled_from([0.0, -0.0, 0.5, 1.0, np.inf, -np.inf])


@given(st.lists(st.tuples(st.integers(0, 4), CONFIDENCES), max_size=40), st.sampled_from([1, 1 << 60]))
def test_is_that_of_a_stable_sort(detections: list[tuple[int, float]], apart: int) -> None:
    groups = np.array([group for group, _ in detections], dtype=np.int64) * apart
    confidence = np.array([value for _, value in detections], dtype=np.float64)
    found = order_in_groups(groups, confidence).tolist()
    assert found == sorted(range(len(detections)), key=lambda i: (detections[i][0], -detections[i][1]))
