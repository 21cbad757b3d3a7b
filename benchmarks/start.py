"""How long it takes from the start of the process to the first file of a submission, for small phases.

    python -m benchmarks.start [--runs 11]

The bundled phases are sealed in a temporary folder, and two of them as declarations of the same files. Also
told is how many modules the main process has imported in the end, and the ratio of a declared phase.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
from operator import truediv
from pathlib import Path

from benchmarks.measure import Row, benchmark_parser, run_evaluation, seconds_to_first_open

_REPOSITORY = Path(__file__).resolve().parent.parent

_PLACES = {
    "justraigs-phase2": "",
    "edd2020": "detection_bbox",
    "refuge-onsite": "segmentation",
    "refuge-declared": "segmentation",
}
# REFUGE as anyone would declare it: the same files of a submission and of the reference.
_DECLARED = """
name = "refuge-declared"
title = "REFUGE, declared"
submission = "archive"

[fields.segmentation]
kind = "label_map"
dimensions = 2
labels = { 0 = "cup", 128 = "rim" }
background = 255
extensions = [".bmp"]
reference_folder = "masks"

[fields.risk]
kind = "number"
table = "classification_results.csv"
key_column = "FileName"
column = "Glaucoma Risk"
reference_column = "glaucoma"
positive = ["1"]
negative = ["0"]

[fields.fovea]
kind = "point"
dimensions = 2
unit = "pixels"
table = "fovea_location_results.csv"
key_column = "ImageName"
columns = ["Fovea_X", "Fovea_Y"]

[tasks.segmentation.metrics]
dice = { field = "segmentation" }

[tasks.classification.metrics]
auc = { field = "risk" }

[tasks.fovea.metrics]
mean_radial_error = { field = "fovea", worst = 250 }
"""

# The streams of the process are the evaluation's own, so the number goes into a file.
_COUNT = (
    "import sys; from evaluation.cli.main import main; main(sys.argv[2:]); "
    "open(sys.argv[1], 'w').write(str(len(sys.modules)))"
)


def main() -> None:
    """Time the start of each phase and print a line for it."""
    rows(benchmark_parser(__doc__, cases=1, runs=11).parse_args().runs)


def rows(runs: int = 11) -> list[Row]:
    """Print and return the rows of all phases, which are started in turn."""
    found: list[Row] = []
    print("\nprocess start to the first file of a submission")
    with tempfile.TemporaryDirectory() as temporary:
        arguments: dict[str, list[str]] = {}
        for name in _PLACES:
            phase, bundled = Path(temporary) / name, _bundled(name)
            shutil.copytree(_REPOSITORY / "ground-truth" / bundled, phase)
            if name != bundled:
                (phase / "phase.toml").write_text(_DECLARED)
                (phase / "leaderboard.csv").unlink()
            run_evaluation("seal", str(phase))
            submission = ["--input", str(_REPOSITORY / "test" / "input" / bundled)]
            arguments[name] = ["evaluate", "--output", temporary, *submission, "--ground-truth", str(phase)]
        seconds: dict[str, list[float]] = {name: [] for name in _PLACES}
        for _ in range(runs):
            for name, place in _PLACES.items():
                command = [sys.executable, "-m", "evaluation", *arguments[name]]
                folder = _REPOSITORY / "test" / "input" / _bundled(name) / place
                seconds[name].append(seconds_to_first_open(command, folder, 1))
        for name in _PLACES:
            count = Path(temporary) / "modules.txt"
            command = [sys.executable, "-c", _COUNT, str(count), *arguments[name]]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            modules, median = count.read_text(), statistics.median(seconds[name])
            twin = seconds[_bundled(name)]
            ratio = (
                statistics.median(map(truediv, seconds[name], twin)) if twin is not seconds[name] else None
            )
            said = "" if ratio is None else f", {ratio:.2f} times {_bundled(name)}"
            print(f"{name:<44} {median:>8.3f}    {modules} modules{said}")
            title = "process start to the first file read"
            found.append(Row(title, f"{name}, {modules} modules", median, ratio))
    return found


def _bundled(name: str) -> str:
    return name.replace("declared", "onsite")


if __name__ == "__main__":
    main()
