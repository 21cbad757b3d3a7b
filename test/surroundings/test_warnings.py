"""Every command in Python's development mode, where each warning is an error.

Each is a fork of a process in that mode that has imported all commands, and once a week a process of its own.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evaluation.cli.main import COMMANDS
from test.repository import REPOSITORY
from test.rooms import COMMANDS_OF_LEAVES, GONE, gone_of, skip_without

# In their order: a command works on what those before it have written.
LINES = """
plan --sensitivity 0.8 0.02 --prevalence 0.16
new lesions --like segmentation
cases lesions/phase
seal lesions/phase
rehearse lesions/phase
settings lesions/phase
form lesions/phase --output form.json
check --form form.json lesions/submission
unpack lesions/submission input
evaluate --ground-truth lesions/phase --input input --output scored --workers 1
summary scored/metrics.json
describe lesions/phase --output data
subset lesions/phase --share 0.5 --output part
audit lesions/phase --attack
convert lesions/submission --ground-truth lesions/phase --output jobs
schema phase
completion bash
graders exam answers.csv --output exam.csv
sample refuge --output sample --cases 12 --width 64 --height 64
seal sample/ground-truth/refuge-sample
evaluate --each sample/submissions --ground-truth sample/ground-truth/refuge-sample --output each --workers 2
rank each --output board --resamples 20
ensemble teams/good teams/poor --ground-truth phase --output both
fuse annotators annotations --output fused
report submission --ground-truth lesions/phase --input input --output one.html --workers 1
report leaderboard board --output board.html
paper phase --results board --output paper
""".strip().splitlines()
WITH_DOCKER = {"audience", "build", "export"}
"""The tests of the container start them."""


# Reads a command a line, runs it in a fork, and prints its status; the fork ends as Python ends.
FORKING = """\
import importlib, os, runpy, sys
from test.started import _LATER
from evaluation.cli.main import COMMANDS

for name in (*(f"evaluation.{command.module}" for command in COMMANDS.values()), *_LATER):
    importlib.import_module(name)
for line in iter(sys.stdin.readline, ""):
    process = os.fork()
    if process == 0:
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv[1:] = line.split()
        runpy.run_module("evaluation", run_name="__main__", alter_sys=True)
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""
Start = Callable[[str], tuple[int, str, str]]
"""Runs a line, and returns status, stdout and stderr."""


def surroundings() -> dict[str, str]:
    return {
        **os.environ,
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDEVMODE": "1",
        "PYTHONPATH": str(REPOSITORY),
        "PYTHONWARNINGS": "error",
    }


@contextmanager
def forked(folder: Path) -> Iterator[Start]:
    command = [sys.executable, "-c", FORKING]
    with subprocess.Popen(
        command, cwd=folder, env=surroundings(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def start(line: str) -> tuple[int, str, str]:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            status = int(process.stdout.readline())
            return status, (folder / "stdout").read_text(), (folder / "stderr").read_text()

        yield start


@contextmanager
def from_nothing(folder: Path) -> Iterator[Start]:
    def start(line: str) -> tuple[int, str, str]:
        command = [sys.executable, "-m", "evaluation", *line.split()]
        done = subprocess.run(
            command, cwd=folder, env=surroundings(), capture_output=True, text=True, timeout=200, check=False
        )
        return done.returncode, done.stdout, done.stderr

    yield start


def test_every_command_is_there():
    gone = {name for name, leaf in COMMANDS_OF_LEAVES.items() if leaf in GONE}
    assert {line.split()[0] for line in LINES} - gone == COMMANDS.keys() - WITH_DOCKER


def prepare(name: str, folder: Path) -> None:
    """Put what a command works on where its line has it."""
    if name == "ensemble":
        shutil.move(folder / "sample/submissions", folder / "teams")
        shutil.move(folder / "sample/ground-truth/refuge-sample", folder / "phase")
    if name == "fuse":
        shutil.copytree(folder / "teams", folder / "annotations" / "readers")
        shutil.copy(folder / "phase" / "phase.toml", folder / "annotations")
        rows = (folder / "phase" / "cases.csv").read_text().splitlines()
        few = "".join(",".join(row.split(",")[:5]) + "\n" for row in rows)
        (folder / "annotations" / "cases.csv").write_text(few)


@pytest.mark.parametrize("way", [forked, pytest.param(from_nothing, marks=pytest.mark.weekly)])
def test_no_command_warns(way, tmp_path):
    skip_without("samples", "starter")  # the others work on what these write
    (tmp_path / "answers.csv").write_text("name,final_label,ann,bo\nE1,RG,RG,NRG\nE2,NRG,NRG,NRG\n")
    with way(tmp_path) as start:
        for line in LINES:
            if gone_of(f"evaluation {line}"):
                continue
            prepare(line.split()[0], tmp_path)
            status, stdout, stderr = start(line)
            assert status == 0, line + stdout + stderr
            # What is raised where nobody can catch it is only printed.
            assert not re.search("Warning|Exception ignored", stderr), line + stderr
