"""Files that are changed at random, and other programs' values of the ones that the readers here accept.

A finding is a file that is accepted here and that another program reads as other values or as another
position in space. A program that refuses the file does not count.
"""

import gzip
import io
import re
import struct
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import SimpleITK
import tifffile
from PIL import Image

from evaluation.core.fault import ReadError
from evaluation.core.formats import image_formats
from evaluation.io.pixels import Size, silenced_libraries
from evaluation.io.tiff import COMPRESSION, FAXES, read_channels, read_page
from evaluation.io.volume_header import Geometry, VolumeHeader
from evaluation.io.volumes import open_volume, read_numbers, write_image, write_volume
from test.io.images import read_grey, tiff, write_grey
from test.io.volumes.files import Bytes

from .images import chunk, saved

HEIGHT, WIDTH, DEPTH, CHANNELS = 6, 9, 3, 5
GREY = np.random.default_rng(7).choice(np.array([0, 1, 85, 128, 170, 255], np.uint8), (HEIGHT, WIDTH))
PLACE = Geometry((DEPTH, HEIGHT, WIDTH), (0.5, 0.25, 2.0), (1.0, -2.0, 3.0), (0, 1, 0, 1, 0, 0, 0, 0, -1))
VOLUME = np.stack([GREY, GREY[::-1], GREY[:, ::-1]])
ONE_BIT = Image.fromarray(GREY).convert("1")

Mutation = Callable[[Random, bytes], bytes]


def _channels() -> np.ndarray:
    return np.stack([np.where(limit < GREY, 255, 0).astype(np.uint8) for limit in (0, 1, 85, 128, 170)])


def _palette() -> Image.Image:
    image = Image.fromarray(np.searchsorted([0, 1, 85, 128, 170, 255], GREY).astype(np.uint8), mode="P")
    image.putpalette([value for value in (0, 1, 85, 128, 170, 255) for _ in range(3)])
    return image


IMAGES = {
    "png": [
        *(write_grey(GREY, ".png"), saved(_palette(), "PNG"), saved(_palette(), "PNG", transparency=5)),
        *(saved(Image.fromarray(GREY).convert(mode), "PNG") for mode in ("1", "LA", "RGB", "RGBA")),
        saved(GREY, "PNG", transparency=7),
    ],
    "bmp": [saved(Image.fromarray(GREY).convert(mode), "BMP") for mode in ("1", "L", "RGB", "RGBA")],
    "tif": [
        *(saved(GREY, "TIFF", compression=kind) for kind in (None, "tiff_lzw", "tiff_deflate", "packbits")),
        *(saved(Image.fromarray(GREY).convert(mode), "TIFF") for mode in ("RGB", "RGBA")),
        *(tiff(GREY, rowsperstrip=2), tiff(GREY, tile=(16, 16), byteorder=">"), tiff(GREY, bigtiff=True)),
        *(tiff(GREY, compression="zlib", predictor=2), saved(_palette(), "TIFF")),
        *(saved(ONE_BIT, "TIFF", compression=kind) for kind in ("group3", "group4", "packbits", "tiff_lzw")),
        *(tiff(GREY > 0), tiff(GREY, tile=(16, 16), compression="zlib")),
    ],
    "mha": [write_grey(GREY, ".mha"), write_volume(GREY[np.newaxis], PLACE, ".mha")],
}
for row in image_formats(2):
    extension = row.extensions[0]
    if extension[1:] not in IMAGES:
        IMAGES[extension[1:]] = [write_grey(GREY, extension)]
VOLUMES = {
    "mha": [write_volume(VOLUME, PLACE, ".mha"), write_volume(VOLUME / np.float32(255), PLACE, ".mha")],
    "nii.gz": [write_volume(VOLUME, PLACE, ".nii.gz"), write_volume(VOLUME.astype("i2"), PLACE, ".nii.gz")],
    "nii": [write_volume(VOLUME, PLACE, ".nii"), write_volume(VOLUME.astype("i8"), PLACE, ".nii")],
    "nrrd": [write_volume(VOLUME, PLACE, ".nrrd"), write_volume(VOLUME.astype("i2"), PLACE, ".nrrd")],
    "tif": [write_volume(VOLUME, PLACE, ".tif"), tiff(VOLUME), tiff(VOLUME / np.float32(255))],
}
WIDE = GREY.astype(np.uint16) * 257
WIDE_IMAGES = {
    "png": [saved(WIDE, "PNG"), saved(GREY, "PNG")],
    "tif": [
        *(tiff(WIDE.astype(kind)) for kind in ("u2", "i4", "u8", "f4", "f8")),
        *(tiff(WIDE, compression="zlib", predictor=2), tiff(WIDE, tile=(16, 16), byteorder=">")),
    ],
    "mha": [
        *(write_volume(WIDE.astype(kind)[np.newaxis], PLACE, ".mha") for kind in ("u2", "i4", "i8", "f4")),
        write_image(WIDE[np.newaxis], PLACE, ".mha", dimensions=2),
    ],
}
CHANNEL_FILES = [
    *(tiff(_channels(), planarconfig="separate"), tiff(_channels()), tiff(_channels(), bigtiff=True)),
    tiff(np.ascontiguousarray(np.moveaxis(_channels(), 0, -1)), planarconfig="contig"),
]

# Of headers that a change may add or exchange: everything that any reader looks at.
META_LINES = (
    *("BinaryData = True", "BinaryData = False", "BinaryDataByteOrderMSB = True", "CompressedData = 1"),
    *("ElementByteOrderMSB = True", "CompressedData = True", "CompressedData = False", "Origin = 7 7 7"),
    *("ElementSpacing = 1 2 3", "ElementSize = 3 2 1", "ElementSpacing = -1 1 1", "ElementSpacing = 1,2,3"),
    *("Offset = 5 6 7", "Position = 1 2 3", "TransformMatrix = 0 1 0 1 0 0 0 0 1", "HeaderSize = -1"),
    *("Rotation = 1 0 0 0 0 1 0 1 0", "Orientation = 0 0 1 0 1 0 1 0 0", "AnatomicalOrientation = LPS"),
    *("ElementType = MET_CHAR", "ElementType = MET_SHORT", "ElementType = MET_LONG", "HeaderSize = 3"),
    *("ElementNumberOfChannels = 1", "ElementNumberOfChannels = 2", "NDims = 2", "NDims = 3"),
    *("DimSize = 9 6", "DimSize = 9 6 1", "DimSize = 9 6 3", "DimSize = 3 6 9", "ElementMin = 3"),
    *("ElementToIntensityFunctionSlope = 2", "ElementToIntensityFunctionOffset = 1", "Comment: a = b"),
    *("ElementSpacing: a = 4 4 4", "elementspacing = 9 9 9", "CenterOfRotation = 1 1 1"),
    *("Modality = MET_MOD_CT", "CompressedDataSize = 20"),
)
NRRD_LINES = (
    *("type: uint8", "type: short", "type: block", "encoding: raw", "encoding: gz", "encoding: ascii"),
    *("endian: big", "endian: little", "space: LPS", "space: left-anterior-superior", "space: scanner-xyz"),
    *("space: right-anterior-superior", "space dimension: 3", "space origin: (3,2,1)", "spacings: 1 2 3"),
    *("space directions: (1,0,0) (0,2,0) (0,0,3)", "space directions: none (0,2,0) (0,0,3)", "kinds: list"),
    *("kinds: domain domain domain", "centerings: node node node", "axis mins: 1 2 3", "byte skip: 1"),
    *("line skip: 1", "byteskip: 0", "sizes: 9 6 3", "sizes: 3 6 9", "dimension: 3", "thicknesses: 1 1 1"),
    *("# a: b", "a:=b", "content: a", "old min: 1", "measurement frame: (0,1,0) (1,0,0) (0,0,1)", "min: 0"),
    *("axis maxs: 9 9 9", 'space units: "mm" "mm" "mm"', 'units: "cm" "cm" "cm"', 'labels: "a" "b" "c"'),
)
NIFTI_FIELDS = (
    *((offset, "h") for offset in (*range(40, 50, 2), 70, 72, 252, 254)),
    *((offset, "f") for offset in (*range(76, 92, 4), 108, 112, 116, *range(256, 284, 4))),
    *((offset, "f") for offset in (292, 296, 300, 316, 320)),
    *((offset, "B") for offset in (123, 344, 347)),
)
NUMBERS = (0, 1, 2, 3, 4, 5, 8, 16, 32, 64, 255, 352, 512, -1, 0.5, 2.5, 352.5, float("nan"))


def any_byte(random: Random, data: bytes) -> bytes:
    """Change, insert or remove a few bytes."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 3)):
        if not changed:
            break
        position = random.randrange(len(changed))
        kind = random.randrange(4)
        if kind == 0:
            changed[position] ^= 1 << random.randrange(8)
        elif kind == 1:
            changed[position] = random.choice((0, 1, 2, 8, 127, 255))
        elif kind == 2:
            changed[position:position] = bytes([random.randrange(256)])
        else:
            del changed[position]
    return bytes(changed)


CHUNKS = (b"PLTE", b"tRNS", b"sBIT", b"gAMA", b"bKGD", b"tEXt", b"cHRM", b"pHYs", b"XXXX")
TAGS = (*(254, 258, 259, 262, 266, 274, 277, 278, 279, 284, 317, 320, 322, 323, 338, 339), 273, 325)


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    found, start = [], 8
    while start + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, start)
        found.append((data[start + 4 : start + 8], data[start + 8 : start + 8 + length]))
        start += 12 + length
    return found


def png_chunks(random: Random, data: bytes) -> bytes:
    """Move, copy, drop, cut, add or change chunks, with right checksums."""
    chunks = _chunks(data)
    for _ in range(random.randint(1, 3)):
        place = random.randrange(len(chunks) + 1)
        kind = random.randrange(6)
        if kind == 0 and chunks:
            chunks.insert(place, chunks.pop(random.randrange(len(chunks))))
        elif kind == 1 and chunks:
            chunks.insert(place, random.choice(chunks))
        elif kind == 2 and chunks:
            chunks.pop(random.randrange(len(chunks)))
        elif kind == 3:
            length = random.choice((1, 2, 3, 4, 6, 9))
            content = bytes(random.choices((0, 1, 4, 5, 8, 255), k=length))
            chunks.insert(place, (random.choice(CHUNKS), content))
        elif chunks:
            number = random.randrange(len(chunks))
            name, content = chunks[number]
            if name == b"IDAT" and kind == 4 and len(content) > 1:
                cut = random.randrange(len(content))
                chunks[number : number + 1] = [(name, content[:cut]), (name, content[cut:])]
            elif content:
                chunks[number] = (name, any_byte(random, content))
    return data[:8] + b"".join(chunk(*one) for one in chunks)


def tiff_tags(random: Random, data: bytes) -> bytes:
    """Change the type, number or value of tags of one of the pages."""
    order = "<" if data[:2] == b"II" else ">"
    if struct.unpack_from(f"{order}H", data, 2)[0] != 42:
        return any_byte(random, data)
    changed = bytearray(data)
    (start,) = struct.unpack_from(f"{order}I", data, 4)
    (entries,) = struct.unpack_from(f"{order}H", data, start)
    while random.randrange(2):
        (following,) = struct.unpack_from(f"{order}I", data, start + 2 + 12 * entries)
        if not following:
            break
        start = following
        (entries,) = struct.unpack_from(f"{order}H", data, start)
    for _ in range(random.randint(1, 2)):
        position = start + 2 + 12 * random.randrange(entries)
        kind = random.randrange(4)
        if kind == 0:
            struct.pack_into(f"{order}H", changed, position, random.choice(TAGS))
        elif kind == 1:
            struct.pack_into(f"{order}H", changed, position + 2, random.choice((1, 3, 4, 16)))
        elif kind == 2:
            struct.pack_into(f"{order}I", changed, position + 4, random.choice((1, 2, 3, 5)))
        else:
            letter = random.choice("HI")
            number = random.choice((0, 1, 2, 3, 4, 5, 6, 8, 9, 16, 32773, len(data)))
            small = struct.pack(f"{order}{letter}", number)
            changed[position + 8 : position + 8 + len(small)] = small
    return bytes(changed)


def meta_lines(random: Random, data: bytes) -> bytes:
    """Add, drop, copy, move or change lines of the header; sometimes the values are another stream."""
    head, mark, body = data.partition(b"ElementDataFile = LOCAL\n")
    lines = head.splitlines(keepends=True)
    for _ in range(random.randint(1, 3)):
        place, kind = random.randrange(len(lines) + 1), random.randrange(6)
        if kind <= 2:
            lines.insert(place, random.choice(META_LINES).encode() + b"\n")
        elif kind == 3 and lines:
            lines.pop(random.randrange(len(lines)))
        elif kind == 4 and lines:
            lines.insert(place, random.choice(lines))
        elif lines:
            number = random.randrange(len(lines))
            lines[number] = re.sub(
                rb"\d+", lambda _: b"%d" % random.choice((0, 1, 2, 4, 6, 9)), lines[number], count=1
            )
    head = b"".join(lines)
    if random.randrange(2) and b"CompressedData = False" in head and b"DataSize" not in head:
        body = zlib.decompress(body)
    return head + mark + body


def nrrd_lines(random: Random, data: bytes) -> bytes:
    """Add, drop, copy or change lines of the header."""
    head, mark, body = data.partition(b"\n\n")
    lines = head.split(b"\n")
    for _ in range(random.randint(1, 2)):
        place, kind = random.randrange(len(lines)), random.randrange(5)
        if kind <= 1:
            lines.insert(place + 1, random.choice(NRRD_LINES).encode())
        elif kind == 2 and len(lines) > 1:
            lines.pop(place)
        elif kind == 3:
            lines.insert(random.randrange(len(lines)) + 1, lines[place])
        else:
            lines[place] = re.sub(
                rb"\d+", lambda _: b"%d" % random.choice((0, 1, 2, 3, 6, 9)), lines[place], count=1
            )
    if random.randrange(3) == 0 and b"encoding: gzip" in head:
        lines = [line.replace(b"gzip", b"raw") for line in lines]
        body = gzip.decompress(body)
    return b"\n".join(lines) + mark + body


def nifti_fields(random: Random, data: bytes) -> bytes:
    """Change numbers of the header."""
    is_plain = data[:2] != b"\x1f\x8b"
    plain = bytearray(data if is_plain else gzip.decompress(data))
    for _ in range(random.randint(1, 3)):
        offset, letter = random.choice(NIFTI_FIELDS)
        number = random.choice(NUMBERS)
        if letter != "f":
            low, high = (0, 255) if letter == "B" else (-2, 999)
            number = 0 if number != number else max(low, min(int(number), high))
        struct.pack_into(f"<{letter}", plain, offset, number)
    return bytes(plain) if is_plain else gzip.compress(bytes(plain), 1, mtime=0)


MUTATIONS: dict[str, tuple[Mutation, ...]] = {
    "png": (png_chunks, png_chunks, any_byte),
    "bmp": (any_byte,),
    "tif": (tiff_tags, any_byte),
    "mha": (meta_lines, meta_lines, any_byte),
    "nii.gz": (nifti_fields, nifti_fields, any_byte),
    "nii": (nifti_fields, nifti_fields, any_byte),
    "nrrd": (nrrd_lines, nrrd_lines, any_byte),
}


def disagreements(random: Random) -> tuple[str, bytes, list[str], bool]:
    """Return the kind and content of a changed file, who reads it differently, and if it was accepted."""
    what = random.choice(("image", "image", "volume", "volume", "numbers", "channels"))
    files, compare = {
        "image": (IMAGES, _image),
        "volume": (VOLUMES, _volume),
        "numbers": (WIDE_IMAGES, _numbers),
        "channels": ({"tif": CHANNEL_FILES}, _channel_file),
    }[what]
    extension = random.choice(sorted(files))
    data = random.choice(MUTATIONS.get(extension, (any_byte,)))(random, random.choice(files[extension]))
    try:
        with silenced_libraries(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = list(compare(data, extension))
    except ReadError:
        return f"{what}.{extension}", data, [], False
    return f"{what}.{extension}", data, found, True


def _image(data: bytes, extension: str) -> Iterator[str]:
    here = read_grey(memoryview(data), f"x.{extension}", Size(WIDTH, HEIGHT)).copy()
    for name, other in (("Pillow", _by_pillow(data)), ("ITK", _by_itk(data, extension))):
        if other is None:
            continue
        pixels = other[0].reshape(other[0].shape[-3:]) if isinstance(other, tuple) else other
        # ITK gives the colours of a palette as they are stored.
        pixels = pixels >> 8 if pixels.dtype == np.uint16 else pixels
        pixels = np.squeeze(pixels, 0) if pixels.ndim == 3 and pixels.shape[0] == 1 else pixels
        if pixels.shape != here.shape or not np.array_equal(pixels, here):
            yield f"{name}: {pixels.tolist()} instead of {here.tolist()}"


def _numbers(data: bytes, extension: str) -> Iterator[str]:
    here = read_numbers(memoryview(data), f"x.{extension}", Size(WIDTH, HEIGHT)).copy()
    if extension == "tif":  # ITK shows tiles of 16 bits with 8
        name, other = "tifffile", _by_tifffile(data)
    else:
        image = _by_itk(data, extension)
        name, other = "ITK", None if image is None else image[0]
    if other is None:
        return
    values = np.squeeze(other, 0) if other.ndim == 3 and other.shape[0] == 1 else other
    if values.shape != here.shape or not np.array_equal(values, here, equal_nan=True):
        yield f"{name}: {values.dtype} {values.tolist()} instead of {here.dtype} {here.tolist()}"


def _by_pillow(data: bytes) -> np.ndarray | None:
    """Return the grey values as Pillow shows them, None where it does not read the file."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            return np.asarray(image.convert("RGBA"))[..., 1]
    except Exception:  # whatever a decoder raises
        return None


def _by_itk(data: bytes, extension: str) -> tuple[np.ndarray, SimpleITK.Image] | None:
    """Return the values and the image as ITK reads it, None where it does not."""
    # Codes of a fax have no check: of damaged ones each version of libtiff makes something else.
    if extension == "tif" and read_page(memoryview(data), (COMPRESSION,)).one(COMPRESSION, 1) in FAXES:
        return None
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        path = Path(folder, f"x.{extension}")
        path.write_bytes(data)
        try:
            image = SimpleITK.ReadImage(path)
        except RuntimeError:
            return None
    values = SimpleITK.GetArrayFromImage(image)
    return (values[..., 0] if image.GetNumberOfComponentsPerPixel() > 1 else values), image


def _volume(data: bytes, extension: str) -> Iterator[str]:
    volume = open_volume(Bytes(data), f"x.{extension}")
    if np.prod(volume.header.geometry.shape) > 1_000_000:
        return
    here = np.stack([plane.values.copy() for plane in volume.planes()])
    other = _by_itk(data, extension)
    if other is None:
        return
    values, image = other
    values = values[np.newaxis] if values.ndim == 2 else values  # one page
    differs = values.shape != here.shape or not np.array_equal(values, here, equal_nan=True)
    # ITK leaves pages that it fails to read as they were.
    if differs and not (extension == "tif" and np.array_equal(_by_tifffile(data), here)):
        yield f"ITK: values {values.shape} {values.dtype} instead of {here.shape} {here.dtype}"
    yield from _differences(volume.header, image)


def _differences(header: VolumeHeader, image: SimpleITK.Image) -> Iterator[str]:
    place = header.geometry
    for name, here, there in (
        ("spacing", place.spacing_mm, image.GetSpacing()),
        ("origin", place.origin_mm, image.GetOrigin()),
        ("direction", place.direction, image.GetDirection()),
    ):
        # Within what `check_geometry` of two headers allows, and float32.
        if here is not None and not np.allclose(here, there, rtol=2e-3, atol=2e-3):
            yield f"ITK: {name} {there} instead of {here}"


def _by_tifffile(data: bytes) -> np.ndarray | None:
    """Return the pages one by one, whatever the description of the file says."""
    try:
        with tifffile.TiffFile(io.BytesIO(data)) as file:
            pages = [page.asarray() for page in file.pages]
    except Exception:  # whatever a decoder raises
        return None
    return pages[0] if len(pages) == 1 else np.stack(pages)


def _channel_file(data: bytes, extension: str) -> Iterator[str]:
    here = read_channels(memoryview(data), CHANNELS, Size(WIDTH, HEIGHT)).copy()
    other = _by_tifffile(data)
    if other is None:
        return
    wanted = {here.shape: other, here.shape[1:] + here.shape[:1]: np.moveaxis(other, -1, 0)}.get(other.shape)
    if wanted is None or not np.array_equal(wanted, here):
        yield f"tifffile: {other.shape} {other.dtype}"
