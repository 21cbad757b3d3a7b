"""Participants' commands on Windows, for which a process stands in that lacks what Windows lacks."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from test import started
from test.organiser.rescoring.teams import results_in, write_teams
from test.repository import REPOSITORY

# On Windows text is often of this code page, which has neither "τ" nor the lines of a table.
TEXT = {"PYTHONIOENCODING": "cp1252", "PYTHONWARNDEFAULTENCODING": "1"}
NOTE = b"Note: on this system (win32) cases are run one by one in this process"


class Windows:
    """A process that stands in for Windows, and runs commands in forks of itself."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "test.systems.stand_in"],
            cwd=REPOSITORY,
            env={**os.environ, **TEXT},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *arguments: object) -> subprocess.CompletedProcess[bytes]:
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        self._process.stdin.write(json.dumps([str(folder), [*map(str, arguments)]]).encode() + b"\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        streams = ((folder / name).read_bytes() for name in ("stdout", "stderr"))
        return subprocess.CompletedProcess(arguments, status, *streams)

    def close(self) -> None:
        """End the process, which must have printed no warning for its imports."""
        assert self._process.communicate(timeout=100) == (b"", b"")


@pytest.fixture(scope="module")
def windows(tmp_path_factory) -> Iterator[Windows]:
    found = Windows(tmp_path_factory.mktemp("windows"))
    yield found
    found.close()


def run(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    """Run a command on this system."""
    done = started.run(*arguments)
    return subprocess.CompletedProcess(arguments, done.returncode, done.stdout.encode(), done.stderr.encode())


def told(done: subprocess.CompletedProcess[bytes]) -> bytes:
    """Return what `check` prints after the note that only other systems have."""
    note, _, rest = done.stdout.partition(b"\n")
    assert note.startswith(NOTE)
    assert b"Note: on this system" not in rest
    return rest


def form_of(phase: str, folder: Path) -> Path:
    assert run("form", phase, "--output", folder / "form.json").returncode == 0
    return folder / "form.json"


def assert_same_faults(windows: Windows, form: Path, submission: Path) -> None:
    here = run("check", "--form", form, submission, "--workers", 0)
    there = windows.run("check", "--form", form, submission)
    assert here.returncode == there.returncode == 1
    assert there.stderr == here.stderr
    assert told(there) == here.stdout


@pytest.mark.parametrize("phase", ["refuge-onsite", "cysts"])
def test_form_and_check(windows, phase, tmp_path):
    form = tmp_path / "there.json"
    done = windows.run("form", phase, "--output", form)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert form.read_bytes() == form_of(phase, tmp_path).read_bytes()
    submission = REPOSITORY / "test" / "input" / phase
    done = windows.run("check", "--form", form, submission)
    assert (done.returncode, done.stderr) == (0, b"")
    assert told(done).endswith(f"No faults: {submission} is a submission to {phase}\n".encode())


@pytest.mark.parametrize("packed", [False, True])
def test_the_same_faults_are_told(windows, tmp_path, packed):
    submission = Path(shutil.copytree(REPOSITORY / "test/input/refuge-onsite", tmp_path / "submission"))
    masks = sorted((submission / "segmentation").iterdir())
    masks[0].unlink()
    masks[1].write_bytes(masks[2].read_bytes()[:-1])
    masks[3].write_bytes(b"\x1a\r\n")
    table = submission / "classification_results.csv"
    table.write_bytes(table.read_bytes().replace(b"\n", b"\r\n").replace(b"R0002", b"R9999"))
    if packed:
        submission = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "submission"))
    else:
        masks[4].unlink()
        masks[4].symlink_to(masks[5])
    assert_same_faults(windows, form_of("refuge-onsite", tmp_path), submission)


def test_jobs_of_an_algorithm_are_read_below_their_folder(windows, tmp_path):
    submission = Path(shutil.copytree(REPOSITORY / "test/input/justraigs-phase2", tmp_path / "submission"))
    outputs = sorted(submission.glob("*/output/*"))
    outputs[0].unlink()
    outputs[0].symlink_to(outputs[1])
    shutil.rmtree(outputs[-1].parent)
    assert_same_faults(windows, form_of("justraigs-phase2", tmp_path), submission)


def test_rank_and_summary(windows, tmp_path):
    phase, submissions = write_teams(tmp_path)
    teams = ("--each", submissions, "--ground-truth", phase, "--output", tmp_path / "each")
    assert run("evaluate", *teams, "--workers", 0).returncode == 0
    options = ("--resamples", 20)
    assert run("rank", tmp_path / "each", *options, "--output", tmp_path / "here").returncode == 0
    done = windows.run("rank", tmp_path / "each", *options, "--output", tmp_path / "there")
    assert (done.returncode, done.stderr) == (0, b"")
    assert results_in(tmp_path / "there") == results_in(tmp_path / "here")
    done = windows.run("summary", tmp_path / "each" / "folder" / "metrics.json")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"refuge-tiny: 6 of 6 cases scored" in done.stdout
    assert b"segmentation" in done.stdout
