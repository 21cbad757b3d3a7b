"""Files of images and volumes as other people's libraries write them, with what the same library reads."""

import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import imageio.v3
import nibabel
import nrrd
import numpy as np
import pydicom
import SimpleITK
import tifffile
from nibabel.orientations import axcodes2ornt, inv_ornt_aff
from PIL import Image
from pydicom.dataset import FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, SegmentationStorage, generate_uid

from evaluation.io.volume_header import Geometry

RANDOM = np.random.default_rng(20210504)
LABELS = RANDOM.integers(0, 4, (6, 7, 5)).astype(np.uint8)
"""(z, y, x)"""
PLANE = RANDOM.integers(0, 256, (6, 7)).astype(np.uint8)
BIG = np.kron(RANDOM.integers(0, 3, (9, 7)), np.ones((11, 13))).astype(np.uint8) * 100
INTEGERS = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8")
NUMBERS = (*INTEGERS, "f4", "f8")
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
    for unit in ("mm", "micron", "meter", "unknown"):

        def in_unit(unit=unit):
            image = with_header()
            image.header.set_xyzt_units(unit, "sec")
            return image

        yield of(f"unit {unit}", ".nii.gz", in_unit)

    def sheared():
        matrix = matrix_of("RAS")
        matrix[0, 2] = 0.9
        return with_header(matrix=matrix)

    def scaled():
        image = nibabel.Nifti1Image((LABELS * 0.37).T, matrix_of("RAS"))
        image.set_data_dtype(np.int16)
        return image

    def extended():
        image = with_header()
        image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"a" * 1000))
        return image

    def contradictory():
        image = with_header()
        image.set_qform(matrix_of("RAS", 40), code=1)
        image.set_sform(matrix_of("RAS", 20), code=1)
        return image

    def coloured():
        values = np.zeros(LABELS.T.shape, dtype=[("R", "u1"), ("G", "u1"), ("B", "u1")])
        return nibabel.Nifti1Image(values, matrix_of("RAS"))

    yield of("no codes", ".nii.gz", without_place)
    yield of("gantry tilt", ".nii.gz", sheared)
    yield of("scaled integers", ".nii.gz", scaled)
    yield of("extension of the header", ".nii.gz", extended)
    yield of("contradictory codes", ".nii.gz", contradictory)
    yield of("colours", ".nii.gz", coloured)
    yield of("fourth axis of 1", ".nii.gz", lambda: with_header(values=LABELS[np.newaxis]))
    yield of("fourth axis of 2", ".nii.gz", lambda: with_header(values=np.stack([LABELS, LABELS])))
    yield of("two axes", ".nii.gz", lambda: with_header(values=PLANE))
    yield of("one plane", ".nii", lambda: with_header(values=PLANE[np.newaxis]))
    yield of("names in the header", ".nii.gz", lambda: with_header(descrip=b"x" * 80, intent_name=b"label"))
    yield of("intent label", ".nii.gz", lambda: with_header(intent_code=1002, cal_max=3))
    yield of("tiny voxels", ".nii", lambda: with_header(matrix=matrix_of("RAS", 20, (1e-3, 2e-3, 5e-4))))
    yield of("Analyze", ".img", lambda: nibabel.Nifti1Pair(LABELS.T, matrix_of("RAS")))
    yield of("MGH", ".mgz", lambda: nibabel.MGHImage(LABELS.T, matrix_of("RAS")))


# --- SimpleITK ---


def read_with_simpleitk(path: Path) -> Read:
    image = SimpleITK.ReadImage(str(path))
    values = SimpleITK.GetArrayFromImage(image)
    if image.GetDimension() == 2:
        return grey_of(values), None
    return values, Geometry(values.shape[:3], image.GetSpacing(), image.GetOrigin(), image.GetDirection())


def by_simpleitk() -> Iterator[Written]:
    def image_of(values: np.ndarray, codes: str = "LPS", degrees: float = 15) -> SimpleITK.Image:
        image = SimpleITK.GetImageFromArray(values, isVector=values.ndim == 4)
        if image.GetDimension() == 3:
            place = geometry_of_matrix(LABELS.shape, np.diag([-1, -1, 1, 1]) @ matrix_of(codes, degrees))
            image.SetSpacing(place.spacing_mm)
            image.SetOrigin(place.origin_mm)
            image.SetDirection(place.direction)
        return image

    def of(name: str, extension: str, image: SimpleITK.Image, compress: bool = True) -> Written:
        return Written(
            f"SimpleITK {name}",
            extension,
            lambda path: SimpleITK.WriteImage(image, str(path), useCompression=compress),
            read_with_simpleitk,
        )

    for extension, dtype in itertools.product((".mha", ".nii.gz", ".nii", ".nrrd", ".tif"), NUMBERS):
        for compress in (True, False) if extension != ".tif" or dtype not in ("u8", "i8", "f8") else ():
            yield of(f"type {dtype} {compress}", extension, image_of(values_of(dtype)), compress)
    for codes, extension in zip(ALL_CODES, itertools.cycle((".mha", ".nrrd", ".nii.gz"))):
        yield of(f"axes {codes}", extension, image_of(LABELS, codes))
    for dtype, extensions in {"u1": (".png", ".bmp", ".jpg"), "u2": (".png",), "f4": ()}.items():
        for extension in (*extensions, ".tif", ".mha"):
            yield of(f"plane {dtype}", extension, image_of(values_of(dtype, PLANE)))
    for extension in (".mha", ".nii.gz", ".nrrd", ".tif"):
        yield of("vectors", extension, image_of(np.stack([LABELS] * 3, axis=-1)))
    yield of("header beside", ".mhd", image_of(LABELS))
    yield of("header beside", ".nhdr", image_of(LABELS))
    yield of("Gipl", ".gipl", image_of(LABELS))
    tagged = image_of(LABELS)
    for key in ("Comment", "0010|0010", "anything at all", "Modality"):
        tagged.SetMetaData(key, "a value: with = signs")
    for extension in (".mha", ".nrrd", ".nii.gz"):
        yield of("metadata", extension, tagged)


# --- tifffile ---


def read_with_tifffile(path: Path) -> Read:
    return grey_of(tifffile.imread(path)), None


def by_tifffile() -> Iterator[Written]:
    def of(name: str, values: np.ndarray, extension: str = ".tif", **options: Any) -> Written:
        options = {"photometric": "minisblack", **options}
        return Written(
            f"tifffile {name}",
            extension,
            lambda path: tifffile.imwrite(path, values, **options),
            read_with_tifffile,
        )

    for dtype, order, compression in itertools.product((*NUMBERS, *ODD[:3]), "<>", (None, "zlib")):
        options = {"byteorder": order, "compression": compression}
        yield of(f"type {dtype} {order} {compression}", values_of(dtype, PLANE), **options)
        yield of(f"stack {dtype} {order} {compression}", values_of(dtype), **options)
    for name, layout in {
        "tiles": {"tile": (32, 16)},
        "strips": {"rowsperstrip": 7},
        "big": {"bigtiff": True},
        "big tiles": {"bigtiff": True, "tile": (64, 64), "byteorder": ">"},
    }.items():
        for compression in (None, "zlib"):
            for dtype in ("u1", "u2", "f4", "?"):
                yield of(
                    f"{name} {dtype} {compression}",
                    values_of(dtype, BIG),
                    **layout,
                    compression=compression,
                )
    yield of("white is zero", PLANE, photometric="miniswhite")
    greys = np.stack([np.arange(256) * 257] * 3).astype("u2")
    yield of("palette", PLANE, photometric="palette", colormap=greys)
    yield of(
        "coloured palette", PLANE, photometric="palette", colormap=greys // np.array([[1], [2], [3]], "u2")
    )
    for dtype in ("u1", "?"):
        yield of(f"usual {dtype}", values_of(dtype, PLANE), photometric=None)
        yield of(f"usual stack {dtype}", values_of(dtype), photometric=None)
    yield of("usual stack of 3", LABELS[:3], photometric=None)
    yield of("ImageJ", LABELS, imagej=True, resolution=(2.0, 2.0), metadata={"axes": "ZYX", "unit": "mm"})
    yield of("ImageJ 16 bit", LABELS.astype("u2"), imagej=True, metadata={"spacing": 2.5, "axes": "ZYX"})
    yield of("OME", LABELS, ".ome.tif", metadata={"axes": "ZYX"})
    yield of("OME plane", PLANE, ".ome.tif", metadata={"axes": "YX"})
    yield of("volumetric", LABELS, volumetric=True, tile=(16, 16, 16))
    yield of("shaped", LABELS, metadata={"axes": "ZYX", "note": "x"})
    yield of("no metadata", LABELS, metadata=None)
    yield of("contiguous", LABELS, contiguous=True)
    yield of("truncated", LABELS, ".tif", truncate=True)
    grey = np.stack([PLANE] * 3, axis=-1)
    yield of("RGB", grey, photometric="rgb")
    yield of("RGB in planes", np.moveaxis(grey, -1, 0), photometric="rgb", planarconfig="separate")
    yield of(
        "RGBA",
        np.concatenate([grey, np.full_like(grey[..., :1], 255)], -1),
        photometric="rgb",
        extrasamples=["unassalpha"],
    )
    yield of("two samples", grey[..., :2], planarconfig="contig", extrasamples=["unspecified"])
    yield of("resolution", PLANE, resolution=(300, 300), resolutionunit="INCH", software="a", datetime=True)
    yield of("description", PLANE, description="some text, also ü".encode())

    def pyramid(path: Path) -> None:
        with tifffile.TiffWriter(path) as file:
            file.write(BIG, photometric="minisblack", tile=(32, 32), subifds=1)
            file.write(BIG[::2, ::2], photometric="minisblack", tile=(32, 32), subfiletype=1)

    def two_sizes(path: Path) -> None:
        with tifffile.TiffWriter(path) as file:
            file.write(PLANE, photometric="minisblack")
            file.write(BIG, photometric="minisblack")

    yield Written("tifffile pyramid below", ".tif", pyramid, read_with_tifffile)
    yield Written("tifffile two sizes", ".tif", two_sizes, read_with_tifffile)


# --- Pillow, imageio and OpenCV: images ---


def grey_of(values: np.ndarray) -> np.ndarray:
    """Return the grey values of an image of equal colours, else the image."""
    if values.dtype == bool:
        return values
    if values.ndim == 3 and values.shape[2] in (3, 4) and (values[..., :3] == values[..., :1]).all():
        return values[..., 0]
    return values


def read_with_pillow(path: Path) -> Read:
    with Image.open(path) as image:
        wide = image.mode in ("L", "1", "I;16", "I;16B", "I", "F", "P", "RGB", "RGBA", "LA")
        image = image.convert("RGBA") if image.mode in ("P", "LA") else image
        return grey_of(np.asarray(image if wide else image.convert("RGB"))), None


def by_pillow() -> Iterator[Written]:
    def of(name: str, extension: str, image: Image.Image, **options: Any) -> Written:
        return Written(
            f"Pillow {name}", extension, lambda path: image.save(path, **options), read_with_pillow
        )

    plain = Image.fromarray(PLANE)
    modes: dict[str, Image.Image] = {
        mode: plain.convert(mode) for mode in ("L", "1", "RGB", "RGBA", "LA", "P")
    }
    modes |= {
        "I;16": Image.fromarray(PLANE.astype("u2") * 7),
        "I": Image.fromarray(PLANE.astype("i4") * 70000),
        "F": Image.fromarray(PLANE.astype("f4") / 3),
        "CMYK": plain.convert("CMYK"),
        "coloured": Image.merge("RGB", (plain, plain.transpose(Image.Transpose.FLIP_LEFT_RIGHT), plain)),
        "transparent": Image.merge("LA", (plain, plain)),
        "few colours": plain.point(lambda value: value // 100).convert("P"),
    }
    modes["quantised"] = plain.convert("RGB").quantize(4)
    simple = ("L", "1", "RGB", "P", "coloured", "few colours", "quantised")
    for extension, accepted in {
        ".png": ("RGBA", "LA", "I;16", "transparent", *simple),
        ".bmp": ("RGBA", *simple),
        ".tif": (*modes,),
        ".gif": ("L", "P"),
        ".webp": ("RGB",),
        ".jpg": ("L", "RGB", "CMYK"),
    }.items():
        for mode in accepted:
            yield of(f"mode {mode}", extension, modes[mode])
    codes = [f"tiff_{name}" for name in ("lzw", "adobe_deflate", "deflate", "ccitt")]
    codes += ["packbits", "raw", "group3", "group4", "jpeg", "zstd", "lzma"]
    for code, mode in itertools.product(codes, ("L", "1", "I;16", "F", "RGB", "P")):
        if ("group" in code or "ccitt" in code) == (mode == "1") and not (
            code == "jpeg" and mode not in ("L", "RGB")
        ):
            yield of(f"{code} {mode}", ".tif", modes[mode], compression=code)
    yield of("optimised", ".png", plain, optimize=True)
    yield of("no compression", ".png", plain, compress_level=0)
    yield of("one transparent value", ".png", plain, transparency=int(PLANE[0, 0]))
    unused = int(np.setdiff1d(np.arange(256), PLANE)[0])
    yield of("unused transparent value", ".png", plain, transparency=unused)
    yield of("profile", ".png", plain, icc_profile=b"x" * 40, dpi=(72, 72))
    turned = Image.Exif()
    turned[274] = 6
    yield of("turned", ".png", plain, exif=turned)
    yield of("turned", ".tif", plain, exif=turned)
    yield of("several pages", ".tif", plain, save_all=True, append_images=[plain])
    yield of(
        "animated", ".png", plain, save_all=True, append_images=[plain.transpose(Image.Transpose.ROTATE_180)]
    )
    yield of("adaptive palette of 2", ".png", modes["1"].convert("P"), bits=1)
    for bits in (2, 4):
        yield of(f"palette of {bits} bits", ".png", modes["few colours"], bits=bits)


def by_imageio() -> Iterator[Written]:
    def read(path: Path) -> Read:
        values = imageio.v3.imread(path)
        return grey_of(values), None

    def of(name: str, extension: str, values: np.ndarray, **options: Any) -> Written:
        return Written(
            f"imageio {name}", extension, lambda path: imageio.v3.imwrite(path, values, **options), read
        )

    for extension in (".png", ".bmp", ".tif", ".tiff", ".jpg", ".gif"):
        yield of("grey", extension, PLANE)
        yield of("mask", extension, (PLANE > 99).astype(np.uint8) * 255)
        yield of("RGB", extension, np.stack([PLANE] * 3, axis=-1))
    for extension, dtype in itertools.product((".tif", ".tiff"), NUMBERS):
        yield of(f"stack {dtype}", extension, values_of(dtype), plugin="tifffile")
        yield of(f"type {dtype}", extension, values_of(dtype, PLANE), plugin="tifffile")
    yield of("16 bits", ".png", PLANE.astype(np.uint16) * 11)
    yield of("bool", ".png", PLANE > 99)
    yield of("bool", ".bmp", PLANE > 99)
    yield of("bool", ".tif", PLANE > 99)


def by_opencv() -> Iterator[Written]:
    def read(path: Path) -> Read:
        return grey_of(cv2.imread(str(path), cv2.IMREAD_UNCHANGED)), None

    def of(name: str, extension: str, values: np.ndarray, options: tuple[int, ...] = ()) -> Written:
        return Written(
            f"OpenCV {name}", extension, lambda path: cv2.imwrite(str(path), values, options), read
        )

    for extension in (".png", ".bmp", ".tif", ".jpg", ".webp", ".pgm"):
        yield of("grey", extension, PLANE)
        if extension != ".pgm":
            yield of("three channels", extension, np.stack([PLANE] * 3, axis=-1))
        if extension in (".png", ".bmp", ".tif"):
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
    for encoding in ("bzip2", "ascii"):
        yield of(f"encoding {encoding}", header={**place, "encoding": encoding})
    for space in _SPACES:
        yield of(f"space {space}", header={**place, "space": space})
    for endian in ("little", "big"):
        yield of(f"order {endian}", values_of("i2"), header={**place, "endian": endian})
    for level in (1, 9):
        yield of(f"level {level}", compression_level=level)
    yield of("spacings", header={"spacings": [0.7, 0.8, 2.5]})
    yield of("nothing", header={})
    yield of("header beside", extension=".nhdr")
    yield of("order of C", index_order="F", values=np.ascontiguousarray(LABELS))
    yield of("own keys", header={**place, "Segment0_Name": "liver", "Segment0_LabelValue": "1"})
    yield of("units", header={**place, "space units": ["mm", "mm", "mm"]})
    yield of("other units", header={**place, "space units": ["m", "m", "m"]})
    yield of("no origin", header={key: value for key, value in place.items() if key != "space origin"})
    yield of("measurement frame", header={**place, "measurement frame": np.eye(3)})
    layers = np.stack([LABELS, LABELS], axis=-1)
    yield of(
        "layers of segments",
        layers,
        header={
            "space": "left-posterior-superior",
            "kinds": ["list", "domain", "domain", "domain"],
            "space directions": np.vstack([np.full((1, 3), np.nan), turned[:3, :3].T]),
            "space origin": turned[:3, 3],
        },
    )


# --- pydicom ---


def by_pydicom() -> Iterator[Written]:
    def write(path: Path) -> None:
        meta = FileMetaDataset()
        meta.MediaStorageSOPClassUID = SegmentationStorage
        meta.MediaStorageSOPInstanceUID = generate_uid()
        meta.TransferSyntaxUID = ExplicitVRLittleEndian
        found = pydicom.Dataset()
        found.file_meta = meta
        found.SOPClassUID, found.SOPInstanceUID = (
            meta.MediaStorageSOPClassUID,
            meta.MediaStorageSOPInstanceUID,
        )
        found.NumberOfFrames, found.Rows, found.Columns = LABELS.shape
        found.BitsAllocated = found.BitsStored = 1
        found.HighBit, found.PixelRepresentation, found.SamplesPerPixel = 0, 0, 1
        found.PhotometricInterpretation = "MONOCHROME2"
        found.PixelData = pydicom.pixels.pack_bits((LABELS > 0).ravel())
        found.save_as(path, enforce_file_format=True)

    def read(path: Path) -> Read:
        return pydicom.dcmread(path).pixel_array, None

    for extension in (".dcm", ".nii.gz", ".mha", ".tif", ".png"):
        yield Written("pydicom segmentation", extension, write, read)


WRITERS: dict[str, Callable[[], Iterator[Written]]] = {
    "nibabel": by_nibabel,
    "SimpleITK": by_simpleitk,
    "tifffile": by_tifffile,
    "Pillow": by_pillow,
    "imageio": by_imageio,
    "OpenCV": by_opencv,
    "pynrrd": by_pynrrd,
    "pydicom": by_pydicom,
}


def read_with_its_own(path: Path, written: Written) -> Read:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return written.read(path)
