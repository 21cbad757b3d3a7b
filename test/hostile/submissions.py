"""Hostile and odd submissions to an archive phase, made from a good one, with their results."""

import os
import shutil
import socket
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from . import images
from .images import (
    SIZE,
    bmp,
    chunk,
    endless,
    grey_tiff,
    mask,
    png,
    saved,
    zeros_compressed,
)

# The submission is scored: the marks for its results, in place of a message.
AS_BEFORE = object()  # exactly as the good one
WITH_MASK = object()  # exactly as the good one with `mask()` for its first image

LIKELIHOODS = "classification_results.csv"
FOVEA = "fovea_location_results.csv"
FIRST = "segmentation/R0001.bmp"


@dataclass(frozen=True)
class Row:
    """A kind of submission.

    ``expected`` is how it is scored; None: it is rejected in the words of `test.messages`; a text: a part of
    the message, which differs by machine.
    """

    spoil: Callable[[Path], object]
    expected: str | object | None = None


def image(data: bytes | Callable[[], bytes], name: str = "R0001.png") -> Callable[[Path], None]:
    """Return a change that replaces the first mask by a file of the given content."""

    def spoil(folder: Path) -> None:
        (folder / FIRST).unlink()
        (folder / "segmentation" / name).write_bytes(data() if callable(data) else data)

    return spoil


def table(change: Callable[[bytes], bytes], name: str = LIKELIHOODS) -> Callable[[Path], None]:
    """Return a change of the bytes of a table."""

    def spoil(folder: Path) -> None:
        (folder / name).write_bytes(change((folder / name).read_bytes()))

    return spoil


def cell(text: str | bytes, name: str = LIKELIHOODS) -> Callable[[Path], None]:
    """Return a change that replaces the values of the first image's row."""
    data = text.encode() if isinstance(text, str) else text
    return table(lambda content: _with_first_row(content, b"R0001," + data), name)


def key(data: bytes) -> Callable[[Path], None]:
    """Return a change that adds a row with a name."""
    return table(lambda content: content + data + b",0.5\n")


def _with_first_row(content: bytes, row: bytes) -> bytes:
    header, _, rest = content.partition(b"\n")
    return header + b"\n" + row + b"\n" + rest.partition(b"\n")[2]


def replaced(make: Callable[[Path], object], path: str = FIRST) -> Callable[[Path], None]:
    """Return a change that replaces a file by something else."""

    def spoil(folder: Path) -> None:
        (folder / path).unlink()
        make(folder / path)

    return spoil


def added(name: str | bytes, data: bytes = b"x") -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = folder / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return spoil


def _socket(path: Path) -> None:
    # The path of a socket is short, wherever the folder lies.
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(path.name)
    finally:
        os.chdir(here)


def _device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))  # /dev/zero
    except PermissionError:  # not root: a link to the device is forbidden as well
        path.symlink_to("/dev/zero")


def _folder_link(folder: Path) -> None:
    (folder / "segmentation").rename(folder / "elsewhere")
    (folder / "segmentation").symlink_to("elsewhere")


def _wrapped(folder: Path) -> None:
    inside = folder / "my submission"
    inside.mkdir()
    for path in sorted(folder.iterdir()):
        if path != inside:
            path.rename(inside / path.name)


def _zipped(folder: Path) -> None:
    entries = sorted(path for path in folder.rglob("*") if path.is_file())
    with zipfile.ZipFile(folder / "submission.zip", "w") as archive:
        for path in entries:
            archive.write(path, path.relative_to(folder))
    for path in folder.iterdir():
        if path.suffix != ".zip":
            path.unlink() if path.is_file() else shutil.rmtree(path)


def _many_entries(folder: Path) -> None:
    for number in range(2):  # a file may have 65,000 links
        many = folder / str(number)
        many.mkdir()
        first = many / "0"
        first.touch()
        for link in range(1, 50_001):
            os.link(first, many / str(link))


def _sparse(size: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size)

    return make


def _everything(folder: Path) -> None:
    for path in (folder / "segmentation").iterdir():
        path.write_bytes(b"\x1b[2Jx")
    for number in range(900):
        (folder / "segmentation" / f"%s%n{{0}}{number}.bmp").write_bytes(b"x")
    for name in (LIKELIHOODS, FOVEA):
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data + b"".join(b"X%d,nan,nan\n" % number for number in range(900)))


def _python(folder: Path) -> None:
    for name in ("sitecustomize", "usercustomize", "conftest", "numpy", "SimpleITK"):
        (folder / f"{name}.py").write_text("raise SystemExit('executed')")


def _hard_link(folder: Path) -> None:
    (folder / "elsewhere.bmp").write_bytes((folder / FIRST).read_bytes())
    (folder / FIRST).unlink()
    os.link(folder / "elsewhere.bmp", folder / FIRST)


def _big_tiff() -> bytes:
    pixels = mask().tobytes()
    tags = ((256, 4, SIZE), (257, 4, SIZE), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 16, 16), (277, 3, 1))
    entries = b"".join(struct.pack("<HHQQ", tag, kind, 1, value) for tag, kind, value in tags)
    head = struct.pack("<2sHHHQ", b"II", 43, 8, 0, 16 + len(pixels))
    return head + pixels + struct.pack("<Q", len(tags)) + entries + bytes(8)


IMAGES = {
    # Bombs: the header is held against the form before anything is decoded, and nothing else is inflated.
    "PNG whose header promises 3.6 gigapixels": Row(
        image(png(zeros_compressed(1), width=60_000, height=60_000)),
    ),
    "PNG whose data go on for 1 GB behind its pixels": Row(image(lambda: png(endless())), WITH_MASK),
    "PNG with a compressed text of 2 GB": Row(
        image(lambda: png(before=chunk(b"zTXt", b"a\0\0" + zeros_compressed(2048))))
    ),
    "PNG with a colour profile of 1 GB": Row(
        image(lambda: png(before=chunk(b"iCCP", b"a\0\0" + zeros_compressed(1000)))), WITH_MASK
    ),
    "PNG of 90,000 tiny chunks": Row(image(lambda: png(before=chunk(b"teSt", b"") * 90_000)), WITH_MASK),
    "TIFF whose strip is LZW of 4 gigapixels": Row(
        image(
            grey_tiff(b"\x80\x0b", tag_256=(4, 1, 65_535), tag_257=(4, 1, 65_535), tag_259=(3, 1, 5)),
            "R0001.tif",
        ),
    ),
    "TIFF with tiles of a gigapixel": Row(
        image(
            grey_tiff(bytes(9), tag_322=(4, 1, 1 << 30), tag_323=(4, 1, 1 << 30), tag_259=(3, 1, 8)),
            "R0001.tif",
        ),
    ),
    "TIFF with a tag of four billion values": Row(
        image(grey_tiff(bytes(9), tag_273=(4, 0xFFFFFFFF, 8)), "R0001.tif")
    ),
    "file of one terabyte, all hole": Row(replaced(_sparse(1 << 40))),
    # Damage.
    "empty file": Row(image(b"")),
    "zeros": Row(image(bytes(30_000))),
    "truncated data in a whole PNG": Row(image(png(zlib.compress(bytes(161 * 159))[:-9]))),
    "TIFF whose pages form a cycle": Row(
        image(grey_tiff(mask().tobytes(), following=8 + SIZE * SIZE), "R0001.tif")
    ),
    # Content that other programs could show differently.
    "PNG with two headers": Row(image(png(before=png()[8:33]))),
    "other size": Row(image(saved(mask()[:, :-1].copy(), "PNG"))),
    "values that mean nothing": Row(image(saved(mask() + 1, "PNG"))),
    # Odd, but unmistakable: scored.
    "opaque RGBA PNG": Row(image(saved(Image.fromarray(mask()).convert("RGBA"), "PNG")), WITH_MASK),
    "big TIFF": Row(image(_big_tiff, "R0001.tif"), WITH_MASK),
    "name in capitals": Row(image(bmp(), "R0001.BMP"), WITH_MASK),
}

ENTRIES = {
    "link to another file of the submission": Row(replaced(lambda path: path.symlink_to("R0002.bmp"))),
    "link to the reference": Row(
        replaced(lambda path: path.symlink_to("/opt/evaluation/ground-truth/masks/R0001.png")),
    ),
    "link to /dev/zero": Row(replaced(lambda path: path.symlink_to("/dev/zero"))),
    "table that is a link": Row(replaced(lambda path: path.symlink_to("/etc/passwd"), LIKELIHOODS)),
    "folder that is a link": Row(_folder_link),
    "named pipe": Row(replaced(os.mkfifo)),
    "socket": Row(replaced(_socket)),
    "device": Row(replaced(_device), "expected a regular file, found a"),
    "folder named as an image": Row(replaced(Path.mkdir)),
    "hard link": Row(_hard_link, AS_BEFORE),
    "100,001 files": Row(_many_entries),
    "nine levels of folders": Row(added("/".join("abcdefghi") + "/x")),
    "same image twice in other letters": Row(added("segmentation/r0001.BMP", bmp())),
    "same image in two formats": Row(added("segmentation/R0001.png", png())),
    "folder twice in other letters": Row(added("Segmentation/R0001.bmp", bmp())),
    "image of another format": Row(added("segmentation/R0001.jpg")),
    "name with a newline": Row(added("segmentation/R00\n01.bmp")),
    "name that clears the screen": Row(added("segmentation/\x1b[2J.bmp")),
    "name of format codes": Row(added("segmentation/%s%n{0.__class__}.bmp")),
    "name that is not UTF-8": Row(added(b"segmentation/\xff\xfe.bmp")),
    "name with backslashes": Row(added("segmentation/..\\..\\R0001.bmp")),
    "name written from right to left": Row(added("segmentation/\u202egpj.bmp")),
    "only a zip": Row(_zipped),
    "nothing at all": Row(
        lambda folder: [
            shutil.rmtree(folder / "segmentation"),
            (folder / LIKELIHOODS).unlink(),
            (folder / FOVEA).unlink(),
        ],
    ),
    "everything wrong a thousand times": Row(_everything),
    # Beside the point: scored.
    "predictions.json of an algorithm phase": Row(
        added("predictions.json", b'[{"pk": "x", "status": "Succeeded", "outputs": [' + b"[" * 99_999),
        AS_BEFORE,
    ),
    "what operating systems leave behind": Row(
        lambda folder: [
            added(name)(folder)
            for name in (".DS_Store", "__MACOSX/x", "segmentation/desktop.ini", "segmentation/._R0001.bmp")
        ],
        AS_BEFORE,
    ),
    "one folder around everything": Row(_wrapped, AS_BEFORE),
    "modules of Python": Row(_python, AS_BEFORE),
    "a second submission in a file of its own": Row(added("final/segmentation/R0001.bmp", b"x"), AS_BEFORE),
}


TABLES = {
    "empty table": Row(table(lambda data: b"")),
    "table of a header": Row(table(lambda data: data.partition(b"\n")[0])),
    "table that is a folder": Row(replaced(Path.mkdir, LIKELIHOODS)),
    "table of a million lines": Row(table(lambda data: data + b"R0001,0.5\n" * 1_000_000)),
    "table of a million blank lines": Row(table(lambda data: data + b"\n" * 1_000_000), AS_BEFORE),
    "table of three million blank lines": Row(table(lambda data: data + b"\n" * 3_000_000)),
    "line of four megabytes": Row(table(lambda data: data + b"R0041," + b"1" * 4_000_000)),
    "header of four million commas": Row(table(lambda data: b"FileName" + b"," * 4_000_000 + b"\n" + data)),
    "row of a million lines": Row(table(lambda data: data + b'R0041,"' + b'\n","' * 1_000_000 + b'"')),
    "lone surrogates in UTF-16": Row(
        table(
            lambda data: data.decode().encode("utf-16") + "R\ud800,0.5\n".encode("utf-16-le", "surrogatepass")
        ),
    ),
    "unclosed quotation mark": Row(table(lambda data: b'"' + data)),
    "name with terminal codes": Row(key(b"\x1b[31mR0041")),
    "same image twice": Row(key(b"R0001")),
    "image of a path": Row(key(b"../../R0001.png")),
    "unknown image": Row(key(b"R0041")),
    "column twice": Row(
        table(lambda data: data.replace(b"FileName,Glaucoma Risk", b"FileName,Glaucoma Risk,glaucoma_risk")),
    ),
    "column missing": Row(table(lambda data: data.replace(b"Glaucoma Risk", b"Risk"))),
    "decimal comma": Row(cell("0,5")),
    "program": Row(cell("__import__('os').system('kill 1')")),
    "number of 100,000 digits": Row(cell("1" * 100_000)),
    "coordinate outside": Row(cell("1e308,-1", FOVEA)),
    # Odd, but unmistakable: scored.
    "header in other words": Row(table(lambda data: data.replace(b"FileName,Glaucoma Risk", b"Bild,Wert"))),
}

ROWS = {**IMAGES, **ENTRIES, **TABLES}


def good_with_mask(folder: Path) -> None:
    """Make the good submission the one with `mask()` for its first image."""
    (folder / FIRST).write_bytes(images.bmp())
