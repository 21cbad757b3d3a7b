import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.kinds.label_map import ListedLabels
from test.faults import faulted

ORGANS = ListedLabels((1, 2, 3), 0)
CODES = ListedLabels((500, 7), 255)


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", ">u2", "i2", "u4", ">i4", "u8", "i8", "f4", ">f8"])
def test_positions_in_values_of_any_type(dtype):
    assert ORGANS.positions(np.array([[0, 3], [1, 2]], dtype)).tolist() == [[0, 3], [1, 2]]
    if dtype not in ("u1", "i1"):
        found = CODES.positions(np.array([[255, 7], [500, 255]], dtype))
        assert found.dtype == np.uint8
        assert found.tolist() == [[0, 2], [1, 0]]


@given(st.data())
def test_positions_lead_back_to_the_values(data):
    listed = data.draw(st.lists(st.integers(0, 65535), min_size=2, max_size=255, unique=True))
    values = np.array(data.draw(st.lists(st.sampled_from(listed), max_size=30)), np.uint16)
    labels = ListedLabels(listed[1:], listed[0])
    positions = labels.positions(values)
    assert positions.tolist() == [listed.index(value) for value in values]
    assert labels.values(positions).tolist() == values.tolist()


@pytest.mark.parametrize(("listed", "dtype"), [((1, 255), np.uint8), ((1, 256), np.uint16)])
def test_values_have_8_bits_where_they_fit(listed, dtype):
    assert ListedLabels(listed, 0).values(np.zeros(1, np.uint8)).dtype == dtype


@pytest.mark.parametrize(
    ("values", "labels", "found"),
    [
        (np.array([0, 4, 3], "u1"), ORGANS, "expected whole numbers from 0 to 3 only, found 4"),
        (np.array([9, 4, -1, 9], "i2"), ORGANS, "found -1, 4, 9"),
        (np.arange(11, dtype="u1"), ORGANS, "found 4, 5, 6, 7, 8 and 2 more"),
        (np.array([0, 1.5], "f4"), ORGANS, "found 1.5"),
        (np.array([0, np.nan, 7], "f4"), ORGANS, "found 7, nan"),
        (np.array([np.inf], "f8"), ORGANS, "found inf"),
        (np.array([1 << 62], "i8"), ORGANS, f"found {1 << 62}"),
        (np.array([65536 + 1], "u4"), ORGANS, "found 65537"),
        (np.array([256], "u2"), ORGANS, "found 256"),
        (np.array([7, 0], "u2"), CODES, "expected values 7, 255 or 500 only, found 0"),
        (np.array([0, 255], "u1"), ORGANS, "found 255 (grey values? Write the numbers of the labels)"),
        (np.array([2], "u1"), ListedLabels((1,), 0), "expected values 0 or 1 only, found 2"),
    ],
)
def test_unlisted_values_are_named(values, labels, found):
    with pytest.raises(ReadError) as error:
        labels.positions(values)
    assert str(error.value.fault("a.mha")).endswith(found)


def test_254_labels_are_distinct_from_what_is_unlisted():
    labels = ListedLabels(range(1000, 1254), 0)
    assert labels.positions(np.array([1253, 1000], np.uint16)).tolist() == [254, 1]
    with faulted(ReadError, "999", kind=FaultKind.WRONG_VALUE):
        labels.positions(np.array([999], np.uint16))


@pytest.mark.parametrize(
    ("labels", "background"),
    [((), 0), ((1, 1), 0), ((1, 0), 0), (range(1, 256), 0), ((65536,), 0), ((-1,), 0)],
)
def test_lists_that_are_refused(labels, background):
    with pytest.raises(ValueError, match="labels"):
        ListedLabels(labels, background)


def test_nothing_has_no_positions():
    assert ORGANS.positions(np.zeros((0, 4), np.float32)).shape == (0, 4)
