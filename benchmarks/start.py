"""How long it takes from the start of the process to the first file of a submission, for small phases.

    python -m benchmarks.start [--runs 11]

The bundled phases are sealed in a temporary folder, and two of them as declarations of the same files. Also
told is how many modules the main process has imported in the end, and the ratio of a declared phase.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
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
reference = "glaucoma"
positive = ["1"]
negative = ["0"]

[fields.fovea]
kind = "point"
axes = 2
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
    """Print and return the rows of all phases."""
    found: list[Row] = []
    print("\nprocess start to the first file of a submission")
    with tempfile.TemporaryDirectory() as temporary:
        for name, place in _PLACES.items():
            phase, bundled = Path(temporary) / name, name.replace("declared", "onsite")
            shutil.copytree(_REPOSITORY / "ground-truth" / bundled, phase)
            if name != bundled:
                (phase / "phase.toml").write_text(_DECLARED)
                (phase / "leaderboard.csv").unlink()
            run_evaluation("seal", str(phase))
            submission = _REPOSITORY / "test" / "input" / bundled
            arguments = ["evaluate", "--output", temporary, "--input", str(submission)]
            arguments += ["--ground-truth", str(phase)]
            command = [sys.executable, "-m", "evaluation", *arguments]
            seconds = seconds_to_first_open(command, submission / place, runs)
            count = Path(temporary) / "modules.txt"
            subprocess.run(
                [sys.executable, "-c", _COUNT, str(count), *arguments], check=True, stdout=subprocess.DEVNULL
            )
            modules = count.read_text()
            title = "process start to the first file read"
            twin = next((row.seconds for row in found if row.name.startswith(bundled)), None)
            ratio = None if twin is None else seconds / twin
            said = "" if ratio is None else f", {ratio:.2f} times {bundled}"
            print(f"{name:<44} {seconds:>8.3f}    {modules} modules{said}")
            found.append(Row(title, f"{name}, {modules} modules", seconds, ratio))
    return found


if __name__ == "__main__":
    main()
