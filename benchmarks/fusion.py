"""References and ensembles: an ensemble of three REFUGE submissions, and the distinction of cysts.

    python -m benchmarks.fusion [--cases 100] [--runs 3]

The ensemble is timed as a whole process against the floor of only reading and decoding the same masks and
against a rival of the kind that organisers write: Pillow, a vote on whole images, no check of anything. The
distinction of 40 cysts in a B-scan of 512 × 1024 pixels (Eq. 1) is timed against SciPy's dilation of the
whole B-scan by a disc.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import (
    benchmark_parser,
    measure,
    parse_or_run_part,
    processor_seconds_of,
    report,
)

_TEAMS = ("good", "poor", "random")
_OURS = "ensemble"


def main() -> None:
    """Make the sample, time both and print the tables."""
    parser = benchmark_parser(__doc__, cases=100, runs=3)
    if (arguments := parse_or_run_part(parser, _PARTS)) is None:
        return
    with tempfile.TemporaryDirectory() as temporary:
        run = [sys.executable, "-m", "evaluation"]
        sample = [*run, "sample", "refuge", "--name", "full", "--cases", str(arguments.cases)]
        subprocess.run([*sample, "--output", temporary], check=True, stdout=subprocess.DEVNULL)
        part = [sys.executable, "-m", "benchmarks.fusion", "--folder", temporary, "--only"]
        commands = {
            _OURS: [*part, "ours"],
            "floor: read and decode with Pillow": [*part, "read"],
            "rival: Pillow, vote on whole images": [*part, "plain"],
        }
        print(f"an ensemble of three submissions of {arguments.cases} masks of 1634 × 1634 (.bmp)")
        report(measure(commands, arguments.runs), _OURS)
    _time_distinction(arguments.runs)


def _masks(folder: Path) -> list[list[Path]]:
    names = sorted(path.name for path in (folder / "submissions" / _TEAMS[0] / "segmentation").iterdir())
    return [[folder / "submissions" / team / "segmentation" / name for team in _TEAMS] for name in names]


def _ours(folder: Path) -> None:
    teams = [str(folder / "submissions" / team) for team in _TEAMS]
    with tempfile.TemporaryDirectory() as output:
        places = ["--ground-truth", str(folder / "ground-truth" / "full"), "--output", f"{output}/ensemble"]
        subprocess.run(
            [sys.executable, "-m", "evaluation", "ensemble", *teams, *places],
            check=True,
            stdout=subprocess.DEVNULL,
        )


def _read(folder: Path) -> None:
    from PIL import Image

    for paths in _masks(folder):
        for path in paths:
            np.asarray(Image.open(path))


def _plain(folder: Path) -> None:
    from PIL import Image

    with tempfile.TemporaryDirectory() as output:
        for paths in _masks(folder):
            masks = np.stack([np.asarray(Image.open(path)) for path in paths])
            disc, cup = (masks < 255).sum(axis=0) >= 2, (masks == 0).sum(axis=0) >= 2
            voted = np.where(cup, 0, np.where(disc, 128, 255)).astype(np.uint8)
            Image.fromarray(voted).save(Path(output) / paths[0].name)


def _time_distinction(runs: int) -> None:
    from scipy import ndimage

    from evaluation.organiser.cyst_benchmark.data import RING_PIXELS, cysts_of, distinctions

    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (1024, 512)).astype(np.uint8)
    levels = np.zeros((1024, 512), dtype=np.uint8)
    for y, x in zip(rng.integers(300, 700, 40), rng.integers(20, 480, 40), strict=True):
        levels[y : y + 15, x : x + 10] = rng.integers(1, 6)
    steps = np.arange(-RING_PIXELS, RING_PIXELS + 1)
    disc = steps[:, np.newaxis] ** 2 + steps**2 <= RING_PIXELS**2
    intensities = (0.0, 255.0)

    def ours() -> list[float]:
        return distinctions(image, levels, cysts_of(levels), intensities)

    def plain() -> list[float]:
        values = []
        for confidence in range(1, 6):
            components, count = ndimage.label(levels == confidence, np.ones((3, 3)))
            for number in range(1, count + 1):
                inside: NDArray[np.bool_] = components == number
                ring = ndimage.binary_dilation(inside, disc) & (levels == 0)
                inner, outer = (
                    np.histogram(image[region], 25, (0, 255))[0] / region.sum() for region in (inside, ring)
                )
                values.append(1 - float(np.minimum(inner, outer).sum()))
        return values

    np.testing.assert_allclose(ours(), plain(), atol=1e-12)
    fast, slow = processor_seconds_of(ours, runs), processor_seconds_of(plain, 1)
    print(f"distinction of {len(ours())} cysts of a B-scan: {1000 * fast:.0f} ms")
    times = f"{1000 * slow:.0f} ms, {slow / fast:.0f} times as long"
    print(f"rival: SciPy's dilation of the whole B-scan by a disc: {times}")


_PARTS = {"ours": _ours, "read": _read, "plain": _plain}


if __name__ == "__main__":
    main()
