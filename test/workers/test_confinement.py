"""What a reader can do once it is confined: read the submission, and next to nothing else."""

import errno
import itertools
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import evaluation
from evaluation.cli import evaluate_command
from evaluation.cli.common import MACHINE
from evaluation.cli.main import main
from evaluation.phase.manifest import scan, seal
from evaluation.workers import confinement
from evaluation.workers.confinement import landlock_version, missing_confinement, missing_filter
from test.failing_system_calls import DONE, TROUBLE, end_of, fail_paths_opened
from test.repository import REPOSITORY

from .unruly_cases import reader_setup

needs_all = pytest.mark.skipif(
    landlock_version() == 0 or missing_filter() is not None, reason="this kernel confines only in part"
)
SECURITY = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")


def write_captive(folder: Path) -> tuple[Path, Path]:
    """Write a sealed phase whose kind tries to leave its reader, and a submission; return both folders."""
    phase, submission = folder / "phase", folder / "submission"
    phase.mkdir()
    submission.mkdir()
    keys = 'challenge = "captive"\nname = "captive"\ntitle = "Captive"\nsubmission = "archive"\n'
    (phase / "phase.toml").write_text(f"{keys}[limits]\nworker_memory_mb = 1024\n")
    (phase / "cases.csv").write_text("name,value\na,0\n")
    shutil.copy(REPOSITORY / "test/hostile/captive.py", phase / "challenge.py")
    (submission / "tries.csv").write_text("case,value\na,0\n")
    seal(phase, scan(phase))
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return phase, submission


@needs_all
def test_a_reader_that_was_taken_over_cannot_leave(tmp_path, monkeypatch):
    monkeypatch.setenv("A_SECRET", "of the container")
    phase, submission = write_captive(tmp_path)
    with pytest.raises(evaluation.SubmissionRejected) as rejected:
        evaluation.evaluate(phase, submission, workers=1)
    tried = rejected.value.faults
    assert len(tried) >= 100
    assert [f"{one.field}: {one.found}" for one in tried if one.found != one.expected] == []
    assert [one.field for one in tried if one.found == "done" and one.field not in SECURITY] == []


@pytest.mark.parametrize(
    ("version", "filtered", "told"),
    [
        (0, True, "Readers keep files of others, as this kernel or container engine offers no Landlock."),
        (3, True, "Readers keep the network and signals, as Landlock is of version 3 here."),
        (4, True, "Readers keep signals, as Landlock is of version 4 here."),
        (6, False, "Readers keep sizes and times of files, other processes and sockets, as it cannot."),
        (6, True, None),
    ],
)
def test_what_is_missing_is_told_in_one_line(version, filtered, told, monkeypatch):
    monkeypatch.setattr(confinement, "landlock_version", lambda: version)
    monkeypatch.setattr(confinement, "missing_filter", lambda: None if filtered else "it cannot")
    assert missing_confinement() == told


@pytest.mark.parametrize("what", ["a kernel that confines in part", "no workers"])
def test_isolation_can_be_required(what, tmp_path, monkeypatch, capfd):
    phase, submission = write_captive(tmp_path)
    monkeypatch.setattr(confinement, "landlock_version", lambda: 3 if what.startswith("a kernel") else 9)
    given = ["--ground-truth", phase, "--input", submission, "--output", tmp_path / "output"]
    workers = "0" if what == "no workers" else "1"
    assert main(["evaluate", *map(str, given), "--require-isolation", "--workers", workers]) == 1
    assert "--require-isolation: " in capfd.readouterr().out
    assert not (tmp_path / "output").exists()


# --- A machine that is short of something while a reader confines itself ---

SHORT = (errno.ENFILE, errno.EMFILE, errno.ENOMEM, errno.EIO)


@needs_all
def test_each_system_call_of_the_confinement_that_fails_is_the_machines_trouble(tmp_path):
    setup = reader_setup(str(tmp_path))
    end, count = end_of(setup.confine)
    assert end == DONE
    assert count > 50
    troubled = 0
    for number, error in itertools.product(range(1, count + 1), SHORT):
        end, calls = end_of(setup.confine, number, error)
        troubled += end == TROUBLE
        # Python passes over a few of its own, such as the question for a file's size: all others follow.
        assert end == TROUBLE or (end, calls) == (DONE, count), (number, errno.errorcode[error])
    assert troubled > 0.9 * count * len(SHORT)


@needs_all
def test_a_submission_that_cannot_be_opened_for_its_reader_is_not_rejected(tmp_path):
    phase, submission = write_captive(tmp_path)
    given = ["--ground-truth", phase, "--input", submission, "--output", tmp_path / "output"]
    done = subprocess.run(
        [sys.executable, "-m", "evaluation", "evaluate", *map(str, given)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        preexec_fn=lambda: fail_paths_opened(errno.ENFILE),
        check=False,
    )
    assert done.returncode == MACHINE
    assert done.stdout == "cannot run a worker process: the machine is short of open files\n"
    assert done.stderr == f"{evaluate_command._ORGANISERS}\n"
