"""The imports of `evaluate`, in its process and in the workers': a participant waits for them."""

import subprocess
import sys

import pytest

from evaluation.workers.processes import _PRELOAD
from test.phases import refuge_phase, refuge_submission
from test.repository import REPOSITORY

MOST_MODULES = 510
# Heavy to import, and not needed to score.
HEAVY = {
    *("pandas", "scipy", "sklearn", "rich", "matplotlib", "jinja2", "pypdf", "vl_convert"),
    *("dask", "distributed", "fsspec"),
}
# Modules that only readers, scorers, other commands or a terminal need.
OF_OTHERS = {
    *("SimpleITK", "PIL", "asyncio", "numpy.ma", "tifffile"),
    *("evaluation.workers.submission_reader", "evaluation.platform.submission", "evaluation.organiser"),
}
SCRIPT = """
import sys
from evaluation.__main__ import run
status = run()
with open({0!r}, "w") as file:
    file.write("\\n".join(sys.modules))
sys.exit(status)
"""


@pytest.mark.parametrize(("workers", "others"), [("1", OF_OTHERS), ("0", set())])
def test_evaluate_imports_only_what_it_needs(workers, others, tmp_path):
    phase, modules = refuge_phase(tmp_path / "phase", 24), tmp_path / "modules.txt"
    submission = refuge_submission(tmp_path / "submission", 24)
    arguments = ["evaluate", "--ground-truth", phase, "--input", submission, "--output", tmp_path / "output"]
    command = [sys.executable, "-c", SCRIPT.format(str(modules)), *map(str, arguments), "--workers", workers]
    subprocess.run(command, check=True, capture_output=True, cwd=REPOSITORY)
    imported = set(modules.read_text().split())
    assert workers == "0" or len(imported) <= MOST_MODULES
    assert not (HEAVY | others) & imported


def test_workers_import_only_what_they_need():
    challenges = (
        f"evaluation.challenges.{name}" for name in ("adam", "cysts", "edd2020", "justraigs", "refuge")
    )
    modules = ", ".join(("sys", *_PRELOAD, *challenges))
    command = [sys.executable, "-c", f"import {modules}; print(*sys.modules)"]
    found = subprocess.run(command, check=True, capture_output=True, text=True, cwd=REPOSITORY)
    assert not {"pandas", "sklearn", "scipy", "rich", "asyncio"} & set(found.stdout.split())
