"""Submissions with one fault each: from `test.hostile`, and to phases with other kinds of files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import SimpleITK
import tifffile

from test.hostile import algorithm, boxes, points, volumes
from test.hostile.algorithm import data, output
from test.hostile.images import saved
from test.hostile.submissions import ROWS, Row, added, table

Spoil = Callable[[Path], object]

DISC = "disc/T0001.png"
BOXES = "detection_bbox/E00001.txt"
CLASSES = "semantic_masks/E00001_mask.tif"
VOLUME = "cysts/V01.mha"
FEATURES = "stacked-referable-glaucomatous-features.json"


def without(path: str) -> Spoil:
    return lambda folder: (folder / path).unlink()


def box_line(line: str) -> Spoil:
    """Return a change that replaces the boxes of the first image."""
    return data(line.encode() + b"\n", BOXES)


def pages(change: Callable[[np.ndarray], np.ndarray], **options: object) -> Spoil:
    """Return a change of the channels of the first image, an array (class, y, x)."""

    def spoil(folder: Path) -> None:
        changed = change(tifffile.imread(folder / CLASSES))
        tifffile.imwrite(folder / CLASSES, changed, photometric="minisblack", **options)

    return spoil


def volume(change: Callable[[SimpleITK.Image], SimpleITK.Image | None], name: str = VOLUME) -> Spoil:
    """Return a change of the first volume, in place or into another."""

    def spoil(folder: Path) -> None:
        image = SimpleITK.ReadImage(folder / VOLUME)
        changed = change(image)
        (folder / VOLUME).unlink()
        SimpleITK.WriteImage(image if changed is None else changed, folder / name)

    return spoil


def features(change: Callable[[list], object]) -> Spoil:
    """Return a change of the first job's features."""

    def spoil(folder: Path) -> None:
        job = json.loads((folder / "predictions.json").read_text())[0]["pk"]
        output(change, f"{job}/output/{FEATURES}")(folder)

    return spoil


def grey(height: int, width: int, value: int) -> bytes:
    return saved(np.full((height, width), value, np.uint8), "PNG")


def _first_feature(value: object) -> Callable[[list], None]:
    def change(values: list) -> None:
        values[0][next(iter(values[0]))] = value

    return change


ADAM = {
    "mask of another value": data(grey(84, 84, 7), DISC),
    "mask of another size": data(grey(3, 5, 255), DISC),
    "mask missing": without(DISC),
    "mask that is no image": data(b"x", DISC),
    "row missing": table(lambda text: text.replace(b"T0001,0.13714\n", b""), "classification_results.csv"),
    "fovea outside": table(lambda text: text.replace(b"T0001,", b"T0001,1000"), "fovea_location_results.csv"),
    "mask of an unknown image": added("disc/T9999.png"),
}

EDD2020 = {
    "five fields": box_line("BE 0.5 1 2 3"),
    "commas": box_line("BE,0.5,1,2,3,4"),
    "unknown class": box_line("ulcer 0.5 1 2 3 4"),
    "misspelt class": box_line("suspicous 0.5 1 2 3 4"),
    "confidence above 1": box_line("BE 1.5 1 2 3 4"),
    "confidence that is not a number": box_line("BE nan 1 2 3 4"),
    "corners in the wrong order": box_line("BE 0.5 3 2 1 4"),
    "corner outside": box_line("BE 0.5 -1 2 3 4"),
    "too many boxes": box_line("\n".join(["BE 0.5 1 2 3 4"] * 100_000)),
    "boxes missing": without(BOXES),
    "channels missing": without(CLASSES),
    "four channels": pages(lambda channels: channels[:4]),
    "channels of another size": pages(lambda channels: channels[:, :-1]),
    "channels of 16 bits": pages(lambda channels: channels.astype(np.uint16)),
    "channels of another value": pages(lambda channels: channels // 2),
    "channels on their side": pages(lambda channels: channels, extratags=[(274, 3, 1, 6, True)]),
    "channels that are a PNG": data(b"\x89PNG\r\n\x1a\n", CLASSES),
    "channels of nothing": data(b"", CLASSES),
    "channels of a header": data(b"II*\0\x08\0\0\0", CLASSES),
}

CYSTS = {
    "volume missing": without(VOLUME),
    "empty volume": data(b"", VOLUME),
    "volume of text": data(b"x" * 1000, VOLUME),
    "volume of another size": volume(lambda image: image[:, :, 1:]),
    "volume of other spacing": volume(lambda image: image.SetSpacing((1, 2, 3))),
    "volume of another value": volume(lambda image: SimpleITK.Cast(image, SimpleITK.sitkUInt8) + 7),
    "volume of floats": volume(lambda image: SimpleITK.Cast(image, SimpleITK.sitkFloat32) + 0.5),
    "slice for a volume": volume(lambda image: image[:, :, 0]),
    "volume of another format": volume(lambda image: image, "cysts/V01.nrrd"),
    "volume twice": lambda folder: (folder / "cysts/V01.nii.gz").write_bytes(b"x"),
    "volume cut short": lambda folder: (folder / VOLUME).write_bytes((folder / VOLUME).read_bytes()[:-50]),
    "header without sizes": lambda folder: (folder / VOLUME).write_bytes(
        (folder / VOLUME).read_bytes().replace(b"DimSize", b"NoSizes", 1)
    ),
}

STACKS = {
    "features missing for an image": features(lambda values: values.pop() and None),
    "features in one object": features(lambda values: values[0]),
    "a feature of text": features(_first_feature("yes")),
    "a feature of 1": features(_first_feature(1)),
    "an unknown feature": features(lambda values: values[0].update(halo=True)),
}


def _rejected(rows: dict[str, Row]) -> dict[str, Spoil]:
    return {name: row.spoil for name, row in rows.items() if row.expected is None}


ROWS_OF = {
    "refuge-onsite": ROWS,
    "justraigs-phase1": algorithm.ROWS,
    "luna16": points.LUNA16,
    "midog2021": points.MIDOG,
    "cysts": volumes.ROWS,
    "edd2020": boxes.ROWS,
}
"""The rows of `test.hostile` by the phase or example that they are submissions to."""
_OWN = {"adam-onsite": ADAM, "cysts": CYSTS, "edd2020": EDD2020, "justraigs-phase2": STACKS}
FAULTS = {phase: {**_OWN.get(phase, {}), **_rejected(ROWS_OF.get(phase, {}))} for phase in ROWS_OF | _OWN}
