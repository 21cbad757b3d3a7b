"""The synthetic samples of the examples, made by their own scripts."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from test.repository import REPOSITORY

EXAMPLES = REPOSITORY / "examples"


def write_sample(folder: Path, name: str, **options: int) -> Path:
    """Run the script of an example, and return the folder with ``phase`` and ``submission``."""
    specification = spec_from_file_location(f"sample_{name}", EXAMPLES / name / "sample.py")
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    module.write_sample(folder, **options)
    return folder


def lines_of(name: str) -> int:
    """Return how many lines an organiser has to write."""
    files = (EXAMPLES / name / file for file in ("phase.toml", "metrics.py"))
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files if file.exists())
