"""Files are decoded by their content: a name, a neighbour and the confinement of readers change no answer."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import SimpleITK
from numpy.typing import NDArray
from PIL import Image

import evaluation
from evaluation.core.formats import image_formats
from evaluation.evaluate import check
from evaluation.io.volume_header import Geometry
from evaluation.io.volumes import write_image
from evaluation.phase.phase import Phase, load_phase
from evaluation.workers.confinement import missing_confinement
from test.challenges.declared.phases import declared_phase
from test.io.images import tiff

HEIGHT, WIDTH = 16, 32
VALUES = np.zeros((HEIGHT, WIDTH), np.uint8)
VALUES[4:9, 7:20] = 255
SCAN = np.stack([VALUES, VALUES[::-1], VALUES[:, ::-1]])


def pillow(mode: str, kind: str, planes: Sequence[NDArray] = (VALUES,), **options) -> bytes:
    file = io.BytesIO()
    first, *others = (Image.fromarray(plane).convert(mode) for plane in planes)
    more = {"save_all": True, "append_images": others} if others else {}
    first.save(file, kind, **more, **options)
    return file.getvalue()


def itk(extension: str, values: NDArray = VALUES, compressed: bool = False) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"written{extension}")
        SimpleITK.WriteImage(SimpleITK.GetImageFromArray(values), path, useCompression=compressed)
        return path.read_bytes()


IMAGES = {
    "png": pillow("L", "PNG"),
    "png with alpha": pillow("LA", "PNG"),
    "png with a palette": pillow("P", "PNG"),
    "damaged png": pillow("L", "PNG")[:-30],
    "bmp": pillow("L", "BMP"),
    "tiff": tiff(VALUES),
    "tiff with lzw": pillow("L", "TIFF", compression="tiff_lzw"),
    "tiff with packbits": pillow("L", "TIFF", compression="packbits"),
    "tiff in deflated tiles": tiff(VALUES, tile=(16, 16), compression="zlib"),
    "tiff of 1 bit": pillow("1", "TIFF", compression="group4"),
    "metaimage": itk(".mha"),
    "deflated metaimage": itk(".mha", compressed=True),
    "jpeg": pillow("L", "JPEG"),
    "gzip": b"\x1f\x8b\x08\x00",
    "text": b"<!DOCTYPE html>",
}
VOLUMES = {
    "metaimage": itk(".mha", SCAN),
    "deflated metaimage": itk(".mha", SCAN, compressed=True),
    "nifti": itk(".nii", SCAN),
    "nrrd": itk(".nrrd", SCAN),
    "gzip of nifti": itk(".nii.gz", SCAN),
    "damaged gzip": b"\x1f\x8b\x08\x00",
    "tiff stack with lzw": pillow("L", "TIFF", SCAN, compression="tiff_lzw"),
    "tiff stack in deflated tiles": tiff(SCAN, tile=(16, 16), compression="zlib"),
    "text": b"<!DOCTYPE html>",
}
PLACE = Geometry((3, HEIGHT, WIDTH))
for dimensions, contents, values in ((2, IMAGES, VALUES[np.newaxis]), (3, VOLUMES, SCAN)):
    for row in image_formats(dimensions, on_request=True):
        if not any(row.begins(data) for data in contents.values()):
            contents[row.name] = write_image(values, PLACE, row.extensions[0], dimensions)
EXTENSIONS = {2: (".png", ".bmp", ".tif", ".mha"), 3: (".mha", ".nii", ".nii.gz", ".tif")}
CONTENTS = {2: IMAGES, 3: VOLUMES}
REFERENCES = {2: ("png", ".png"), 3: ("metaimage", ".mha")}

FIELD = '[fields.map]\nkind = "label_map"\nlabels = {{ 255 = "disc" }}\ndimensions = {}\n'
TASK = '\n[tasks.scans]\nmetrics = ["dice"]\n'


def phase_of(folder: Path, dimensions: int, names: Sequence[str]) -> Phase:
    """Write a sealed phase with a case of each name."""
    columns: dict[str, list[object]] = {"name": [*names]}
    columns |= {"width": [WIDTH] * len(names), "height": [HEIGHT] * len(names)}
    if dimensions == 3:
        columns |= {"depth": [3] * len(names), "spacing_mm": ["1 1 1"] * len(names)}
        columns |= {"origin_mm": ["0 0 0"] * len(names), "direction": [""] * len(names)}
    declared_phase(folder, FIELD.format(dimensions) + TASK, columns)
    kind, extension = REFERENCES[dimensions]
    write_maps(folder, {f"{name}{extension}": CONTENTS[dimensions][kind] for name in names})
    evaluation.seal(folder)
    return load_phase(folder)


def write_maps(folder: Path, files: dict[str, bytes]) -> None:
    (folder / "map").mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / "map" / name).write_bytes(data)


def answers(phase: Phase, submission: Path, workers: int) -> dict[str, list[str]]:
    """Return the faults of each case that are found in a confined reader, or in this process."""
    found: dict[str, list[str]] = {}
    for fault in check(phase.form, submission, workers=workers).faults:
        case, _, extension = Path(fault.file).name.partition(".")
        found.setdefault(case, []).append(str(fault).replace(f"{case}.{extension}", "FILE"))
    return found


@pytest.mark.skipif(bool(missing_confinement()), reason="readers are not confined here")
@pytest.mark.parametrize("dimensions", [2, 3])
def test_one_answer_for_a_content_whatever_its_name_and_its_neighbour(dimensions, tmp_path):
    """A reader imports the decoders of the contents that it meets: of one alone, and of all of them."""
    extensions = EXTENSIONS[dimensions]
    names = [f"case{number}" for number in range(len(extensions))]
    alone = phase_of(tmp_path / "alone", dimensions, names)
    contents = CONTENTS[dimensions]
    all_names = [f"{name}of{number}" for number in range(len(contents)) for name in names]
    beside = phase_of(tmp_path / "beside", dimensions, all_names)
    expected: dict[str, list[str]] = {}
    for number, (content, data) in enumerate(contents.items()):
        submission = tmp_path / content
        write_maps(submission, {f"{name}{end}": data for name, end in zip(names, extensions, strict=True)})
        here = answers(alone, submission, workers=0)
        assert answers(alone, submission, workers=1) == here, content
        assert len(here) in (0, len(names)) or dimensions == 3  # volumes are of the format of their name
        expected |= {f"{name}of{number}": faults for name, faults in here.items()}
        files = {f"{name}of{number}{end}": data for name, end in zip(names, extensions, strict=True)}
        write_maps(tmp_path / "submission", files)
    assert answers(beside, tmp_path / "submission", workers=1) == expected
