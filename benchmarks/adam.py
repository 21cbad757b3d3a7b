"""ADAM at full size: 400 × 6 PNG masks a side of 2124 × 2056, whole process from start to metrics.json.

    python -m benchmarks.adam [--cases 400] [--runs 5] [--noise 0 0.1] [--rival]

Against a floor: only decoding the same files with the fastest decoder, SimpleITK on two threads. ``--noise``
flips that share of the pixels about every structure, like methods that decide pixel by pixel: such masks
compress far less than ellipses. Most masks of most structures are empty, and the empty masks of one author
have the same bytes; "all files different" gives every file its own comment, so that each is decoded. The
rival (``--rival``) is a plain evaluator like organisers write them: Pillow, boolean arrays, one process, no
checks, no interval, no isolation.

Peak memory is measured for the largest single process.
"""

from __future__ import annotations

import os
import struct
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.measure import (
    Contest,
    benchmark_parser,
    evaluate_command,
    organiser_contests,
    parse_or_run_part,
    rows_of,
    run_evaluation,
)

_NAME = "adam-full"
_NOISE = (0.0, 0.1)
_PNG_HEADER_BYTES = 33
# Without these glibc faults fresh pages in for every decoded image: the floor is to be as low as it can be.
_KEEP_PAGES = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}


def main() -> None:
    """Make the samples, time the commands and print a table for each."""
    parser = benchmark_parser(__doc__, cases=400, runs=5)
    parser.add_argument("--noise", type=float, nargs="+", default=_NOISE)
    parser.add_argument("--rival", action="store_true", help="run the rival, which takes a minute, as well")
    if (arguments := parse_or_run_part(parser, _PARTS)) is not None:
        rows_of(contests(arguments.cases, arguments.noise, arguments.rival), arguments.runs)


def contests(cases: int = 400, noises: Sequence[float] = _NOISE, rival: bool = False) -> Iterator[Contest]:
    """Yield two contests for every degree of noise; after the first, contests of the organiser's commands."""
    os.environ.update(_KEEP_PAGES)
    for number, noise in enumerate(noises):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            _sample(folder, cases, noise)
            title = f"ADAM, {cases} × 6 PNG masks of 2124 × 2056 a side, noise {noise:g}"
            yield _contest(folder, f"{title}, as written", rival)
            if number == 0:
                yield from organiser_contests(title, folder, _NAME)
            _make_all_different(folder)
            yield _contest(folder, f"{title}, all files different", rival)


def _contest(folder: Path, title: str, rival: bool) -> Contest:
    run_evaluation("seal", str(_reference(folder)))
    part = [sys.executable, "-m", "benchmarks.adam", "--folder", str(folder), "--only"]
    commands = {
        "evaluate (2 workers, intervals)": evaluate_command(folder, _NAME),
        "floor: decode, 2 threads": [*part, "decode"],
    }
    if rival:
        commands["rival: plain Pillow and numpy"] = [*part, "plain"]
    return Contest(title, commands)


def _sample(folder: Path, cases: int, noise: float) -> None:
    options = ("--name", _NAME, "--cases", str(cases), "--submissions", "good")
    run_evaluation("sample", "adam", "--output", str(folder), *options, "--noise", str(noise))


def _make_all_different(folder: Path) -> None:
    """Put a comment with its own number into every file, right behind the header."""
    for number, path in enumerate(_files(folder)):
        data = path.read_bytes()
        content = b"tEXtComment\0" + str(number).encode("ascii")
        chunk = struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))
        path.write_bytes(data[:_PNG_HEADER_BYTES] + chunk + data[_PNG_HEADER_BYTES:])


def _reference(folder: Path) -> Path:
    return folder / "ground-truth" / _NAME


def _submission(folder: Path) -> Path:
    return folder / "submissions" / "good"


def _files(folder: Path) -> list[Path]:
    return sorted((*_reference(folder).rglob("*.png"), *_submission(folder).rglob("*.png")))


def _decode(folder: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    import SimpleITK

    def decode(path: Path) -> None:
        reader = SimpleITK.ImageFileReader()
        reader.SetImageIO("PNGImageIO")
        reader.SetFileName(str(path))
        SimpleITK.GetArrayViewFromImage(reader.Execute())

    files = _files(folder)
    SimpleITK.ProcessObject.SetGlobalDefaultNumberOfThreads(1)
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(decode, files):
            pass


def _plain(folder: Path) -> None:
    import numpy as np
    from PIL import Image

    reference, submission = _reference(folder), _submission(folder)
    for structure in ("disc", "drusen", "exudate", "hemorrhage", "scar", "other"):
        inner = structure if structure == "disc" else f"lesions/{structure}"
        dice: list[float] = []
        right = wrong = 0
        for path in sorted((reference / inner).iterdir()):
            true = np.array(Image.open(path)) == 0
            predicted = np.array(Image.open(submission / inner / path.name)) == 0
            right += bool(true.any() and predicted.any())
            wrong += bool(true.any() != predicted.any())
            if true.any():
                dice.append(2 * np.logical_and(true, predicted).sum() / (true.sum() + predicted.sum()))
        print(structure, np.mean(dice), 2 * right / (2 * right + wrong))


_PARTS = {"decode": _decode, "plain": _plain}

if __name__ == "__main__":
    main()
