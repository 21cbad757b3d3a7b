"""What no single file is too much for and all together are: boxes, faults and blank lines in every file."""

import shutil
from pathlib import Path

import pytest

from evaluation.phase.manifest import scan, seal
from test.repository import REPOSITORY

from .runs import in_processes

GOOD = REPOSITORY / "test" / "input" / "edd2020"
BOX = b"BE 0.5 1 1 9 9\n"

FILES = {
    "the most boxes of a file": (BOX * 10_000, "boxes or other values in all files, found more"),
    "more boxes than a file may hold": (BOX * 10_001, "10000 lines, found more"),
    "ten thousand faults": (b"BE 0.5 1 1 9 x\n" * 10_000, "1000 faults in a file, found more"),
    "two million blank lines": (b"\n" * 1_900_000, "100000 lines, blank ones included, found more"),
    "two megabytes of spaces": (b" " * 1_900_000, None),
}


@pytest.fixture(scope="module")
def phase(tmp_path_factory) -> Path:
    phase = tmp_path_factory.mktemp("edd2020") / "real" / "phase"
    shutil.copytree(REPOSITORY / "ground-truth" / GOOD.name, phase)
    seal(phase, scan(phase))
    return phase


@pytest.mark.parametrize("name", FILES)
def test_sums_are_limited_and_nothing_is_scored(name, phase, tmp_path):
    content, told = FILES[name]
    submission = Path(shutil.copytree(GOOD, tmp_path / "submission"))
    for path in (submission / "detection_bbox").iterdir():
        path.write_bytes(content)
    (done,) = in_processes((phase,), submission, tmp_path)
    if told is None:
        assert (done.status, done.stderr) == (0, b"")
        return
    assert (done.status, done.scored) == (1, False)
    assert told in done.stderr.decode()
