"""Files are decoded by their content: a name, a neighbour and the confinement of readers change no answer."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import SimpleITK
import tifffile
from numpy.typing import NDArray
from PIL import Image

import evaluation
from evaluation.evaluate import check
from evaluation.phase.phase import Phase, load_phase
from evaluation.workers.confinement import missing_confinement
from test.challenges.declared.phases import declared_phase

HEIGHT, WIDTH = 16, 32
VALUES = np.zeros((HEIGHT, WIDTH), np.uint8)
VALUES[4:9, 7:20] = 255
SCAN = np.stack([VALUES, VALUES[::-1], VALUES[:, ::-1]])
NAMES = ("one", "two")


def pillow(image: Image.Image, kind: str, **options) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def of_pillow(mode: str, kind: str, **options) -> bytes:
    return pillow(Image.fromarray(VALUES).convert(mode), kind, **options)


def tiff(values: NDArray = VALUES, **options) -> bytes:
    file = io.BytesIO()
    tifffile.imwrite(file, values, photometric="minisblack", **options)
    return file.getvalue()


def itk(extension: str, values: NDArray = VALUES, compressed: bool = False) -> Callable[[Path], bytes]:
    def written(folder: Path) -> bytes:
        path = folder / f"written{extension}"
        SimpleITK.WriteImage(SimpleITK.GetImageFromArray(values), path, useCompression=compressed)
        return path.read_bytes()

    return written


IMAGES: dict[str, bytes | Callable[[Path], bytes]] = {
    "png": of_pillow("L", "PNG"),
    "png of 1 bit": of_pillow("1", "PNG"),
    "png with alpha": of_pillow("LA", "PNG"),
    "png of colours": of_pillow("RGBA", "PNG"),
    "png with a palette": of_pillow("P", "PNG"),
    "damaged png": of_pillow("L", "PNG")[:-30],
    "bmp": of_pillow("L", "BMP"),
    "bmp of 1 bit": of_pillow("1", "BMP"),
    "tiff": tiff(),
    "tiff with lzw": of_pillow("L", "TIFF", compression="tiff_lzw"),
    "tiff with lzw and predictor": of_pillow("L", "TIFF", compression="tiff_lzw", tiffinfo={317: 2}),
    "tiff with packbits": of_pillow("L", "TIFF", compression="packbits"),
    "tiff in deflated tiles": tiff(tile=(16, 16), compression="zlib"),
    "tiff in tiles": tiff(tile=(16, 16)),
    "tiff of 1 bit": of_pillow("1", "TIFF", compression="group4"),
    "damaged tiff": of_pillow("L", "TIFF", compression="tiff_lzw")[:-200],
    "metaimage": itk(".mha"),
    "deflated metaimage": itk(".mha", compressed=True),
    "jpeg": of_pillow("L", "JPEG"),
    "gzip": b"\x1f\x8b\x08\x00",
    "text": b"<!DOCTYPE html>",
}
VOLUMES: dict[str, bytes | Callable[[Path], bytes]] = {
    "metaimage": itk(".mha", SCAN),
    "deflated metaimage": itk(".mha", SCAN, compressed=True),
    "nifti": itk(".nii", SCAN),
    "nrrd": itk(".nrrd", SCAN),
    "gzip of nifti": itk(".nii.gz", SCAN),
    "damaged gzip": b"\x1f\x8b\x08\x00",
    "tiff stack": tiff(SCAN),
    "tiff stack with lzw": pillow(
        Image.fromarray(SCAN[0]),
        "TIFF",
        compression="tiff_lzw",
        save_all=True,
        append_images=[Image.fromarray(plane) for plane in SCAN[1:]],
    ),
    "tiff stack in deflated tiles": tiff(SCAN, tile=(16, 16), compression="zlib"),
    "text": b"<!DOCTYPE html>",
}
EXTENSIONS = {2: (".png", ".bmp", ".tif", ".mha"), 3: (".mha", ".nii", ".nii.gz", ".tif")}
CONTENTS = {2: IMAGES, 3: VOLUMES}
# What a file beside the one that is tried needs, and another extension than its own.
NEIGHBOURS = {2: ("png", ".bmp"), 3: ("tiff stack", ".tif")}

REFERENCES = {2: ("png", ".png"), 3: ("metaimage", ".mha")}

FIELD = '[fields.map]\nkind = "label_map"\nlabels = {{ 255 = "disc" }}\ndimensions = {}\n'
TASK = '\n[tasks.scans]\nmetrics = ["dice"]\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("contents")


@pytest.fixture(scope="module")
def phases(folder: Path) -> dict[tuple[int, int], Phase]:
    """Return phases of one and of two cases, by dimensions and number of cases."""
    found = {}
    for dimensions in (2, 3):
        for count in (1, 2):
            columns: dict[str, list[object]] = {"name": [*NAMES[:count]]}
            columns |= {"width": [WIDTH] * count, "height": [HEIGHT] * count}
            if dimensions == 3:
                columns |= {"depth": [3] * count, "spacing_mm": ["1 1 1"] * count}
                columns |= {"origin_mm": ["0 0 0"] * count, "direction": [""] * count}
            path = folder / f"{dimensions}-{count}"
            declared_phase(path, FIELD.format(dimensions) + TASK, columns)
            kind, extension = REFERENCES[dimensions]
            data = bytes_of(CONTENTS[dimensions][kind], folder)
            written(path, {f"{name}{extension}": data for name in NAMES[:count]})
            evaluation.seal(path)
            found[dimensions, count] = load_phase(path)
    return found


def bytes_of(content: bytes | Callable[[Path], bytes], folder: Path) -> bytes:
    return content if isinstance(content, bytes) else content(folder)


def answers(phase: Phase, submission: Path) -> tuple[list[str], list[str]]:
    """Return the faults that a confined reader finds, and those that this process finds."""
    confined, here = (check(phase.form, submission, workers=workers).faults for workers in (1, 0))
    return [str(fault) for fault in confined], [str(fault) for fault in here]


def written(folder: Path, files: dict[str, bytes]) -> Path:
    (folder / "map").mkdir(parents=True)
    for name, data in files.items():
        (folder / "map" / name).write_bytes(data)
    return folder


@pytest.mark.skipif(bool(missing_confinement()), reason="readers are not confined here")
@pytest.mark.parametrize(
    ("dimensions", "content"), [(number, name) for number, contents in CONTENTS.items() for name in contents]
)
def test_one_answer_for_a_content_whatever_its_name_and_its_neighbour(
    dimensions, content, phases, folder, tmp_path
):
    data = bytes_of(CONTENTS[dimensions][content], folder)
    kind, other_extension = NEIGHBOURS[dimensions]
    other = bytes_of(CONTENTS[dimensions][kind], folder)
    found = set()
    for extension in EXTENSIONS[dimensions]:
        file = f"one{extension}"
        alone = written(tmp_path / f"alone{extension}", {file: data})
        beside = written(tmp_path / f"beside{extension}", {file: data, f"two{other_extension}": other})
        confined, here = answers(phases[dimensions, 1], alone)
        assert confined == here
        confined_beside, _ = answers(phases[dimensions, 2], beside)
        assert [text for text in confined_beside if file in text] == here
        found.add(not here)
    assert len(found) == 1 or dimensions == 3  # volumes are of the format of their name
