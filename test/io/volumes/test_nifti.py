import gzip
import math
import re
import struct

import numpy as np
import pytest

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.volumes.reader import write_volume
from test.io.volumes.files import GEOMETRY, VALUES, read

NIFTI = gzip.decompress(write_volume(VALUES, GEOMETRY, ".nii.gz"))


def nifti(offset, layout, *values):
    data = bytearray(NIFTI)
    struct.pack_into(layout, data, offset, *values)
    return gzip.compress(bytes(data), mtime=0)


def test_a_gzip_file_of_several_members_is_one_volume():
    plain = gzip.decompress(write_volume(VALUES, GEOMETRY, ".nii.gz"))
    data = gzip.compress(plain[:400], mtime=0) + gzip.compress(plain[400:], mtime=0)
    np.testing.assert_array_equal(read(data, ".nii.gz")[1], VALUES)


@pytest.mark.parametrize(
    ("data", "extension", "kind", "found"),
    [
        (gzip.compress(NIFTI, mtime=0)[:-20], ".nii.gz", FaultKind.UNREADABLE, "ends before its voxels"),
        (gzip.compress(NIFTI + b"x", mtime=0), ".nii.gz", FaultKind.UNREADABLE, "more voxels"),
        (gzip.compress(b"x" * 400, mtime=0), ".nii.gz", FaultKind.UNREADABLE, "another header"),
        (NIFTI, ".nii.gz", FaultKind.UNREADABLE, "damaged"),
        (nifti(40, "<h", 2), ".nii.gz", FaultKind.WRONG_SIZE, "2 axes"),
        (nifti(70, "<h", 128), ".nii.gz", FaultKind.WRONG_VALUE, "another type of values"),
        (nifti(112, "<2f", 2.0, 0.0), ".nii.gz", FaultKind.WRONG_VALUE, "the scale 2"),
        (nifti(108, "<f", math.nan), ".nii.gz", FaultKind.UNREADABLE, "offset"),
        (nifti(108, "<f", 1e9), ".nii.gz", FaultKind.UNREADABLE, "offset"),
    ],
)
def test_faults_of_a_file(data, extension, kind, found):
    with pytest.raises(ReadError, match=re.escape(found)) as error:
        read(data, extension)
    assert error.value.kind == kind
