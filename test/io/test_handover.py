import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from evaluation.io.handover import DTYPES, MOST_AXES, HandoverError, decode, encode, size_of

ARRAYS = st.sampled_from(sorted(DTYPES)).flatmap(
    lambda dtype: arrays.arrays(
        dtype, arrays.array_shapes(min_dims=1, max_dims=MOST_AXES, min_side=0, max_side=3)
    )
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters())
VALUES = st.recursive(
    SCALARS | ARRAYS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1), inner),
    max_leaves=20,
)


def document(value: object) -> bytes:
    return b"".join(encode(value))


def equal(first: object, second: object) -> bool:
    if isinstance(first, np.ndarray):
        return (
            isinstance(second, np.ndarray)
            and first.dtype == second.dtype
            and first.shape == second.shape
            and first.tobytes() == second.tobytes()
        )
    if isinstance(first, list):
        return len(first) == len(second) and all(map(equal, first, second))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(equal(first[key], second[key]) for key in first)
    return type(first) is type(second) and first == second


@settings(deadline=None)
@given(VALUES)
def test_what_is_handed_over_is_what_was_given(value):
    assert equal(value, decode(document(value)))


def test_arrays_are_read_only_views():
    data = document([np.arange(6, dtype=np.uint8).reshape(2, 3)])
    (array,) = decode(data)
    assert not array.flags.writeable
    assert np.shares_memory(array, np.frombuffer(data, np.uint8))


@pytest.mark.parametrize("kind", [*np.sctypeDict.values()], ids=lambda kind: kind.__name__)
def test_every_number_of_numpy_passes_as_an_array_and_as_a_scalar(kind):
    if not issubclass(kind, np.number | np.bool_) or issubclass(kind, np.timedelta64):
        with pytest.raises(TypeError, match=str(np.ones(1, "f4").astype(kind).dtype)):
            encode(np.ones(1, "f4").astype(kind))
        return
    given = np.ones((2,) * MOST_AXES, kind)
    assert equal(given, decode(document(given)))
    assert decode(document([kind(1)])) == [1]
    assert np.asarray(decode(document(given[(0,) * MOST_AXES]))).dtype in (given.dtype, np.float64)


class _Marked(np.ndarray):
    """An array with a content of its own."""


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (object(), "object"),
        (b"bytes", "bytes"),
        ({1, 2}, "set"),
        (1j, "complex"),
        (np.array(["text"]), "<U4"),
        (np.array([None]), "object"),
        (np.zeros(1, "i4,f8"), "f8"),
        (np.zeros(1, "M8[s]"), "datetime64"),
        (np.ma.masked_array([1, 2], [0, 1]), "MaskedArray"),
        (np.zeros(2).view(_Marked), "_Marked"),
        (np.zeros((1,) * (MOST_AXES + 1)), f"{MOST_AXES + 1} axes"),
    ],
)
def test_what_is_no_number_text_or_array_is_refused_by_its_type(value, named):
    for refuse in (encode, size_of):
        with pytest.raises(TypeError, match=named):
            refuse([{"a": value}])


def forged(entry: object, arrays: bytes = bytes(16)) -> bytes:
    text = json.dumps({"\0array": entry}).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + arrays


FORGED = {
    "nothing": b"",
    "a length beyond the end": struct.pack("<Q", 100) + b"[]",
    "a negative length": b"\xff" * 8,
    "no JSON": struct.pack("<Q", 2) + b"{]",
    "no text": struct.pack("<Q", 2) + b"\xff\xfe",
    "too deep": struct.pack("<Q", 200_000) + b"[" * 200_000,
    "objects": forged(["|O", [1], 0]),
    "another type": forged(["<M8[s]", [1], 0]),
    "a type that is a list": forged([["<f8"], [1], 0]),
    "beyond the end": forged(["|u1", [17], 0]),
    "an offset beyond the end": forged(["|u1", [1], 16]),
    "a negative offset": forged(["|u1", [1], -8]),
    "an odd offset": forged(["|u1", [1], 1]),
    "a negative shape": forged(["|u1", [-1], 0]),
    "a shape that overflows": forged(["<f8", [1 << 39, 1 << 39, 1 << 39], 0]),
    "a shape of floats": forged(["|u1", [1.0], 0]),
    "a shape of booleans": forged(["|u1", [True], 0]),
    "a shape that is none": forged(["|u1", 1, 0]),
    "too many dimensions": forged(["|u1", [1] * 33, 0]),
    "too few parts": forged(["|u1", [1]]),
    "no parts": forged(1),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_documents_are_refused(name):
    with pytest.raises(HandoverError):
        decode(FORGED[name])
