"""Every hostile kind of submission, through the command: a clear message or a correct score, and no leak.

Each run may use 10 s of processor time and 1 GB of memory in any of its processes. It is done twice: against
the phase, and against one with other labels of the same form. A rejected submission must give the same bytes.
"""

import os
import random
import resource
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from evaluation.phase.manifest import scan, seal
from test.repository import REPOSITORY

from . import algorithm
from .submissions import AS_BEFORE, ROWS, WITH_MASK, Row, good_with_mask

GOOD = REPOSITORY / "test" / "input" / "refuge-onsite"
GOOD_JOBS = REPOSITORY / "test" / "input" / "justraigs-phase1"
SECONDS = 10
MEMORY = 1 << 30


@dataclass(frozen=True)
class Run:
    status: int
    stdout: bytes
    stderr: bytes
    metrics: bytes | None


def phase_pair(folder: Path, name: str, first_label: int) -> tuple[Path, Path]:
    """Return a sealed phase, and the same with the labels of its cases dealt out anew."""
    real = Path(shutil.copytree(REPOSITORY / "ground-truth" / name, folder / "real" / "phase"))
    other = Path(shutil.copytree(real, folder / "other" / "phase"))
    header, *rows = [line.split(",") for line in (other / "cases.csv").read_text().splitlines()]
    labels = [row[first_label:] for row in rows]
    random.Random(5).shuffle(labels)
    assert labels != [row[first_label:] for row in rows]
    lines = [header, *(row[:first_label] + label for row, label in zip(rows, labels, strict=True))]
    (other / "cases.csv").write_text("".join(",".join(line) + "\n" for line in lines))
    for path in other.glob("masks/*"):
        Image.open(path).transpose(Image.Transpose.ROTATE_90).save(path)
    for phase in (real, other):
        seal(phase, scan(phase))
    return real, other


@pytest.fixture(scope="module")
def phases(tmp_path_factory) -> tuple[Path, Path]:
    return phase_pair(tmp_path_factory.mktemp("archive"), GOOD.name, first_label=4)


@pytest.fixture(scope="module")
def algorithm_phases(tmp_path_factory) -> tuple[Path, Path]:
    return phase_pair(tmp_path_factory.mktemp("algorithm"), GOOD_JOBS.name, first_label=5)


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def run(phases: tuple[Path, ...], submission: Path, folder: Path) -> list[Run]:
    """Evaluate against each of the phases, at the same time, from folders in which paths are the same."""
    processes = []
    for phase in phases:
        here = folder / phase.parent.name
        here.mkdir()
        (here / "phase").symlink_to(phase)
        command = [sys.executable, "-m", "evaluation", "evaluate", "--input", str(submission)]
        command += ["--ground-truth", "phase", "--output", "output"]
        processes.append(
            subprocess.Popen(
                command,
                cwd=here,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONWARNINGS": "always"},
                preexec_fn=_limited,
            )
        )
    runs = []
    for phase, process in zip(phases, processes, strict=True):
        stdout, stderr = process.communicate(timeout=100)
        file = folder / phase.parent.name / "output" / "metrics.json"
        runs.append(Run(process.returncode, stdout, stderr, file.read_bytes() if file.exists() else None))
    return runs


@pytest.fixture(scope="module")
def scores(phases, tmp_path_factory) -> dict[object, bytes]:
    """What metrics.json holds for the good submission, and for it with another first mask."""
    folder = tmp_path_factory.mktemp("scores")
    other = Path(shutil.copytree(GOOD, folder / "other"))
    good_with_mask(other)
    found = {}
    for expected, submission in ((AS_BEFORE, GOOD), (WITH_MASK, other)):
        here = folder / f"of {submission.name}"
        here.mkdir()
        (done,) = run(phases[:1], submission, here)
        assert done.metrics is not None, done
        found[expected] = done.metrics
    assert found[AS_BEFORE] != found[WITH_MASK]
    return found


@pytest.fixture(scope="module")
def algorithm_scores(algorithm_phases, tmp_path_factory) -> dict[object, bytes]:
    (done,) = run(algorithm_phases[:1], GOOD_JOBS, tmp_path_factory.mktemp("scores"))
    assert done.metrics is not None, done
    return {AS_BEFORE: done.metrics}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_message_or_score(row: Row, phases, scores, tmp_path):
    assert_message_or_score(row, phases, scores, GOOD, tmp_path)


@pytest.mark.parametrize("row", algorithm.ROWS.values(), ids=algorithm.ROWS)
def test_message_or_score_in_an_algorithm_phase(row: Row, algorithm_phases, algorithm_scores, tmp_path):
    assert_message_or_score(row, algorithm_phases, algorithm_scores, GOOD_JOBS, tmp_path)


def assert_message_or_score(
    row: Row, phases: tuple[Path, Path], scores: dict[object, bytes], good: Path, folder: Path
) -> None:
    submission = Path(shutil.copytree(good, folder / "submission"))
    row.spoil(submission)
    if row.expected in scores:
        (done,) = run(phases[:1], submission, folder)
        assert (done.status, done.stderr) == (0, b""), done
        assert done.metrics == scores[row.expected]
        return
    done, exchanged = run(phases, submission, folder)
    assert done.status == 1, done
    assert done.metrics is None
    (line,) = done.stderr.decode("utf-8").splitlines()
    assert line.startswith("Submission rejected, ")
    assert str(row.expected) in line
    assert len(line) <= 1024
    assert line.isprintable()
    assert done == exchanged
    log = done.stdout.decode("utf-8").splitlines()
    assert 0 < len(log) <= 500
    assert max(len(entry.encode()) for entry in log) < 1 << 16
    assert all(entry.isprintable() for entry in log)


def test_there_are_at_least_sixty_kinds():
    assert len(ROWS) >= 60
