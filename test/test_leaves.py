"""Leaf rooms can be deleted with their tests, each alone or all: the rest goes on, in a copy.

Each run of the tests collects those of the rest without any leaf. All else is drawn as other long tests are
(see `test.budget`), and leaves out long tests of the rest, which EVALUATION_THOROUGH=1 runs.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evaluation.cli.main import COMMANDS
from test.organiser.rescoring.teams import write_teams
from test.repository import REPOSITORY, THOROUGH
from test.rooms import COMMANDS_OF_LEAVES, LEAVES

ALL = "all"
# The tests that look across rooms.
ACROSS = (
    "test/cli/test_commands.py",
    "test/core",
    "test/docs",
    "test/messages",
    "test/scripts/test_branch_coverage.py",
    "test/test_architecture.py",
    "test/test_package.py",
)
# Tests of rooms of the trunk that take a second.
FAST = (
    "test/organiser/ranking/test_limits.py",
    "test/organiser/test_output.py",
    "test/organiser/test_label_splits.py",
)
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
REST = """\
import sys
import pytest
from evaluation.cli.main import main

phase, teams = {phase!r}, {teams!r}
for line in (
    f"rehearse {{phase}}",
    f"audit {{phase}}",
    f"describe {{phase}}",
    f"evaluate --each {{teams}} --ground-truth {{phase}} --output each --workers 2",
    "rank each --output board --resamples 0",
    f"report submission --ground-truth {{phase}} --input {{teams}}/folder --output one.html --workers 0",
    "fuse annotators nothing --output fused",
):
    status = main(line.split())
    assert status == line.startswith("fuse"), line
sys.exit(pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", *{fast!r}]))
"""
# Prints the commands, and those that their help and the completion name.
NAMED = """\
import contextlib, importlib, io, json, re
from evaluation.cli.main import COMMANDS, main, parser_of

named = set()
for name, command in COMMANDS.items():
    shown = parser_of(name, importlib.import_module(f"evaluation.{command.module}")).format_help()
    named |= set(re.findall("-m evaluation ([a-z]+)", shown))
with contextlib.redirect_stdout(io.StringIO()) as printed:
    main(["completion", "fish"])
named |= set(re.findall("__fish_use_subcommand -a ([a-z]+)", printed.getvalue()))
print(json.dumps([sorted(COMMANDS), sorted(named)]))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """Return a copy of the repository, in which leaves are taken away and put back.

    Pages link to what lies beside them, so that only phases and submissions are links out of the copy.
    """
    folder = tmp_path_factory.mktemp("copy")
    linked = ("ground-truth", "test/input")
    left_out = shutil.ignore_patterns("__pycache__", "input", "*.egg-info")
    for path in REPOSITORY.iterdir():
        if path.is_file() and path.name != ".git":
            shutil.copy(path, folder)
    for name in (
        "evaluation",
        "test",
        "docs",
        "benchmarks",
        "examples",
        "schemas",
        "scripts",
        ".github",
        ".ci",
    ):
        shutil.copytree(REPOSITORY / name, folder / name, ignore=left_out)
    for name in linked:
        (folder / name).symlink_to(REPOSITORY / name)
    return folder


@pytest.fixture(scope="module")
def teams(tmp_path_factory) -> tuple[Path, Path]:
    return write_teams(tmp_path_factory.mktemp("teams"))


def python(folder: Path, *arguments: str, timeout: int = 300) -> subprocess.CompletedProcess[str]:
    """Run Python in a copy; where this run is not thorough, its tests leave out all that take long."""
    # The copy has no commit, by which others would be drawn.
    short = {} if THOROUGH else {"EVALUATION_TEST_SECONDS": "0"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **short},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def run_tests(folder: Path, *arguments: str) -> str:
    """Run tests of a copy, and return what was printed; none may fail."""
    words = ("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not container")
    done = python(folder, *words, *arguments, timeout=7200 if THOROUGH else 900)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    return done.stdout


@contextmanager
def without(gone: str, copy: Path, kept: Path) -> Iterator[None]:
    """Take a room and its tests away from a copy, or all of them."""
    rooms = [Path(wing, "organiser", leaf) for leaf in leaves_of(gone) for wing in ("evaluation", "test")]
    away = {copy / room: kept / "-".join(room.parts) for room in rooms if (copy / room).is_dir()}
    for room, place in away.items():
        shutil.move(room, place)
    try:
        yield
    finally:
        for room, place in away.items():
            shutil.move(place, room)


def leaves_of(gone: str) -> tuple[str, ...]:
    return LEAVES if gone == ALL else (gone,)


def commands_of(leaves: Iterable[str]) -> set[str]:
    return {name for name, leaf in COMMANDS_OF_LEAVES.items() if leaf in leaves}


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("gone", [ALL, *LEAVES])
def test_the_tests_of_the_rest_are_collected(gone, copy, tmp_path):
    with without(gone, copy, tmp_path):
        listed = run_tests(copy, "--collect-only", "test")
    assert all(f"test/organiser/{leaf}/" not in listed for leaf in leaves_of(gone))
    assert "test/organiser/ranking/test_limits.py" in listed


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("gone", [ALL, *LEAVES])
def test_the_rest_passes_the_tests_that_look_across_rooms(gone, copy, tmp_path):
    with without(gone, copy, tmp_path):
        run_tests(copy, *ACROSS)


def test_the_rest_goes_on_without_any_leaf(copy, teams, tmp_path):
    phase, submissions = teams
    with without(ALL, copy, tmp_path):
        done = python(copy, "-c", REST.format(phase=str(phase), teams=str(submissions), fast=FAST))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.parametrize("gone", [ALL, *LEAVES])
def test_its_commands_alone_go_with_a_leaf(gone, copy, teams, tmp_path):
    """No help and no completion names what is gone; a command that has lost a part says so."""
    phase, submissions = teams
    with without(gone, copy, tmp_path):
        done = python(copy, "-c", NAMED)
        assert done.returncode == 0, done.stderr[-3000:]
        commands, named = map(set, json.loads(done.stdout))
        assert commands == COMMANDS.keys() - commands_of(leaves_of(gone))
        assert named == commands
        for leaf in set(leaves_of(gone)) & LOST.keys():
            arguments, status, message = LOST[leaf]
            places = {"phase": phase, "teams": submissions}
            said = python(copy, "-m", "evaluation", *(word.format(**places) for word in arguments))
            output = said.stdout + said.stderr
            assert (said.returncode, message in output) == (status, True), output


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
