"""Files of other people's writers: read as the same library reads them, or refused for a reason."""

import fnmatch
import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

from evaluation.core.fault import ReadError
from evaluation.io.files import FileStream
from evaluation.io.grey_images import read_numbers
from evaluation.io.volume_header import Geometry, check_geometry
from evaluation.io.volumes import open_volume, write_volume
from test.io.other_writers import LABELS, WRITERS
from test.started import run

REFUSED = {
    "nibabel * [<>]c*": "another type of values",
    "nibabel colours .nii.gz": "another type of values",
    "nibabel unit micron .nii.gz": "the unit 3",
    "nibabel unit meter .nii.gz": "the unit 1",
    "nibabel gantry tilt .nii.gz": "axes x and z at 70.2°",
    "nibabel scaled integers .nii.gz": "voxels stored as value × 1.69e-05 + 0.555008",
    "nibabel contradictory codes .nii.gz": "a header with contradictory positions in space",
    "nibabel fourth axis of 2 .nii.gz": "4 axes",
    "nibabel two axes .nii.gz": "a gzip archive",
    "nibabel Analyze .img": "other content",
    "nibabel MGH .mgz": "a gzip archive",
    "SimpleITK vectors .mha": "3 channels",
    "SimpleITK vectors .nii.gz": "5 axes",
    "SimpleITK vectors .nrrd": "3 × 5 × 7 × 6",
    "SimpleITK vectors .tif": "RGB",
    "SimpleITK header beside .mhd": "a reference to another file",
    "SimpleITK header beside .nhdr": "an NRRD volume",
    "SimpleITK Gipl .gipl": "other content",
    "* .jpg": "a JPEG image (lossy: its values are not exact)",
    "* .gif": "a GIF image",
    "* .webp": "a WebP image",
    "tifffile type c8 *": "64 bits of another type",
    "tifffile stack c8 *": "another type of values",
    "tifffile white is zero .tif": "inverted grey (white is zero)",
    "tifffile coloured palette .tif": "the colour (2, 1, 0)",
    # Both depend on metadata of this library alone: others read one plane.
    "tifffile volumetric .tif": "1 planes of 5 × 7 pixels",
    "tifffile truncated .tif": "1 planes of 5 × 7 pixels",
    "tifffile usual stack of 3 .tif": "RGB",
    "tifffile RGB in planes .tif": "RGB",
    "tifffile two samples .tif": "2 channels",
    "tifffile two sizes .tif": "several pages",
    "Pillow mode coloured .png": "the colour (153, 99, 153)",
    "Pillow mode coloured .bmp": "the colour (153, 99, 153)",
    "Pillow mode coloured .tif": "RGB",
    "Pillow mode transparent .png": "transparent ones",
    "Pillow mode transparent .tif": "2 channels",
    "Pillow mode LA .tif": "2 channels",
    "Pillow mode CMYK .tif": "CMYK",
    "Pillow jpeg *": "compression 7",
    "Pillow zstd *": "compression 50000",
    "Pillow lzma *": "compression 34925",
    "Pillow one transparent value .png": "transparent ones",
    "Pillow turned .*": "orientation 6",
    "Pillow several pages .tif": "several pages",
    "OpenCV four channels .tif": "another one",
    "OpenCV grey .pgm": "other content",
    "pynrrd encoding bzip2 .nrrd": "bzip2",
    "pynrrd encoding ascii .nrrd": "ascii",
    "pynrrd space scanner-xyz .nrrd": "scanner-xyz",
    "pynrrd header beside .nhdr": "an NRRD volume",
    "pynrrd other units .nrrd": "the unit m",
    "pynrrd layers of segments .nrrd": "2 × 5 × 7 × 6",
    "pydicom segmentation .*": "a DICOM file",
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
    patterns = {pattern for pattern in REFUSED if pattern.startswith((writer, "*"))}
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
    assert {pattern for pattern in patterns - used if not pattern.startswith("*")} == set()


def test_there_are_enough_files():
    assert sum(len(list(files())) for files in WRITERS.values()) > 500


PHASE = """
name = "writers"
title = "Files of many writers"
submission = "archive"
[fields.organs]
kind = "label_map"
dimensions = 3
extensions = [".nii.gz", ".nii", ".mha", ".nrrd", ".tif"]
labels = { 1 = "liver", 2 = "spleen", 3 = "kidney" }
[tasks.organs.metrics.dice]
"""


def test_volumes_of_all_writers_are_scored_by_commands(tmp_path):
    """The references are written here, from what the library of the writer reads."""
    phase, submission = tmp_path / "phase", tmp_path / "submission"
    (phase / "organs").mkdir(parents=True)
    (submission / "organs").mkdir(parents=True)
    (phase / "phase.toml").write_text(PHASE)
    count = 0
    for files in WRITERS.values():
        for one in files():
            path = submission / "organs" / f"case{count}{one.extension}"
            refused = any(fnmatch.fnmatchcase(f"{one.name} {one.extension}", name) for name in REFUSED)
            if refused or one.extension not in (".nii.gz", ".nii", ".mha", ".nrrd", ".tif"):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                one.write(path)
                values, geometry = one.read(path)
            if values.shape != LABELS.shape or not set(np.unique(values)) <= {0, 1, 2, 3}:
                path.unlink()
                continue
            place = geometry or Geometry(values.shape)
            extension = ".nii.gz" if count % 2 else ".mha"
            written = write_volume(values.astype(np.uint8), place, extension)
            (phase / "organs" / f"case{count}{extension}").write_bytes(written)
            count += 1
    assert count > 250
    for arguments in (("cases", phase), ("seal", phase)):
        done = run(*arguments)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
    command = [sys.executable, "-m", "evaluation", "evaluate", "--input", submission, "--ground-truth", phase]
    done = subprocess.run([*command, "--output", tmp_path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    found = json.loads((tmp_path / "metrics.json").read_text())
    assert found["cases"]["scored"] == count
    assert {found["aggregates"]["organs"][f"dice_{name}"]["value"] for name in ("liver", "kidney")} == {1.0}
