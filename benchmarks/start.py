"""How long it takes from the start of the process to the first file of a submission, for small phases.

    python -m benchmarks.start [--runs 11]

The bundled phases are sealed in a temporary folder. Also told is how many modules the main process has
imported in the end.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Row, benchmark_parser, run_evaluation, seconds_to_first_open

_REPOSITORY = Path(__file__).resolve().parent.parent
_PLACES = {"justraigs-phase2": "", "edd2020": "detection_bbox", "refuge-onsite": "segmentation"}
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
    found = []
    print("\nprocess start to the first file of a submission")
    with tempfile.TemporaryDirectory() as temporary:
        for name, place in _PLACES.items():
            phase = Path(temporary) / name
            shutil.copytree(_REPOSITORY / "ground-truth" / name, phase)
            run_evaluation("seal", str(phase))
            submission = _REPOSITORY / "test" / "input" / name
            arguments = ["evaluate", "--output", temporary, "--input", str(submission)]
            arguments += ["--ground-truth", str(phase)]
            command = [sys.executable, "-m", "evaluation", *arguments]
            seconds = seconds_to_first_open(command, submission / place, runs)
            count = Path(temporary) / "modules.txt"
            subprocess.run(
                [sys.executable, "-c", _COUNT, str(count), *arguments], check=True, stdout=subprocess.DEVNULL
            )
            modules = count.read_text()
            print(f"{name:<44} {seconds:>8.3f}    {modules} modules")
            found.append(Row("process start to the first file read", f"{name}, {modules} modules", seconds))
    return found


if __name__ == "__main__":
    main()
