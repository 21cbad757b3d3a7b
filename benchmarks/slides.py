"""A mask of a whole slide, 5 % of it foreground in one region, as tiles of 512² that are deflated.

    python -m benchmarks.slides [--side 100000] [--runs 3]

`evaluate` with its confined readers, and the rival, tifffile, which reads both masks whole, crops nothing and
counts the Dice coefficient plane by plane; from a side of 40000 on it is left out. Memory is that of all
processes in sum, by proportional set size.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import tifffile

from benchmarks.measure import benchmark_parser, run_evaluation

_TILE = 512
_LARGEST_OF_RIVAL = 40_000
_PHASE = """\
name = "slides"
title = "Slides"
submission = "archive"
resamples = 0

[fields.tissue]
kind = "label_map"
dimensions = 2
labels = { 1 = "tumour" }

[tasks.segmentation.metrics]
dice = {}
"""
_RIVAL = """\
import sys, numpy, tifffile
a, b = (tifffile.imread(path) for path in sys.argv[1:])
both = sum(int(numpy.count_nonzero(x & y)) for x, y in zip(a, b))
print(2 * both / (int(numpy.count_nonzero(a)) + int(numpy.count_nonzero(b))))
"""


def main() -> None:
    """Write the slides, and print seconds and memory."""
    parser = benchmark_parser(__doc__, cases=1, runs=3)
    parser.add_argument("--side", type=int, default=100_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        files = [folder / place / "tissue" / "S1.tif" for place in ("phase", "submission")]
        for file, shift in zip(files, (0, 20), strict=True):
            file.parent.mkdir(parents=True)
            tifffile.imwrite(
                file,
                _tiles(arguments.side, shift),
                shape=(arguments.side, arguments.side),
                dtype="u1",
                tile=(_TILE, _TILE),
                compression="zlib",
                bigtiff=True,
            )
        (folder / "phase" / "cases.csv").write_text(
            f"name,width,height\nS1,{arguments.side},{arguments.side}\n"
        )
        (folder / "phase" / "phase.toml").write_text(_PHASE)
        run_evaluation("seal", str(folder / "phase"))
        ours = [*(sys.executable, "-m", "evaluation", "evaluate", "--output", temporary)]
        ours += ["--input", str(folder / "submission"), "--ground-truth", str(folder / "phase")]
        commands = {"evaluate": ours}
        if arguments.side < _LARGEST_OF_RIVAL:
            commands["rival: tifffile"] = [sys.executable, "-c", _RIVAL, *map(str, files)]
        for name, command in commands.items():
            runs = [_measured(command) for _ in range(arguments.runs)]
            seconds, peak = (sorted(figures)[len(runs) // 2] for figures in zip(*runs, strict=True))
            print(f"{name:<20} {seconds:>8.1f} s {peak / 1024:>8.0f} MB in sum")


def _tiles(side: int, shift: int) -> Iterator[bytes]:
    """Yield the deflated tiles of a disc of a twentieth of the area; of uniform ones each content once."""
    radius, middle = (0.05 * side * side / np.pi) ** 0.5, side // 2 + shift
    uniform = {value: zlib.compress(bytes([value]) * _TILE**2) for value in (0, 1)}
    offsets = [np.arange(start, start + _TILE) - middle for start in range(0, side, _TILE)]
    for y in offsets:
        for x in offsets:
            tile = (y[:, np.newaxis] ** 2 + x**2 <= radius**2).astype(np.uint8)
            same = tile.min() == tile.max()
            yield uniform[int(tile[0, 0])] if same else zlib.compress(tile.tobytes())


def _measured(command: list[str]) -> tuple[float, int]:
    """Return seconds and the peak memory of a command with all its processes, in kB."""
    started, peak = time.perf_counter(), 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        peak = max(peak, sum(map(_resident, _family(process.pid))))
        time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"status {process.returncode}: {' '.join(command)}")
    return time.perf_counter() - started, peak


def _family(process: int) -> Iterator[int]:
    yield process
    try:
        children = [
            child
            for task in Path(f"/proc/{process}/task").glob("*/children")
            for child in task.read_text().split()
        ]
    except OSError:  # it has ended
        return
    for child in children:
        yield from _family(int(child))


def _resident(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


if __name__ == "__main__":
    main()
