import math
import pickle
from collections.abc import Mapping

import numpy as np
import pytest

from evaluation.core.outcome import Died, OrganiserFault, Scored
from evaluation.workers.batches import packed_outcomes, unpacked_outcomes

BOXES = np.arange(12.0).reshape(2, 6)
OUTCOMES = {
    "none": [],
    "floats and whole numbers": [
        Scored({"a": {"dice": 0.5, "missing": 0}}),
        Scored({"a": {"dice": 1, "missing": 1}}),
    ],
    "other columns and tasks in another order": [
        Scored({"a": {"x": 0.1 + 0.2}, "b": {"y": math.inf}}),
        Scored({"b": {"y": -0.0}, "a": {"x": 3.0, "z": "text"}}),
        Scored({}),
        Scored({"a": {}}),
    ],
    "arrays of one form": [Scored({"a": {"boxes": BOXES[:count], "n": count}}) for count in (2, 0, 1)],
    "arrays of several forms": [
        Scored({"a": {"boxes": BOXES}}),
        Scored({"a": {"boxes": BOXES[:, :2]}}),
        Scored({"a": {"boxes": np.array(1.0)}}),
        Scored({"a": {"boxes": np.arange(2)}}),
    ],
    "what failed": [
        Scored({"a": {"dice": 0.0}}, ("a",), "out of time"),
        Died("out of memory"),
        Scored({"a": {"dice": 0.0}}, ("a",)),
        OrganiserFault(("a problem",)),
    ],
}


def plain(value):
    """Return a value in which also types, signs of zero and forms of arrays can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tolist()
    if isinstance(value, Mapping):
        return [(key, plain(entry)) for key, entry in value.items()]
    if isinstance(value, Scored):
        return plain(value.rows), value.worst, value.failure
    return repr(value)


@pytest.mark.parametrize("name", OUTCOMES)
def test_outcomes_come_as_they_were(name):
    found = unpacked_outcomes(packed_outcomes(OUTCOMES[name]))
    assert list(map(plain, found)) == list(map(plain, OUTCOMES[name]))


def test_the_arrays_of_all_cases_are_one_array():
    outcomes = [Scored({"a": {"boxes": BOXES + number}}) for number in range(3)]
    first, second, third = (
        outcome.rows["a"]["boxes"] for outcome in unpacked_outcomes(packed_outcomes(outcomes))
    )
    assert first.base is second.base is third.base


def test_what_cannot_be_pickled_is_not_hidden():
    with pytest.raises((pickle.PicklingError, AttributeError)):
        packed_outcomes([Scored({"a": {"x": lambda: None}})])
