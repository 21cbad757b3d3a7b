import gzip
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.fault import ReadError
from evaluation.io.volumes.voxels import GZIP, ZLIB, VoxelBytes
from test.io.volumes.files import Bytes

DATA = bytes(range(200)) * 5
FORMS = {
    None: DATA,
    ZLIB: zlib.compress(DATA),
    GZIP: gzip.compress(DATA[:300], mtime=0) + gzip.compress(DATA[300:], mtime=0),
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
    with pytest.raises(ReadError, match="a file that ends before its voxels"):
        VoxelBytes(Bytes(FORMS[form]), "a volume", form).fill(memoryview(bytearray(len(DATA) + 1)))
    voxels = VoxelBytes(Bytes(FORMS[form]), "a volume", form)
    voxels.fill(memoryview(bytearray(len(DATA) - 1)))
    with pytest.raises(ReadError, match="more voxels than its header says"):
        voxels.finish()


def read_all(voxels):
    voxels.fill(memoryview(bytearray(len(DATA))))
    voxels.finish()


@pytest.mark.parametrize("form", [ZLIB, GZIP])
def test_a_wrong_checksum_is_seen_at_the_end(form):
    compressed = bytearray(zlib.compress(DATA) if form == ZLIB else gzip.compress(DATA, mtime=0))
    compressed[-5 if form == GZIP else -1] ^= 1
    with pytest.raises(ReadError, match="damaged or incomplete image data"):
        read_all(VoxelBytes(Bytes(bytes(compressed)), "a volume", form))


def test_little_of_a_file_is_read_for_the_first_voxels():
    stream = Counting(zlib.compress(np.random.default_rng(0).bytes(1 << 22)))
    VoxelBytes(stream, "a volume", ZLIB).fill(memoryview(bytearray(1000)))
    assert stream.handed_out <= 1 << 18
