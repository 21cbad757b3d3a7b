"""Files of images and volumes as other people's libraries write them, with what the same library reads."""

import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import nibabel
import nrrd
import numpy as np
from nibabel.orientations import axcodes2ornt, inv_ornt_aff

from evaluation.io.volume_header import Geometry

RANDOM = np.random.default_rng(20210504)
LABELS = RANDOM.integers(0, 4, (6, 7, 5)).astype(np.uint8)
"""(z, y, x)"""
PLANE = RANDOM.integers(0, 256, (6, 7)).astype(np.uint8)
BIG = np.kron(RANDOM.integers(0, 3, (9, 7)), np.ones((11, 13))).astype(np.uint8) * 100
NUMBERS = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")
ODD = ("?", "f2", "c8", "c16")
LPS = np.diag([-1.0, -1.0, 1.0])

Read = tuple[np.ndarray, Geometry | None]
"""The values (z, y, x) or (y, x), and where they are."""


@dataclass(frozen=True)
class Written:
    """A file: ``write`` makes it, ``read`` is the same library's own reader."""

    name: str
    extension: str
    write: Callable[[Path], object]
    read: Callable[[Path], Read]


def values_of(dtype: str, values: np.ndarray = LABELS) -> np.ndarray:
    return values.astype(dtype) if dtype != "?" else values > 1


def geometry_of_matrix(shape: tuple[int, ...], matrix: np.ndarray) -> Geometry:
    """Return the geometry of a matrix (4, 4) from voxels to millimetres to the left, back and up."""
    spacing = np.sqrt((matrix[:3, :3] ** 2).sum(axis=0))
    direction = matrix[:3, :3] / spacing
    return Geometry(
        shape, tuple(spacing.tolist()), tuple(matrix[:3, 3].tolist()), tuple(direction.ravel().tolist())
    )


# --- nibabel ---


def read_with_nibabel(path: Path) -> Read:
    image = nibabel.load(path)
    values = np.asanyarray(image.dataobj)
    matrix = image.affine.copy()
    matrix[:3] = LPS @ matrix[:3]
    values = values.reshape([count for axis, count in enumerate(values.shape) if axis < 3 or count > 1]).T
    if "qform_code" in image.header and not image.header["qform_code"] + image.header["sform_code"]:
        # The library then makes up a matrix that centres the volume, other programs another one.
        return values, Geometry(values.shape, tuple(map(float, image.header.get_zooms()[:3])))
    return values, geometry_of_matrix(values.shape, matrix)


def matrix_of(codes: str, degrees: float = 0.0, spacing: tuple[float, ...] = (0.7, 0.8, 2.5)) -> np.ndarray:
    turn = math.radians(degrees)
    cos, sin = math.cos(turn), math.sin(turn)
    matrix = np.eye(4)
    matrix[:3, :3] = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]]) * spacing
    matrix[:3, 3] = (-12.5, 33.0, 1000.25)
    return matrix @ inv_ornt_aff(axcodes2ornt(codes), LABELS.shape[::-1])


ALL_CODES = [
    "".join(pair[number] for pair, number in zip(order, ends, strict=True))
    for order in itertools.permutations(("LR", "PA", "IS"))
    for ends in itertools.product((0, 1), repeat=3)
]


def by_nibabel() -> Iterator[Written]:
    def of(name: str, extension: str, make: Callable[[], Any]) -> Written:
        return Written(f"nibabel {name}", extension, lambda path: make().to_filename(path), read_with_nibabel)

    for number, codes in enumerate(ALL_CODES):
        matrix, extension = matrix_of(codes, 7.5 * (number % 5)), (".nii.gz", ".nii")[number % 2]
        yield of(f"axes {codes}", extension, lambda matrix=matrix: nibabel.Nifti1Image(LABELS.T, matrix))
    for dtype, order in itertools.product((*NUMBERS, *ODD), "<>"):
        values = values_of(dtype).T

        def typed(values=values, order=order, kind=nibabel.Nifti1Image):
            stored = values.astype("u1") if values.dtype == bool else values
            return kind(stored, matrix_of("LAS"), kind.header_class(endianness=order), dtype=stored.dtype)

        if dtype not in ("?", "f2"):
            yield of(f"type {order}{dtype}", ".nii.gz", typed)
            yield of(
                f"second, type {order}{dtype}", ".nii", lambda make=typed: make(kind=nibabel.Nifti2Image)
            )

    def with_header(kind=nibabel.Nifti1Image, matrix=None, values=LABELS, codes=(None, None), **fields):
        image = kind(values.T, matrix_of("RAS", 20) if matrix is None else matrix)
        for setter, code in zip((image.set_sform, image.set_qform), codes, strict=True):
            if code is not None:
                setter(image.affine if code else None, code=code)
        for field, value in fields.items():
            image.header[field] = value
        return image

    def without_place():
        image = nibabel.Nifti1Image(LABELS.T, None)
        image.header.set_zooms((0.7, 0.8, 2.5))
        return image

    for kind in (nibabel.Nifti1Image, nibabel.Nifti2Image):
        for sform, qform in itertools.product((0, 1, 2, 4), (0, 1)):
            name = f"{'second, ' if kind is nibabel.Nifti2Image else ''}codes {sform} {qform}"
            yield of(
                name,
                ".nii.gz",
                lambda kind=kind, codes=(sform, qform): with_header(kind=kind, codes=codes),
            )

    def extended():
        image = with_header()
        image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"a" * 1000))
        return image

    yield of("no codes", ".nii.gz", without_place)
    yield of("extension of the header", ".nii.gz", extended)
    yield of("fourth axis of 1", ".nii.gz", lambda: with_header(values=LABELS[np.newaxis]))
    yield of("one plane", ".nii", lambda: with_header(values=PLANE[np.newaxis]))
    yield of("names in the header", ".nii.gz", lambda: with_header(descrip=b"x" * 80, intent_name=b"label"))
    yield of("intent label", ".nii.gz", lambda: with_header(intent_code=1002, cal_max=3))
    yield of("tiny voxels", ".nii", lambda: with_header(matrix=matrix_of("RAS", 20, (1e-3, 2e-3, 5e-4))))


# --- OpenCV: images ---


def grey_of(values: np.ndarray) -> np.ndarray:
    """Return the grey values of an image of equal colours, else the image."""
    if values.dtype == bool:
        return values
    if values.ndim == 3 and values.shape[2] in (3, 4) and (values[..., :3] == values[..., :1]).all():
        return values[..., 0]
    return values


def by_opencv() -> Iterator[Written]:
    def read(path: Path) -> Read:
        return grey_of(cv2.imread(str(path), cv2.IMREAD_UNCHANGED)), None

    def of(name: str, extension: str, values: np.ndarray, options: tuple[int, ...] = ()) -> Written:
        return Written(
            f"OpenCV {name}", extension, lambda path: cv2.imwrite(str(path), values, options), read
        )

    for extension in (".png", ".bmp", ".tif"):
        yield of("grey", extension, PLANE)
        yield of("three channels", extension, np.stack([PLANE] * 3, axis=-1))
        yield of("four channels", extension, np.dstack([PLANE] * 3 + [np.full_like(PLANE, 255)]))
    for dtype in ("u2", "i2", "i4", "f4", "f8", "i1"):
        yield of(f"type {dtype}", ".tif", values_of(dtype, PLANE))
    yield of("type u2", ".png", PLANE.astype("u2") * 200)
    for code in (1, 5, 8, 32946, 32773):
        for dtype in ("u1", "u2", "f4"):
            yield of(
                f"compression {code} {dtype}",
                ".tif",
                values_of(dtype, BIG),
                (cv2.IMWRITE_TIFF_COMPRESSION, code),
            )
    for level in (0, 9):
        yield of(f"level {level}", ".png", BIG, (cv2.IMWRITE_PNG_COMPRESSION, level))
    yield of("two levels", ".png", (PLANE > 9).astype("u1") * 255, (cv2.IMWRITE_PNG_BILEVEL, 1))
    for strategy in range(5):
        yield of(f"strategy {strategy}", ".png", BIG, (cv2.IMWRITE_PNG_STRATEGY, strategy))
    stack = lambda path: cv2.imwritemulti(str(path), list(LABELS))  # noqa: E731
    yield Written(
        "OpenCV stack",
        ".tif",
        stack,
        lambda path: (np.stack(cv2.imreadmulti(str(path), flags=cv2.IMREAD_UNCHANGED)[1]), None),
    )


# --- pynrrd ---

_SPACES = {
    "left-posterior-superior": LPS @ LPS,
    "LPS": LPS @ LPS,
    "right-anterior-superior": LPS,
    "RAS": LPS,
    "left-anterior-superior": np.diag([1.0, -1.0, 1.0]),
    "LAS": np.diag([1.0, -1.0, 1.0]),
    "scanner-xyz": np.eye(3),
}


def read_with_pynrrd(path: Path) -> Read:
    values, header = nrrd.read(str(path))
    values = values.T
    if "space directions" not in header or values.ndim != 3:
        spacing = tuple(map(float, header.get("spacings", (1.0, 1.0, 1.0))))
        return values, Geometry(values.shape, spacing)
    signs = _SPACES[header["space"]]
    matrix = np.eye(4)
    matrix[:3, :3] = signs @ np.asarray(header["space directions"]).T
    matrix[:3, 3] = signs @ np.asarray(header.get("space origin", (0, 0, 0)))
    return values, geometry_of_matrix(values.shape, matrix)


def by_pynrrd() -> Iterator[Written]:
    turned = matrix_of("LPS", 10)
    place = {
        "space": "left-posterior-superior",
        "space directions": turned[:3, :3].T,
        "space origin": turned[:3, 3],
        "kinds": ["domain"] * 3,
    }

    def of(
        name: str,
        values: np.ndarray = LABELS,
        header: dict[str, Any] | None = None,
        extension=".nrrd",
        **options: Any,
    ) -> Written:
        header = place if header is None else header
        return Written(
            f"pynrrd {name}",
            extension,
            lambda path: nrrd.write(str(path), values.T, dict(header), **options),
            read_with_pynrrd,
        )

    for dtype, encoding in itertools.product(NUMBERS, ("raw", "gzip")):
        yield of(f"type {dtype} {encoding}", values_of(dtype), header={**place, "encoding": encoding})
    for space in _SPACES:
        yield of(f"space {space}", header={**place, "space": space})
    for endian in ("little", "big"):
        yield of(f"order {endian}", values_of("i2"), header={**place, "endian": endian})
    for level in (1, 9):
        yield of(f"level {level}", compression_level=level)
    yield of("spacings", header={"spacings": [0.7, 0.8, 2.5]})
    yield of("nothing", header={})
    yield of("order of C", index_order="F", values=np.ascontiguousarray(LABELS))
    yield of("own keys", header={**place, "Segment0_Name": "liver", "Segment0_LabelValue": "1"})
    yield of("units", header={**place, "space units": ["mm", "mm", "mm"]})
    yield of("no origin", header={key: value for key, value in place.items() if key != "space origin"})
    yield of("measurement frame", header={**place, "measurement frame": np.eye(3)})


WRITERS: dict[str, Callable[[], Iterator[Written]]] = {
    "nibabel": by_nibabel,
    "OpenCV": by_opencv,
    "pynrrd": by_pynrrd,
}


def read_with_its_own(path: Path, written: Written) -> Read:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return written.read(path)
