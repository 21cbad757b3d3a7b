"""Leaf rooms can be deleted with their tests, each alone or all: the rest goes on, in a copy.

Without any leaf, all tests of the rest are collected, those that look across rooms pass, and commands answer;
once a week, without each alone. Nothing imports a leaf: see `test.test_architecture`.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from test.organiser.rescoring.teams import write_teams
from test.repository import REPOSITORY
from test.rooms import LEAVES
from test.started import run, strict_server

# The tests that look across rooms and take seconds, and some of rooms of the trunk.
ACROSS = (
    "test/cli/test_commands.py::test_every_command_has_help",
    "test/cli/test_commands.py::test_the_overview_is_one_screen_and_has_each_command_once",
    "test/docs/test_habits.py",
    "test/docs/test_workflows.py",
    "test/organiser/ranking/test_limits.py",
    "test/organiser/test_output.py",
    "test/scripts/test_branch_coverage.py",
    "test/test_architecture.py::test_imports_go_downwards",
    "test/test_architecture.py::test_every_room_of_the_floors_exists",
    "test/test_architecture.py::test_no_module_imports_itself_in_a_circle",
)
# What commands say without any leaf, and with which status: those that have lost a part with its room say so.
SAID = {
    "report benchmark": (2, "invalid choice: 'benchmark'"),
    "fuse graders": (2, "invalid choice: 'graders'"),
    "evaluate --each {teams} --ground-truth {phase} --output {out}/x --cluster local": (
        1,
        "no room `parallel`",
    ),
    "rehearse {phase}": (0, ""),
    "audit {phase}": (0, ""),
    "describe {phase}": (0, ""),
    "evaluate --each {teams} --ground-truth {phase} --output {out}/each --workers 2": (0, ""),
    "rank {out}/each --output {out}/board --resamples 0": (0, ""),
    "report submission --ground-truth {phase} --input {teams}/folder --output {out}/one.html": (0, ""),
}
# Collects all tests, and runs some of them.
COLLECTED = """\
import sys
import pytest

class Chosen:
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        print("collected", *sorted({{item.nodeid.partition("::")[0] for item in items}}))
        items[:] = [item for item in items if item.nodeid.startswith({across!r})]

options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not container", "test"]
sys.exit(pytest.main(options, plugins=[Chosen()]))
"""


def copy_without(leaves: Sequence[str], folder: Path) -> Path:
    """Return a copy of the repository with its byte code, but without leaves and their tests.

    Pages link to what lies beside them, so that only phases and submissions are links out of the copy.
    """
    gone = {str(REPOSITORY / wing / "organiser" / leaf) for wing in ("evaluation", "test") for leaf in leaves}

    def left_out(place: str, names: list[str]) -> set[str]:
        return {name for name in names if f"{place}/{name}" in gone or name == "input"}

    for path in REPOSITORY.iterdir():
        if path.is_file() and path.name != ".git":
            shutil.copy(path, folder)
    folders = ("evaluation", "test", "docs", "benchmarks", "examples", "schemas", "scripts", ".github", ".ci")
    for name in folders:
        shutil.copytree(REPOSITORY / name, folder / name, ignore=left_out)
    for name in ("ground-truth", "test/input"):
        (folder / name).symlink_to(REPOSITORY / name)
    return folder


@pytest.fixture(scope="module")
def trunk(tmp_path_factory) -> Path:
    """Return a copy without any leaf."""
    return copy_without(LEAVES, tmp_path_factory.mktemp("trunk"))


def assert_tests_pass(copy: Path) -> None:
    """Collect all tests of a copy, and run those that look across rooms."""
    done = subprocess.run(
        [sys.executable, "-c", COLLECTED.format(across=ACROSS)],
        cwd=copy,
        env={**os.environ, "EVALUATION_WEEKLY": "0", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    (collected,) = re.findall("^collected (.*)$", done.stdout, re.MULTILINE)
    assert {"test/organiser/ranking/test_limits.py", "test/test_architecture.py"} <= set(collected.split())


@pytest.mark.timeout(600)
def test_all_tests_are_collected_without_any_leaf_and_those_across_rooms_pass(trunk):
    assert_tests_pass(trunk)


def test_commands_answer_without_any_leaf(trunk, tmp_path):
    phase, teams = write_teams(tmp_path)
    for line, (status, message) in SAID.items():
        words = line.format(phase=phase, teams=teams, out=tmp_path).split()
        done = run(*words, cwd=trunk, server=strict_server(trunk))
        said = done.stdout + done.stderr
        assert (done.returncode, message in said) == (status, True), line + said


@pytest.mark.weekly
@pytest.mark.timeout(1000)
@pytest.mark.parametrize("gone", LEAVES)
def test_those_across_rooms_pass_without_a_leaf(gone, tmp_path):
    assert_tests_pass(copy_without([gone], tmp_path))
