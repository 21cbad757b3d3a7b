"""Files of other people's writers: read as the same library reads them, or refused for a reason."""

import fnmatch
import warnings

import numpy as np
import pytest

from evaluation.core.fault import ReadError
from evaluation.io.files import FileStream
from evaluation.io.grey_images import read_numbers
from evaluation.io.volume_header import Geometry, check_geometry
from evaluation.io.volumes import open_volume
from test.io.other_writers import WRITERS

REFUSED = {
    "nibabel * [<>]c*": "another type of values",
    "OpenCV four channels .tif": "another one",
    "pynrrd space scanner-xyz .nrrd": "scanner-xyz",
}
"""By writer, name and extension of files: what is found in them. The rest is read as its writer reads it."""


def read(folder, path, values):
    """Return the values of a file, and where they are; images are told by the number of their axes."""
    if values.ndim == 2 or path.suffix not in (".gz", ".nii", ".mha", ".nrrd", ".tif", ".tiff"):
        return read_numbers(memoryview(path.read_bytes()), path.name, None), None
    with FileStream(str(folder), path.name, 1 << 30) as stream:
        volume = open_volume(stream, path.name)
        for problem in check_geometry(volume.header.geometry, Geometry(values.shape[:3])):
            raise problem
        return np.stack([plane.values.copy() for plane in volume.planes()]), volume.header.geometry


def difference(folder, path, values, geometry):
    """Return what differs between a file as it is read here and as its writer reads it, else nothing."""
    try:
        found, place = read(folder, path, values)
    except ReadError as error:
        return error.found
    if found.shape != values.shape:
        return f"shape {found.shape}, not {values.shape}"
    if bool in (found.dtype, values.dtype):
        found, values = found > 0, values > 0
    if found.dtype != values.dtype.newbyteorder(found.dtype.byteorder):
        return f"type {found.dtype}, not {values.dtype}"
    if not np.array_equal(found, values):
        return "other values"
    if geometry is None:
        return ""
    # Both ways, since a file without a position is compared as if it were upright at the origin.
    problems = [*check_geometry(place, geometry), *check_geometry(geometry, place)]
    return "; ".join(map(str, problems))


@pytest.mark.parametrize("writer", WRITERS)
def test_files_of_a_writer_are_read_as_it_reads_them(writer, tmp_path):
    expected, found = {}, {}
    patterns = [pattern for pattern in REFUSED if pattern.startswith(writer)]
    used = set()
    for number, one in enumerate(WRITERS[writer]()):
        # Names of their own: ITK reads `x.nii` where `x.nii.gz` is asked for.
        path = tmp_path / f"{number}{one.extension}"
        name = f"{one.name} {one.extension}"
        assert name not in found
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one.write(path)
            found[name] = difference(tmp_path, path, *one.read(path))
        matching = [pattern for pattern in patterns if fnmatch.fnmatchcase(name, pattern)]
        used.update(matching)
        expected[name] = REFUSED[matching[0]] if matching else ""
    assert found == expected
    assert used == set(patterns)
