"""The package as others install it: a wheel in a fresh environment, and its console command."""

import json
import os
import re
import shutil
import site
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from evaluation import __version__
from test.phases import refuge_phase, refuge_submission
from test.repository import REPOSITORY

# The files that `pip install .` reads in a fresh clone.
SOURCES = (
    "evaluation",
    "pyproject.toml",
    "setup.py",
    "README.md",
    "LICENSE",
    "Dockerfile",
    "requirements.txt",
)
# With an index of packages, a true installation; without one, the packages of the tests are used.
HAS_INDEX = os.environ.get("EVALUATION_REQUIRE_INDEX") == "1"


def run(*command: object, cwd: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("package")
    clone = folder / "clone"
    clone.mkdir()
    for name in SOURCES:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, clone)
    # A clone has other top-level folders too, which are no part of the package.
    (clone / "test").mkdir()
    (clone / "test" / "__init__.py").touch()
    isolation = [] if HAS_INDEX else ["--no-build-isolation"]
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", *isolation, "-w", folder, clone, cwd=folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory) -> Path:
    """Return the folder of the programs of a fresh environment in which the wheel is installed."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    more = ["--constraint", constraints(folder)] if HAS_INDEX else ["--no-deps", "--no-index"]
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-compile", *more, wheel, cwd=folder)
    if not HAS_INDEX:
        (packages,) = folder.glob("lib/python*/site-packages")
        (packages / "tests.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return folder / "bin"


def constraints(folder: Path) -> Path:
    """Return a file of the pinned versions without their hashes, which a wheel of our own has not."""
    pinned = re.findall(r"^[\w.-]+==[\w.]+", (REPOSITORY / "requirements.txt").read_text(), re.MULTILINE)
    path = folder / "constraints.txt"
    path.write_text("\n".join(pinned))
    return path


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    assert wheel.name == f"challenge_evaluation-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    sources = (path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "evaluation").rglob("*.py"))
    templates = (
        path.relative_to(REPOSITORY).as_posix()
        for path in (REPOSITORY / "evaluation/organiser").rglob("templates/*")
    )
    recipe = {f"evaluation/organiser/image/base/{name}" for name in ("Dockerfile", "requirements.txt")}
    tables = {f"evaluation/{name}" for name in ("py.typed", "entry_points.txt", "cli/commands.toml")}
    assert names == {*tables, *templates, *recipe, *sources}


def test_it_is_the_installed_package_that_runs(programs, tmp_path):
    file = run(programs / "python", "-c", "import evaluation; print(evaluation.__file__)", cwd=tmp_path)
    assert Path(file).is_relative_to(programs.parent)
    assert run(programs / "evaluation", "--version", cwd=tmp_path) == f"evaluation {__version__}\n"


def test_the_console_command_and_the_library_score_a_phase_without_the_repository(programs, tmp_path):
    phase = refuge_phase(tmp_path / "ground-truth" / "tiny", 6, sealed=False)
    submission = refuge_submission(tmp_path / "submission", 6)
    command = programs / "evaluation"
    run(command, "seal", "tiny", cwd=tmp_path)
    run(
        *(command, "evaluate", "--ground-truth", "tiny", "--input", submission, "--output", "output"),
        cwd=tmp_path,
    )
    metrics = json.loads((tmp_path / "output" / "metrics.json").read_text())
    assert metrics["cases"] == {"expected": 6, "scored": 6, "worst": 0}
    (phase / "manifest.json").unlink()
    program = (
        "import sys, evaluation; evaluation.seal(sys.argv[1]); "
        "print(len(evaluation.evaluate(sys.argv[1], sys.argv[2]).cases()))"
    )
    assert run(programs / "python", "-c", program, phase, submission, cwd=tmp_path) == "6\n"
