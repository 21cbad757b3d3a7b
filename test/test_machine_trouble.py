"""A machine that is short of something: no command blames a file, a submission or a label for it.

The table fails system calls of every kind in every command: the first of them, the last and some between.
"""

from __future__ import annotations

import errno
import itertools
import resource
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import TiffImageFile

import evaluation.challenges
from evaluation.cli import check_command, evaluate_command
from evaluation.cli.common import MACHINE
from evaluation.cli.main import main
from evaluation.core.fault import FormFault, PhaseError, ReadError
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.core.trouble import LACKS, MachineTrouble
from evaluation.io.volume_header import Geometry
from evaluation.io.volumes import open_volume, read_numbers, write_volume
from evaluation.workers.processes import Server
from evaluation.workers.server import REFUSED, STATUS
from evaluation.workers.submission_reader import CaseReader
from test.failing_calls import ERRORS, Calls, counted
from test.faults import faulted
from test.io.images import saved, write_grey
from test.phases import refuge_phase, refuge_submission
from test.repository import REPOSITORY
from test.workers.conftest import FOLDER as UNRULY
from test.workers.unruly_cases import case, read, reader_setup, settings_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="system calls of Linux")

CASES = 4
CALLS = {
    "evaluate": ("open", "read", "list", "mkdir", "write", "rename"),
    "each": ("open", "read", "list", "mkdir", "write", "fsync", "rename"),
    "check": ("open", "read"),
    "seal": ("open", "read", "list", "write", "fsync", "rename"),
    "rank": ("open", "read", "list", "mkdir", "write", "fsync", "rename"),
    "report": ("open", "read", "list"),
    "summary": ("open", "read"),
}
LINES = {
    "evaluate": "evaluate --input {0}/teams/one --ground-truth {0}/phase --output {1} --workers 0",
    "each": "evaluate --each {0}/teams --ground-truth {0}/phase --output {1} --workers 0",
    "check": "check --form {0}/form.json {0}/teams/one --workers 0",
    "seal": "seal {1}",
    "rank": "rank {0}/results --resamples 10 --output {1}",
    "report": "report submission --ground-truth {0}/phase --workers 0 "
    "--results {0}/results/one --output {1}/report.html",
    "summary": "summary {0}/results/one/metrics.json",
}
CELLS = [(command, kind) for command, kinds in CALLS.items() for kind in kinds]
POSITIONS = {"report": 1, "rank": 2}
"""How many calls of a kind fail in turn, by command: a report takes seconds."""
BLAME = (
    "damaged",
    "Submission rejected",
    "Rejected,",
    "differs from",
    "seal the phase",
    "Traceback",
    "cannot be",
    "not found",
)


class Told:
    """Stands for the two streams of a container, which would take over those of the tests."""

    organiser: list[str]
    participant: list[str]

    def __init__(self) -> None:
        type(self).organiser, type(self).participant = [], []

    def tell_organiser(self, texts) -> None:
        self.organiser.extend(texts)

    def tell_participant(self, line) -> None:
        self.participant.append(line)


@pytest.fixture(scope="module", autouse=True)
def _no_streams():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate_command, "Streams", Told)
        patch.setattr(check_command, "Streams", Told)
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory, _no_streams) -> Path:
    folder = tmp_path_factory.mktemp("machine")
    phase = refuge_phase(folder / "phase", CASES, keys={"resamples": 20})
    for team in ("one", "two"):
        refuge_submission(folder / "teams" / team, CASES)
    assert main(["form", str(phase), "--output", str(folder / "form.json")]) == 0
    assert main(LINES["each"].format(folder, folder / "results").split()) == 0
    return folder


def run(command: str, place: Path, name: str, calls: Calls) -> tuple[int, Path]:
    """Run a command into a folder; return its status and the folder."""
    output = place / name
    if command == "seal":
        shutil.copytree(place / "phase", output)
        (output / "manifest.json").unlink()
    with counted(calls):
        return main(LINES[command].format(place, output).split()), output


def written(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "manifest" not in path.name  # which has a random number
    }


@cache
def clean_run(command: str, place: Path) -> tuple[dict[str, int], dict[str, bytes]]:
    """Return the number of calls of a run in which none fails, and what it wrote."""
    run(command, place, f"{command}-first", Calls(place))  # imports
    calls = Calls(place)
    status, output = run(command, place, f"{command}-clean", calls)
    assert status == 0, Told.organiser
    return dict(calls.counts), written(output)


def positions(count: int, most: int) -> list[int]:
    """Return the numbers of some of the calls, the last and the first among them."""
    return sorted({count - round(step * (count - 1) / max(1, most - 1)) for step in range(most)})


@pytest.mark.parametrize(("command", "kind"), CELLS)
def test_a_call_that_fails_is_the_machines_trouble_and_leaves_nothing(command, kind, place, capsys):
    counts, expected = clean_run(command, place)
    for turn, number in enumerate(positions(counts[kind], POSITIONS.get(command, 4))):
        error = ERRORS[(CELLS.index((command, kind)) + turn) % len(ERRORS)]
        Told()
        capsys.readouterr()
        # A buffered file repeats a call that was interrupted, for ever if all are.
        calls = Calls(place, kind, number, error, lasts=turn % 2 == 1 and error != "EINTR")
        status, output = run(command, place, f"{command}-{kind}-{number}", calls)
        found = written(output)
        told = "\n".join([*Told.organiser, *Told.participant, *capsys.readouterr()])
        cell = f"{command}, {kind} {number} of {counts[kind]}, {error}: {status} {told}"
        wrong = [name for name, data in found.items() if expected.get(name) != data]
        assert not any(word in told for word in BLAME), cell
        if status == 0:
            assert found == expected, cell
            continue
        assert any(f"short of {lack}" in told for lack in LACKS.values()), cell
        if command == "each" and status == 1:
            assert_the_rest_is_scored(found, expected, cell)
        else:
            assert status == MACHINE, cell
            assert not wrong, cell  # files are whole
        if command == "evaluate":
            assert Told.participant == [evaluate_command._ORGANISERS], cell
        shutil.rmtree(output, ignore_errors=True)


def assert_the_rest_is_scored(found, expected, cell) -> None:
    """A team has its whole result, or none beside the reason; the summary names each."""
    failures = [line for line in Told.organiser if line.startswith("FAILED")]
    assert failures, cell
    assert Told.organiser[-1].startswith("2 submissions: "), cell
    for team in ("one", "two"):
        of_team = {name: data for name, data in found.items() if name.startswith(f"{team}/")}
        if any(line.startswith(f"FAILED {team}: not scored: ") for line in failures):
            assert set(of_team) <= {f"{team}/rejected.txt"}, cell
        else:
            assert of_team == {n: d for n, d in expected.items() if n.startswith(f"{team}/")}, cell


# --- The readers of each library, with every error ---

GREY = np.arange(20, dtype=np.uint8).reshape(4, 5)
# One that goes to its decoder by a file in memory.
LARGE = np.zeros((1024, 512), np.uint8)
VOLUME = np.ones((2, 4, 5), np.uint8)


def read_image(files, path):
    read_numbers(files.read(path, 1 << 20), path, None)


def read_volume(files, path):
    with files.open(path, 1 << 20) as stream:
        for _ in open_volume(stream, path).planes():
            pass


FORMATS = {
    "image.png": (write_grey(LARGE, ".png"), read_image),
    "image.tif": (saved(Image.fromarray(GREY), "TIFF", compression="tiff_lzw"), read_image),
    "volume.nii.gz": (write_volume(VOLUME, Geometry(VOLUME.shape), ".nii.gz"), read_volume),
}


def read_case(folder: Path, path: str, read):
    """Read a file as a reader of cases does, with the given function for its kind."""

    def read_source(source, case, files):
        try:
            read(files, source.file)
        except ReadError as error:
            raise FormFault(error.fault(source.file)) from None

    reader = CaseReader(str(folder), (), "reject")
    reader.fields = {"value": SimpleNamespace(kind=SimpleNamespace(read=read_source))}
    return reader.read(CaseForm("a"), {"value": FileSource(path)})


@pytest.mark.parametrize("name", FORMATS)
def test_no_reader_blames_a_file_for_a_call_that_fails(name, tmp_path):
    content, read = FORMATS[name]
    (tmp_path / name).write_bytes(content)
    with counted(Calls(tmp_path)) as clean:
        assert read_case(tmp_path, name, read)[1] == []
    assert ("memfd" in clean.counts) == name.endswith(".png")
    for kind, error in itertools.product(("open", "read", "memfd"), ERRORS):
        for number in range(1, clean.counts[kind] + 1):
            with counted(Calls(tmp_path, kind, number, error)), pytest.raises(MachineTrouble) as raised:
                read_case(tmp_path, name, read)
            assert raised.value.file == name
            assert raised.value.lack == LACKS[getattr(errno, error)]


@pytest.mark.parametrize("error", [OSError("decoder error"), MemoryError()])
def test_a_decoder_that_decodes_nothing_at_all_is_the_machines(error, tmp_path, monkeypatch):
    """Libraries do not say why; an image that is known to be whole shows it."""
    (tmp_path / "image.tif").write_bytes(FORMATS["image.tif"][0])
    monkeypatch.setattr(TiffImageFile, "__init__", Mock(side_effect=error))
    with pytest.raises(MachineTrouble) as raised:
        read_case(tmp_path, "image.tif", read_image)
    assert raised.value.file == "image.tif"


def test_a_sealed_reference_that_cannot_be_decoded_is_not_called_damaged(place, monkeypatch):
    begin = PngImageFile.__init__
    left = [CASES]  # the masks of the submission

    def fails(*arguments):
        left[0] -= 1
        if left[0] < 0:
            raise MemoryError
        begin(*arguments)

    monkeypatch.setattr(PngImageFile, "__init__", fails)
    status, _ = run("evaluate", place, "reference", Calls(place))
    assert status == MACHINE
    assert Told.participant == [evaluate_command._ORGANISERS]
    assert "the machine is short of" in Told.organiser[0]


# --- Processes ---


def test_a_worker_that_gets_less_memory_than_was_granted_tells_so(monkeypatch):
    monkeypatch.setattr(evaluation.challenges, "__path__", [*evaluation.challenges.__path__, UNRULY])
    setup = replace(reader_setup(), memory_bytes=1 << 50)
    with pytest.raises(MachineTrouble) as raised:
        read([case(0)], settings_of(), setup=setup)
    assert raised.value.args == ("run", "a worker process", "memory")


@pytest.mark.parametrize("error", ["EAGAIN", "ENOMEM"])
def test_a_worker_that_cannot_be_forked_is_the_machines(error):
    server = Server.__new__(Server)
    server._statuses = {}
    server._control, theirs = socket.socketpair()
    with server._control, theirs:
        theirs.sendall(STATUS.pack(getattr(errno, error), REFUSED))
        with pytest.raises(MachineTrouble) as raised:
            server.start_worker(())
    assert raised.value.args == ("start", "a worker process", LACKS[getattr(errno, error)])


@pytest.mark.parametrize(
    ("kind", "granted", "short"),
    [
        (resource.RLIMIT_DATA, 120 << 20, "memory: at least 160 MB are needed, 120 MB granted"),
        (resource.RLIMIT_DATA, 150 << 20, "memory: at least 160 MB are needed, 150 MB granted"),
        (resource.RLIMIT_STACK, 256 << 10, "stack: at least 512 kB are needed, 256 kB granted"),
    ],
)
def test_too_little_memory_or_stack_at_the_start_is_the_machines(kind, granted, short, place, tmp_path):
    line = LINES["evaluate"].format(place, tmp_path).replace("--workers 0", "--workers 1")
    done = subprocess.run(
        [sys.executable, "-m", "evaluation", *line.split()],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(kind, (granted, granted)),
        check=False,
    )
    assert done.returncode == MACHINE
    assert done.stdout.startswith(f"cannot start an evaluation: the machine is short of {short}")
    assert done.stderr == f"{evaluate_command._ORGANISERS}\n"


def test_a_missing_right_to_execute_is_called_so(monkeypatch, tmp_path):
    program = tmp_path / "python"
    program.write_bytes(b"")
    monkeypatch.setattr(sys, "executable", str(program))
    with faulted(PhaseError, str(program), "Permission denied"):
        Server(False, ("evaluation.challenges",), ())


def test_a_limit_on_the_size_of_files_blames_no_team_and_no_label(place):
    """With worker processes: no image fits into the memory file of its decoder."""
    # The manifest of an earlier run is there, which would be too large a file itself.
    shutil.copytree(place / "results" / ".kept" / "phase", place / "limited" / ".kept" / "phase")
    line = LINES["each"].format(place, place / "limited").replace("--workers 0", "--workers 1")
    done = subprocess.run(
        [sys.executable, "-m", "evaluation", *line.split()],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY)),
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    *_, one, two, counts = done.stdout.splitlines()
    assert counts == "2 submissions: 0 scored, 0 kept, 0 rejected, 2 failed"
    assert all("short of permitted size of files" in line for line in (one, two))
