"""`evaluation.metrics.distinct` against sets of Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.distinct import distinct


@given(st.lists(st.integers(-5, 5)))
def test_has_every_value_once_and_ascending(values: list[int]) -> None:
    found = distinct(np.array(values, dtype=np.int64))
    assert found.tolist() == sorted(set(values))
    assert found.dtype == np.int64


def test_takes_any_shape_and_infinite_scores() -> None:
    values = np.array([[np.inf, -np.inf], [0.5, np.inf]])
    assert distinct(values).tolist() == [-np.inf, 0.5, np.inf]
