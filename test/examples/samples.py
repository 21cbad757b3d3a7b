"""The synthetic samples of the examples, made by their own scripts."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import evaluation
from test.repository import REPOSITORY

EXAMPLES = REPOSITORY / "examples"


def write_sample(folder: Path, name: str, **options: int) -> Path:
    """Run the script of an example, and return the folder with ``phase`` and ``submission``."""
    specification = spec_from_file_location(f"sample_{name}", EXAMPLES / name / "sample.py")
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    module.write_sample(folder, **options)
    return folder


def scored_sample(folder: Path, name: str, **options: int) -> tuple[Path, dict[str, float], dict[str, Any]]:
    """Return the folder of a sample, its figures as "task.figure", and the whole result."""
    write_sample(folder, name, **options)
    evaluation.seal(folder / "phase")
    result = scores_of(folder / "phase", folder / "submission")
    aggregates = result["aggregates"].items()
    figures = {f"{task}.{name}": entry["value"] for task, of in aggregates for name, entry in of.items()}
    return folder, figures, result


def scores_of(phase: Path, submission: Path) -> dict[str, Any]:
    """Return the result of a submission."""
    return evaluation.evaluate(phase, submission, workers=0).to_dict()


def lines_of(name: str) -> int:
    """Return how many lines an organiser has to write."""
    files = (EXAMPLES / name / file for file in ("phase.toml", "metrics.py"))
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files if file.exists())
