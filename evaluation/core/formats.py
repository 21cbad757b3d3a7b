"""The formats of files, a row for each: names, contents, and what a decoder needs.

Lists of extensions, the words of messages and what a reader imports before it is confined follow from these
rows.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.core.fault import FaultKind, ReadError

HEAD_BYTES = 512
"""So many bytes at the beginning of a file tell its format."""

Dimensions = Literal[2, 3]


@dataclass(frozen=True)
class Format:
    """A format of files.

    name: with its article, for messages. extensions: in lower case, the usual one first. start: matches the
    first bytes of such a file; None where they tell nothing.

    dimensions: of the images that are read in this format, none where none is. numbers: whether they hold
    values of any type rather than grey values. positioned: whether they have a spacing, an origin and a
    direction. on_request: whether they are read only where a field lists their extension.

    module: reads headers and values and writes files, see `evaluation.io.volumes.Codec`. needs: the
    modules that it imports when it is first used. pillow: whether Pillow opens such a file. lossy: whether
    values of a mask change in it.
    """

    name: str
    extensions: tuple[str, ...] = ()
    start: re.Pattern[bytes] | None = None
    dimensions: tuple[Dimensions, ...] = ()
    numbers: bool = False
    positioned: bool = False
    on_request: bool = False
    module: str = ""
    needs: tuple[str, ...] = ()
    pillow: bool = False
    lossy: bool = False

    def begins(self, head: bytes) -> bool:
        """Return whether the first bytes of a file are of this format."""
        return self.start is not None and self.start.match(head) is not None


def _starting(*starts: bytes) -> re.Pattern[bytes]:
    return re.compile(b"|".join(map(re.escape, starts)))


_INFLATER = "zlib_ng.zlib_ng"
PNG = Format(
    "a PNG image",
    (".png",),
    _starting(b"\x89PNG\r\n\x1a\n"),
    dimensions=(2,),
    module="evaluation.io.png",
    needs=("SimpleITK", "PIL.PngImagePlugin"),
    pillow=True,
)
BMP = Format(
    "a BMP image",
    (".bmp",),
    # Not a table of BMI: the number of bytes follows.
    re.compile(rb"BM(?![ -~]{4}|I[,;\t])"),
    dimensions=(2,),
    module="evaluation.io.bmp",
    pillow=True,
)
TIFF = Format(
    "a TIFF image",
    (".tif", ".tiff"),
    _starting(b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    dimensions=(2, 3),
    numbers=True,
    module="evaluation.io.tiff",
    needs=("PIL.TiffImagePlugin", _INFLATER),
    pillow=True,
)
META_IMAGE = Format(
    "a MetaImage",
    (".mha",),
    re.compile(rb"\s*(ObjectType|ObjectSubType|Comment|NDims)[ \t]*="),
    dimensions=(2, 3),
    numbers=True,
    positioned=True,
    module="evaluation.io.metaimage",
    needs=(_INFLATER,),
)
NIFTI = Format(
    "a NIfTI volume",
    (".nii.gz", ".nii"),
    # The size of the header of NIfTI-1 or NIfTI-2, in either byte order.
    _starting(b"\x5c\x01\0\0", b"\0\0\x01\x5c", b"\x1c\x02\0\0", b"\0\0\x02\x1c"),
    dimensions=(3,),
    numbers=True,
    positioned=True,
    module="evaluation.io.nifti",
    needs=(_INFLATER,),
)
NRRD = Format(
    "an NRRD volume",
    (".nrrd",),
    re.compile(rb"NRRD000[1-6]\r?\n"),
    dimensions=(3,),
    numbers=True,
    positioned=True,
    on_request=True,
    module="evaluation.io.nrrd",
    needs=(_INFLATER,),
)
ZIP = Format(
    "a zip archive",
    (".zip",),
    _starting(b"PK\3\4", b"PK\5\6"),
    needs=("zipfile", "encodings.cp437", "numpy.lib.format"),
)
META_IMAGE_HEADER = Format("a MetaImage header", (".mhd",))
GZIP = Format("a gzip archive", (), _starting(b"\x1f\x8b"), needs=(_INFLATER,))
FORMATS = (
    PNG,
    BMP,
    TIFF,
    META_IMAGE,
    NIFTI,
    NRRD,
    GZIP,
    META_IMAGE_HEADER,
    Format(
        "a JPEG image (lossy: its values are not exact)",
        (".jpg", ".jpeg"),
        _starting(b"\xff\xd8\xff"),
        pillow=True,
        lossy=True,
    ),
    Format("a WebP image", (".webp",), _starting(b"RIFF"), lossy=True),
    Format("a GIF image", (".gif",), _starting(b"GIF8")),
    Format(
        "a spreadsheet",
        (".xlsx", ".xls"),
        re.compile(
            rb"PK\x03\x04.{26}(\[Content_Types\]\.xml|_rels/|xl/)|\xd0\xcf\x11\xe0\xa1\xb1", re.DOTALL
        ),
    ),
    ZIP,
    Format("an archive of an array of NumPy", (".npz",)),
    Format("a bzip2 archive", (".bz2",), re.compile(rb"BZh[1-9]")),
    Format("an xz archive", (".xz",), _starting(b"\xfd7zXZ\0")),
    Format("a Zstandard archive", (".zst",), _starting(b"\x28\xb5\x2f\xfd")),
    Format("a 7z archive", (".7z",), _starting(b"7z\xbc\xaf\x27\x1c")),
    Format("a RAR archive", (".rar",), _starting(b"Rar!\x1a\x07")),
    Format("a tar archive", (".tar",), re.compile(rb".{257}ustar", re.DOTALL)),
    Format("a PDF document", (".pdf",), _starting(b"%PDF")),
    Format("a DICOM file", (".dcm",), re.compile(rb".{128}DICM", re.DOTALL)),
    Format("an HDF5 file", (".h5",), _starting(b"\x89HDF\r\n")),
    Format("an array of NumPy", (".npy",), _starting(b"\x93NUMPY")),
    Format("a web page", (".html",), re.compile(rb"\s*<(!doctype html|html)\b", re.IGNORECASE)),
    Format("a pointer of Git LFS in place of the file", (), _starting(b"version https://git-lfs")),
    Format("a table", (".csv",)),
    Format("a text file", (".txt",)),
    Format("a JSON file", (".json",), re.compile(rb'\s*[\[{]\s*["\d\[\]{}-]')),
    Format("an XML file", (".xml",), _starting(b"<?xml")),
)


def format_of_content(head: bytes) -> Format | None:
    """Return the format that the first bytes of a file tell, None for an unknown one."""
    return next((row for row in FORMATS if row.begins(head)), None)


def other_content(head: bytes, expected: str) -> ReadError:
    """Return the error for a file whose first bytes are not those of the expected format."""
    content = format_of_content(head)
    return ReadError(FaultKind.UNREADABLE, expected, content.name if content else "other content")


def format_of_name(path: str) -> Format | None:
    """Return the format that the extension of a path stands for, None for an unknown one."""
    name = path.lower()
    return next((row for row in FORMATS if name.endswith(row.extensions)), None)


def extensions_of(formats: Iterable[Format]) -> tuple[str, ...]:
    """Return the extensions of formats, in their order."""
    return tuple(extension for row in formats for extension in row.extensions)


def image_formats(
    dimensions: Dimensions, numbers: bool = False, on_request: bool = False
) -> tuple[Format, ...]:
    """Return the formats of images or volumes that are read; of volumes, those with a position first.

    With ``numbers``, only those that hold floating-point numbers; with ``on_request``, those as well that are
    read only where a field lists their extension.
    """
    found = [row for row in FORMATS if dimensions in row.dimensions and row.on_request <= on_request]
    found = [row for row in found if row.numbers >= numbers]
    return tuple(sorted(found, key=lambda row: dimensions == 3 and not row.positioned))


def extension_of_masks(extensions: Sequence[str]) -> str:
    """Return the extension in which a mask is written: of grey values without a loss, else the first one."""
    grey = extensions_of(row for row in image_formats(2) if not row.numbers)
    return next((one for one in grey if one in extensions), extensions[0])
