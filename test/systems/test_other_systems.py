"""Participants' commands on Windows and macOS, for which a process stands in that lacks what these lack."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from test import started
from test.repository import REPOSITORY
from test.rooms import skip_without

SYSTEMS = ("win32", "darwin")
# On Windows text is often of this code page, which has neither "τ" nor the lines of a table.
WINDOWS_TEXT = {"PYTHONIOENCODING": "cp1252", "PYTHONWARNDEFAULTENCODING": "1"}
NOTE = "Note: on this system ({}) cases are run one by one in this process"


class System:
    """A process that stands in for another system, and runs commands in forks of itself."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self._folder = name, folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "test.systems.stand_in", name],
            cwd=REPOSITORY,
            env={**os.environ, **(WINDOWS_TEXT if name == "win32" else {})},
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


def run(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    """Run a command on this system."""
    done = started.run(*arguments)
    return subprocess.CompletedProcess(arguments, done.returncode, done.stdout.encode(), done.stderr.encode())


@pytest.fixture(scope="module")
def systems(tmp_path_factory) -> Iterator[dict[str, System]]:
    with ExitStack() as closing:
        found = {}
        for name in SYSTEMS:
            found[name] = System(name, tmp_path_factory.mktemp(name))
            closing.callback(found[name].close)
        yield found


def told(done: subprocess.CompletedProcess[bytes], system: str) -> bytes:
    """Return what `check` prints after the note that only other systems have."""
    note, _, rest = done.stdout.partition(b"\n")
    assert note.startswith(NOTE.format(system).encode())
    assert b"Note: on this system" not in rest
    return rest


@pytest.mark.parametrize(
    ("system", "phase"),
    [("win32", "edd2020"), ("win32", "refuge-onsite"), ("darwin", "cysts"), ("darwin", "justraigs-phase2")],
)
def test_form_and_check(systems, system, phase, tmp_path):
    form, here = tmp_path / "form.json", tmp_path / "here.json"
    assert run("form", phase, "--output", here).returncode == 0
    done = systems[system].run("form", phase, "--output", form)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert form.read_bytes() == here.read_bytes()
    submission = REPOSITORY / "test" / "input" / phase
    done = systems[system].run("check", "--form", form, submission)
    assert (done.returncode, done.stderr) == (0, b"")
    assert told(done, system).endswith(f"No faults: {submission} is a submission to {phase}\n".encode())


@pytest.fixture(scope="module")
def form(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("form") / "form.json"
    assert run("form", "refuge-onsite", "--output", path).returncode == 0
    return path


@pytest.mark.parametrize(("system", "packed"), [("win32", False), ("win32", True), ("darwin", False)])
def test_the_same_faults_are_told(systems, form, tmp_path, system, packed):
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
    here = run("check", "--form", form, submission)
    there = systems[system].run("check", "--form", form, submission)
    assert here.returncode == there.returncode == 1
    assert there.stderr == here.stderr
    assert told(there, system) == here.stdout


@pytest.mark.parametrize("system", SYSTEMS)
def test_jobs_of_an_algorithm_are_read_below_their_folder(systems, tmp_path, system):
    submission = Path(shutil.copytree(REPOSITORY / "test/input/justraigs-phase2", tmp_path / "submission"))
    form = tmp_path / "form.json"
    assert run("form", "justraigs-phase2", "--output", form).returncode == 0
    outputs = sorted(submission.glob("*/output/*"))
    outputs[0].unlink()
    outputs[0].symlink_to(outputs[1])
    shutil.rmtree(outputs[-1].parent)
    here = run("check", "--form", form, submission)
    there = systems[system].run("check", "--form", form, submission)
    assert here.returncode == there.returncode == 1
    assert there.stderr == here.stderr
    assert told(there, system) == here.stdout


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """Return a folder with the results of four teams."""
    skip_without("samples")
    folder = tmp_path_factory.mktemp("teams")
    size = ("--cases", 12, "--width", 80, "--height", 64)
    assert run("sample", "refuge", "--output", folder, *size).returncode == 0
    phase = folder / "ground-truth" / "refuge-sample"
    assert run("seal", phase).returncode == 0
    teams = ("--each", folder / "submissions", "--ground-truth", phase, "--output", folder / "each")
    assert run("evaluate", *teams, "--workers", 0).returncode == 0
    return folder / "each"


@pytest.mark.parametrize("system", SYSTEMS)
def test_rank_and_summary(systems, results, tmp_path, system):
    options = ("--resamples", 20, "--permutations", 99)
    assert run("rank", results, *options, "--output", tmp_path / "here").returncode == 0
    done = systems[system].run("rank", results, *options, "--output", tmp_path / "there")
    assert (done.returncode, done.stderr) == (0, b"")
    here, there = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("here", "there")
    )
    assert there == here
    done = systems[system].run("summary", results / "good" / "metrics.json")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"refuge-sample: 12 of 12 cases scored" in done.stdout
    assert b"segmentation" in done.stdout
