"""ADAM at full size: 400 × 6 PNG masks a side of 2124 × 2056, whole process from start to metrics.json.

    python -m benchmarks.adam [--cases 400] [--runs 5] [--noise 0 0.1] [--rival]

Against a floor: only decoding the same files with the fastest decoder, SimpleITK on two threads, with its
start-up and without. ``--noise`` flips that share of the pixels about every structure, as methods do that
decide pixel by pixel: such masks compress far less than ellipses. Most masks of most structures are empty,
and those of one author are the same bytes; "all files different" gives every file a comment of its own, so
that nothing can be recognised and each is decoded. The rival (``--rival``, run once) is a plain evaluator of
the kind that organisers write: Pillow, boolean arrays, one process, no checks, no interval, no isolation.

Peak memory is that of the largest single process.
"""

from __future__ import annotations

import argparse
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

from benchmarks.measure import benchmark_parser, measure, parse_or_run_part, report

_OURS = "evaluate (2 workers, intervals)"
_NAME = "adam-full"
_PNG_HEADER_BYTES = 33
# Without these glibc faults fresh pages in for every decoded image: the floor is to be as low as it can be.
_KEEP_PAGES = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}


def main() -> None:
    """Make the samples, time the commands and print a table for each."""
    parser = benchmark_parser(__doc__, cases=400, runs=5)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.1])
    parser.add_argument("--rival", action="store_true", help="run the rival, which takes a minute, as well")
    if (arguments := parse_or_run_part(parser, _PARTS)) is None:
        return
    os.environ.update(_KEEP_PAGES)
    for noise in arguments.noise:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            _sample(folder, arguments.cases, noise)
            _compare(folder, arguments, f"noise {noise:g}, as written")
            _make_all_different(folder)
            _compare(folder, arguments, f"noise {noise:g}, all files different")


def _compare(folder: Path, arguments: argparse.Namespace, title: str) -> None:
    run = [sys.executable, "-m", "evaluation"]
    phase, submission = _reference(folder), _submission(folder)
    subprocess.run([*run, "seal", str(phase)], check=True, stdout=subprocess.DEVNULL)
    evaluate = [*run, "evaluate", "--input", str(submission), "--ground-truth", str(phase)]
    part = [sys.executable, "-m", "benchmarks.adam", "--folder", str(folder), "--only"]
    files = _files(folder)
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    print(f"\n{arguments.cases} cases, {len(files)} masks, {megabytes:.0f} MB, {title}")
    commands = {
        _OURS: [*evaluate, "--output", str(folder)],
        "floor: decode, 2 threads": [*part, "decode"],
    }
    measured = measure(commands, arguments.runs)
    report(measured, _OURS)
    ours = measured[_OURS].seconds
    loop = statistics.median(float(_output([*part, "decode"])) for _ in range(arguments.runs))
    print(f"{'floor: the decoding alone, no start-up':<44} {loop:>8.2f} {ours / loop:>10.2f}")
    if arguments.rival:
        started = time.perf_counter()
        _output([*part, "plain"])
        rival = time.perf_counter() - started
        print(f"{'rival: plain Pillow and numpy':<44} {rival:>8.2f} {ours / rival:>10.2f}", flush=True)


def _sample(folder: Path, cases: int, noise: float) -> None:
    sample = [
        *(sys.executable, "-m", "evaluation", "sample", "adam", "--output", str(folder), "--name", _NAME),
        *("--cases", str(cases), "--second-camera", "0", "--submissions", "good", "--noise", str(noise)),
    ]
    subprocess.run(sample, check=True, stdout=subprocess.DEVNULL)


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


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


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
    started = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(decode, files):
            pass
    print(time.perf_counter() - started)


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
