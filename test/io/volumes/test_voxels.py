import gzip
import zlib

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.voxels import GZIPPED, ZLIB, VoxelBytes
from test.faults import faulted
from test.io.volumes.files import Bytes

DATA = bytes(range(200)) * 5
FORMS = {
    None: DATA,
    ZLIB: zlib.compress(DATA),
    GZIPPED: gzip.compress(DATA[:300], mtime=0) + gzip.compress(DATA[300:], mtime=0),
}


class Counting(Bytes):
    """Bytes that can be read on, and how many were handed out."""

    handed_out = 0

    def read(self, count):
        data = super().read(count)
        self.handed_out += len(data)
        return data


@pytest.mark.parametrize("form", FORMS)
@given(sizes=st.lists(st.integers(0, 300), max_size=9))
@settings(max_examples=20)
def test_pieces_of_any_size_make_up_the_data(form, sizes):
    voxels = VoxelBytes(Bytes(FORMS[form]), "a volume", form)
    found = bytearray()
    for size in [*sizes, 10**6]:
        piece = bytearray(min(size, len(DATA) - len(found)))
        voxels.fill(memoryview(piece))
        found += piece
    assert found == DATA
    voxels.finish()


@pytest.mark.parametrize("form", FORMS)
def test_too_few_and_too_many_bytes(form):
    with faulted(ReadError, "a file that ends before its voxels", kind=FaultKind.UNREADABLE):
        VoxelBytes(Bytes(FORMS[form]), "a volume", form).fill(memoryview(bytearray(len(DATA) + 1)))
    voxels = VoxelBytes(Bytes(FORMS[form]), "a volume", form)
    voxels.fill(memoryview(bytearray(len(DATA) - 1)))
    with faulted(ReadError, "more voxels than its header says", kind=FaultKind.UNREADABLE):
        voxels.finish()


def read_all(voxels, data=DATA):
    voxels.fill(memoryview(bytearray(len(data))))
    voxels.finish()


@pytest.mark.parametrize("form", [ZLIB, GZIPPED])
def test_a_wrong_checksum_is_seen_at_the_end(form):
    compressed = bytearray(zlib.compress(DATA) if form == ZLIB else gzip.compress(DATA, mtime=0))
    compressed[-5 if form == GZIPPED else -1] ^= 1
    with faulted(ReadError, "damaged or incomplete image data", kind=FaultKind.UNREADABLE):
        read_all(VoxelBytes(Bytes(bytes(compressed)), "a volume", form))


def test_little_of_a_file_is_read_for_the_first_voxels():
    stream = Counting(zlib.compress(np.random.default_rng(0).bytes(1 << 22)))
    VoxelBytes(stream, "a volume", ZLIB).fill(memoryview(bytearray(1000)))
    assert stream.handed_out <= 1 << 18


ZEROS = st.integers(1, 1 << 20).map(bytes)
SPARSE = st.lists(st.one_of(ZEROS, st.binary(max_size=50)), max_size=6).map(b"".join)


@pytest.mark.parametrize("form", [ZLIB, GZIPPED])
@given(data=SPARSE)
@settings(max_examples=40, deadline=None)
def test_zeros_are_left_as_they_are_and_all_else_is_named(form, data):
    voxels = VoxelBytes(Bytes(zlib.compress(data) if form == ZLIB else gzip.compress(data)), "a volume", form)
    found = bytearray(len(data))
    ranges = voxels.fill(memoryview(found))
    voxels.finish()  # the checksum of zlib is right
    assert found == data
    assert ranges == sorted(ranges)
    for first, last in ranges:
        assert any(data[first:last])
        data = data[:first] + bytes(last - first) + data[last:]
    assert not any(data)


@pytest.mark.parametrize("position", range(4))
def test_a_wrong_checksum_of_zeros_is_seen(position):
    data = bytes(1 << 20)
    compressed = bytearray(zlib.compress(data))
    compressed[-4 + position] ^= 1
    voxels = VoxelBytes(Bytes(bytes(compressed)), "a volume", ZLIB)
    with faulted(ReadError, "damaged or incomplete image data", kind=FaultKind.UNREADABLE):
        read_all(voxels, data)


def test_a_checksum_that_is_cut_short_is_a_file_that_ends_early():
    voxels = VoxelBytes(Bytes(FORMS[ZLIB][:-1]), "a volume", ZLIB)
    with faulted(ReadError, "a file that ends before its voxels", kind=FaultKind.UNREADABLE):
        read_all(voxels)


@given(header=st.binary(min_size=2, max_size=2))
@settings(max_examples=300)
@example(header=bytes([0x78, 0xBB]))  # a dictionary
@example(header=bytes([0x88, 0x1C]))  # a larger window than there is
@example(header=bytes([0x79, 0x18]))  # another method
@example(header=bytes([0x08, 0x1D]))  # the smallest window
def test_headers_are_those_that_zlib_takes(header):
    data = header + FORMS[ZLIB][2:]
    try:
        expected = zlib.decompress(data)
    except zlib.error:
        with faulted(ReadError, "damaged or incomplete image data", kind=FaultKind.UNREADABLE):
            read_all(VoxelBytes(Bytes(data), "a volume", ZLIB))
    else:
        assert expected == DATA
        read_all(VoxelBytes(Bytes(data), "a volume", ZLIB))
