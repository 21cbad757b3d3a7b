"""Leaf rooms can be deleted with their tests, each alone or all: the rest goes on, in a copy."""

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
from test.repository import REPOSITORY
from test.test_architecture import LEAVES

# Tests of the trunk that take a second.
FAST = (
    "test/core/test_row_columns.py",
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
from evaluation.cli.main import COMMANDS, main

print(*COMMANDS)
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


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Return a copy of the repository, in which leaves are taken away and put back."""
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__", "input", "container")
    for name in ("evaluation", "test"):
        shutil.copytree(REPOSITORY / name, folder / name, ignore=ignored)
    for name in ("pyproject.toml", "ground-truth", "docs", "schemas"):
        (folder / name).symlink_to(REPOSITORY / name)
    return folder


@pytest.fixture(scope="module")
def teams(tmp_path_factory):
    return write_teams(tmp_path_factory.mktemp("teams"))


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


@contextmanager
def without(leaves: Iterable[str], copy: Path, kept: Path) -> Iterator[None]:
    """Take rooms and their tests away from a copy."""
    rooms = [Path(wing, "organiser", leaf) for leaf in leaves for wing in ("evaluation", "test")]
    away = {copy / room: kept / "-".join(room.parts) for room in rooms if (copy / room).is_dir()}
    for room, place in away.items():
        shutil.move(room, place)
    try:
        yield
    finally:
        for room, place in away.items():
            shutil.move(place, room)


def commands_of(leaves: Iterable[str]) -> set[str]:
    modules = tuple(f"organiser.{leaf}." for leaf in leaves)
    return {name for name, command in COMMANDS.items() if command.module.startswith(modules)}


def test_the_rest_goes_on_without_any_leaf(copy, teams, tmp_path):
    phase, submissions = teams
    with without(LEAVES, copy, tmp_path):
        done = python(copy, "-c", REST.format(phase=str(phase), teams=str(submissions), fast=FAST))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert set(done.stdout.splitlines()[0].split()) == COMMANDS.keys() - commands_of(LEAVES)


@pytest.mark.parametrize("leaf", LEAVES)
def test_its_commands_alone_go_with_a_leaf(leaf, copy, teams, tmp_path):
    """No other room imports it: see `test_architecture`."""
    phase, submissions = teams
    with without([leaf], copy, tmp_path):
        done = python(copy, "-c", "from evaluation.cli.main import COMMANDS; print(*COMMANDS)")
        assert done.returncode == 0, done.stderr[-3000:]
        assert set(done.stdout.split()) == COMMANDS.keys() - commands_of([leaf])
        if leaf in LOST:
            arguments, status, message = LOST[leaf]
            places = {"phase": phase, "teams": submissions}
            said = python(copy, "-m", "evaluation", *(word.format(**places) for word in arguments))
            output = said.stdout + said.stderr
            assert (said.returncode, message in output) == (status, True), output


def test_no_test_of_the_rest_needs_a_leaf():
    """A test that takes a leaf's output as its material says so with `pytest.importorskip`."""
    needing = []
    for path in sorted((REPOSITORY / "test").rglob("*.py")):
        text, place = path.read_text(encoding="utf-8"), path.relative_to(REPOSITORY / "test").parts
        for leaf in LEAVES:
            if place[:2] != ("organiser", leaf):
                import_of_leaf = rf"^(from|import) (evaluation|test)\.organiser(\.| import ){leaf}\b"
                needing += [(path.name, leaf)] if re.search(import_of_leaf, text, re.MULTILINE) else []
    assert needing == []
