"""Leaf rooms can be deleted with their tests, each alone or all: the rest goes on, in a copy.

Without any leaf, all tests of the rest are collected, and those that look across rooms pass. Without each
alone, whatever may need it is imported (see `test.leafless`), and commands answer.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from evaluation.cli.main import COMMANDS
from test.leafless import without
from test.organiser.rescoring.teams import write_teams
from test.repository import REPOSITORY
from test.rooms import COMMANDS_OF_LEAVES, LEAVES

ALL = "all"
# The tests that look across rooms and take seconds, and some of rooms of the trunk.
ACROSS = (
    "test/cli/test_commands.py::test_every_command_has_help_with_an_example_that_runs_in_a_fresh_clone[audit]",
    "test/cli/test_commands.py::test_every_command_has_help_with_an_example_that_runs_in_a_fresh_clone[fuse]",
    "test/cli/test_commands.py::test_the_overview_is_one_screen_and_has_each_command_once",
    "test/cli/test_commands.py::test_the_options_that_completion_reads_are_those_of_the_commands",
    "test/docs/test_habits.py",
    "test/docs/test_workflows.py",
    "test/organiser/ranking/test_limits.py",
    "test/organiser/test_output.py",
    "test/scripts/test_branch_coverage.py",
    "test/test_architecture.py::test_imports_go_downwards",
    "test/test_architecture.py::test_a_leaf_is_named_only_where_it_is_found_by_name",
    "test/test_architecture.py::test_every_room_of_the_floors_exists",
    "test/test_architecture.py::test_the_page_names_every_room_and_says_which_are_leaves",
    "test/test_architecture.py::test_no_module_imports_itself_in_a_circle",
)
MORE = (
    "test/cli/test_commands.py",
    "test/core",
    "test/docs",
    "test/test_architecture.py",
    "test/test_package.py",
)
"""What looks across rooms, too, and takes minutes: once a week, without any leaf."""
# What a command says that has lost a part with the room.
LOST = {
    "attacks": (["audit", "{phase}", "--attack"], 1, "no room `attacks`"),
    "cyst_benchmark": (["report", "benchmark"], 2, "invalid choice: 'benchmark'"),
    "justraigs_graders": (["fuse", "graders"], 2, "invalid choice: 'graders'"),
    "parallel": (
        ["evaluate", "--each", "{teams}", "--ground-truth", "{phase}", "--output", "x", "--cluster", "local"],
        1,
        "no room `parallel`",
    ),
}
# What organisers do, without any leaf.
REST = """\
rehearse {phase}
audit {phase}
describe {phase}
evaluate --each {teams} --ground-truth {phase} --output each --workers 2
rank each --output board --resamples 0
report submission --ground-truth {phase} --input {teams}/folder --output one.html --workers 0
"""
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


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """Return a copy of the repository with its byte code, in which leaves are taken away and put back.

    Pages link to what lies beside them, so that only phases and submissions are links out of the copy.
    """
    folder = tmp_path_factory.mktemp("copy")
    left_out = shutil.ignore_patterns("input", "*.egg-info")
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
def places(tmp_path_factory) -> dict[str, Path]:
    phase, teams = write_teams(tmp_path_factory.mktemp("teams"))
    return {"phase": phase, "teams": teams}


def python(folder: Path, *arguments: str, timeout: int) -> str:
    """Run Python in a copy, and return what it printed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "EVALUATION_WEEKLY": "0", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    return done.stdout


def leaves_of(gone: str) -> tuple[str, ...]:
    return LEAVES if gone == ALL else (gone,)


def commands_of(leaves: Iterable[str]) -> set[str]:
    return {name for name, leaf in COMMANDS_OF_LEAVES.items() if leaf in leaves}


@pytest.mark.timeout(600)
def test_all_is_imported_and_commands_answer_without_a_leaf(copy, places):
    """No help and no completion names what is gone; a command that has lost a part says so."""
    wanted, expected = [], []
    for gone in (ALL, *LEAVES):
        lost = [LOST[leaf] for leaf in leaves_of(gone) if leaf in LOST]
        rest = [(line.split(), 0, "") for line in REST.splitlines() if gone == ALL]
        expected.append([*lost, *rest])
        lines = [[word.format(**places) for word in line] for line, *_ in expected[-1]]
        wanted.append({"gone": leaves_of(gone), "lines": lines})
    looks = python(copy, "-m", "test.leafless", json.dumps(wanted), timeout=500).splitlines()
    for gone, said, look in zip((ALL, *LEAVES), expected, map(json.loads, looks), strict=True):
        assert look["failed"] == {}, gone
        assert {"test.docs.test_pages", "test.test_leaves"} <= set(look["tests"]), gone
        assert set(look["commands"]) == COMMANDS.keys() - commands_of(leaves_of(gone))
        assert look["named"] == look["commands"]
        for (line, status, message), (found, output) in zip(said, look["said"], strict=True):
            assert (found, message in output) == (status, True), (gone, line, output)


@pytest.mark.timeout(600)
def test_all_tests_are_collected_without_any_leaf_and_those_across_rooms_pass(copy, tmp_path):
    with without(LEAVES, tmp_path, copy):
        said = python(copy, "-c", COLLECTED.format(across=ACROSS), timeout=500)
    assert_collected(said)


def assert_collected(said: str) -> None:
    (files,) = re.findall("^collected (.*)$", said, re.MULTILINE)
    assert not [
        name for name in files.split() if name.startswith(tuple(f"test/organiser/{leaf}/" for leaf in LEAVES))
    ]
    assert {"test/organiser/ranking/test_limits.py", "test/test_architecture.py"} <= set(files.split())


@pytest.mark.weekly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("gone", [ALL, *LEAVES])
def test_all_tests_are_collected_without_a_leaf_and_those_across_rooms_pass(gone, copy, tmp_path):
    across = (*ACROSS, *MORE) if gone == ALL else ACROSS
    with without(leaves_of(gone), tmp_path, copy):
        assert_collected(python(copy, "-c", COLLECTED.format(across=across), timeout=3500))


def test_no_test_of_the_rest_needs_a_leaf():
    """A test that takes a leaf's output as its material says so: `pytest.importorskip`, or `test.rooms`."""
    needing = []
    for path in sorted((REPOSITORY / "test").rglob("*.py")):
        text, place = path.read_text(encoding="utf-8"), path.relative_to(REPOSITORY / "test").parts
        for leaf in LEAVES:
            if place[:2] != ("organiser", leaf):
                import_of_leaf = rf"^(from|import) (evaluation|test)\.organiser(\.| import ){leaf}\b"
                needing += [(path.name, leaf)] if re.search(import_of_leaf, text, re.MULTILINE) else []
    assert needing == []
