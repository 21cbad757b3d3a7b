"""The imports of `evaluate`, in its process and in the workers': a participant waits for them."""

import shutil
import subprocess
import sys

import pytest

from evaluation.phase.manifest import scan, seal
from evaluation.workers.processes import _PRELOAD
from test.repository import REPOSITORY
from test.test_architecture import NOT_IN_EVALUATE

MOST_MODULES = 510
# Modules that only readers, scorers, other commands or a terminal need.
OF_OTHERS = {
    *("SimpleITK", "PIL", "asyncio", "numpy.ma", "tifffile", *NOT_IN_EVALUATE),
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


@pytest.mark.parametrize("name", ["edd2020", "justraigs-phase2", "refuge-onsite"])
def test_evaluate_imports_only_what_it_needs(name, tmp_path):
    phase, modules = tmp_path / "phase", tmp_path / "modules.txt"
    shutil.copytree(REPOSITORY / "ground-truth" / name, phase)
    seal(phase, scan(phase))
    arguments = ["evaluate", "--ground-truth", str(phase), "--output", str(tmp_path / "output")]
    arguments += ["--input", str(REPOSITORY / "test" / "input" / name)]
    command = [sys.executable, "-c", SCRIPT.format(str(modules)), *arguments]
    subprocess.run(command, check=True, capture_output=True, cwd=REPOSITORY)
    imported = set(modules.read_text().split())
    assert len(imported) <= MOST_MODULES
    assert not OF_OTHERS & imported


@pytest.mark.parametrize("challenge", ["adam", "cysts", "edd2020", "justraigs", "refuge"])
def test_workers_import_only_what_they_need(challenge):
    modules = ", ".join(("sys", *_PRELOAD, f"evaluation.challenges.{challenge}"))
    program = f"import {modules}; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, check=True, capture_output=True, text=True, cwd=REPOSITORY)
    assert not {"pandas", "sklearn", "scipy", "rich", "asyncio"} & set(found.stdout.split())
