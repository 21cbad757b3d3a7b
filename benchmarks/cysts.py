"""SD-OCT cysts at real sizes: 26 volumes of up to 256 × 885 × 512 voxels, whole process to metrics.json.

    python -m benchmarks.cysts [--cases 26] [--runs 3]

Against the floor of only reading the same files (prediction, confidence, level) with SimpleITK on two
threads, and a rival of the kind that organisers write: whole arrays in memory, Eq. 3 and the Dice by NumPy,
components by SciPy, one process, no distances, no check of values. Files are compressed MetaImages.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.measure import (
    Contest,
    benchmark_parser,
    evaluate_command,
    organiser_contests,
    parse_or_run_part,
    rows_of,
    write_sample,
)

_NAME = "cysts-full"


def main() -> None:
    """Make the sample, time the commands and print the table."""
    parser = benchmark_parser(__doc__, cases=26, runs=3)
    if (arguments := parse_or_run_part(parser, _PARTS)) is not None:
        rows_of(contests(arguments.cases), arguments.runs)


def contests(cases: int = 26) -> Iterator[Contest]:
    """Yield the contest, and contests of the organiser's commands for the same phase."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_sample("cysts", folder, _NAME, "--name", _NAME, "--cases", str(cases))
        part = [sys.executable, "-m", "benchmarks.cysts", "--folder", temporary, "--only"]
        commands = {
            "evaluate (2 workers, distances, intervals)": evaluate_command(folder, _NAME),
            "floor: read with SimpleITK, two threads": [*part, "read"],
            "rival: plain NumPy and SciPy, one process": [*part, "plain"],
        }
        title = f"cysts, {cases} volumes at real sizes"
        yield Contest(f"{title}, compressed .mha: a float map, confidence and level", commands)
        yield from organiser_contests(title, folder, _NAME)


def _files(folder: Path) -> list[tuple[Path, Path, Path]]:
    phase = folder / "ground-truth" / _NAME
    return [
        (path, phase / "confidence" / path.name, phase / "level" / path.name)
        for path in sorted((folder / "submissions" / "good" / "cysts").iterdir())
    ]


def _read(folder: Path) -> None:
    import SimpleITK

    SimpleITK.ProcessObject.SetGlobalDefaultNumberOfThreads(1)

    def read(paths: tuple[Path, ...]) -> None:
        for path in paths:
            SimpleITK.ReadImage(str(path))

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(read, _files(folder)))


def _plain(folder: Path) -> None:
    import numpy as np
    import SimpleITK
    from scipy import ndimage

    rows = []
    for paths in _files(folder):
        a, b, level = (SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path))) for path in paths)
        weighted = 2 * (a * b).sum(dtype=float) / ((a * a).sum(dtype=float) + (b * b).sum(dtype=float))
        marked, annotated = a > 0, level > 0
        both = marked & annotated
        dice = 2 * both.sum() / (marked.sum() + annotated.sum())
        cysts, number = ndimage.label(annotated, np.ones((3, 3, 3)))
        found = len(np.unique(cysts[both]))
        predicted, predicted_components = ndimage.label(marked, np.ones((3, 3, 3)))
        rows.append((weighted, dice, found / number, predicted_components - len(np.unique(predicted[both]))))
    np.mean(rows, axis=0)


_PARTS = {"read": _read, "plain": _plain}


if __name__ == "__main__":
    main()
