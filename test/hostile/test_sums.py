"""What no single file is too much for and 300 together are: boxes, faults, words and blank lines in each."""

import shutil
from argparse import Namespace
from pathlib import Path

import pytest

from evaluation.phase.manifest import scan, seal

from .test_submissions import forks

edd2020 = pytest.importorskip("evaluation.organiser.samples.edd2020")

__all__ = ["forks"]

FILES = 300
BOX = b"BE 0.5 1 1 9 9\n"
ALL_BYTES = "bytes in all files, found more"

CONTENTS = {
    "a hundred boxes": (BOX * 100, None),
    "the most boxes of a file": (BOX * 10_000, "boxes or other values in all files, found more"),
    "more boxes than a file may hold": (BOX * 10_001, "10000 lines, found more"),
    "a thousand faults": (
        b"BE 0.5 1 1 9 x\n" * 1000,
        "36000 faults: 36000 malformed (first: detection_bbox/E00001.txt, line 1, y2: expected",
    ),
    "a hundred thousand blank lines": (b"\n" * 99_999, None),
    "a hundred thousand vertical tabs": (b"\v\n" * 99_999, "36000 faults: 36000 malformed (first: "),
    "two megabytes of spaces": (b" " * 1_900_000, ALL_BYTES),
    "a million words in a line": (b"x " * 950_000, "fields (class confidence x1 y1 x2 y2), found 950000)"),
}


ALWAYS = ("a hundred boxes", "the most boxes of a file", "two megabytes of spaces")
"""What is scored, and one of each sum: of values and of bytes; the others differ by what they repeat."""


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("edd2020")
    options = {"seed": 0, "cases": FILES, "out_of_sample": 1, "width": 160, "height": 128}
    edd2020.write(Namespace(output=folder, name="real", boxes_only=True, **options), lambda done: None)
    (folder / "ground-truth" / "real").rename(folder / "phase")
    seal(folder / "phase", scan(folder / "phase"))
    return folder


@pytest.mark.parametrize(
    "name", [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.weekly) for name in CONTENTS]
)
def test_sums_are_limited_and_nothing_is_scored(name, forks, written, tmp_path):
    content, told = CONTENTS[name]
    submission = Path(shutil.copytree(written / "submissions" / "good", tmp_path / "submission"))
    files = list((submission / "detection_bbox").iterdir())
    assert len(files) == FILES
    files[0].write_bytes(content)
    for path in files[1:]:
        path.unlink()
        path.hardlink_to(files[0])  # half a gigabyte for the evaluation, two megabytes on the disk
    (done,) = forks((written / "phase",), submission, tmp_path, workers=2)
    if told is None:
        assert (done.status, done.stderr) == (0, b"")
        return
    assert (done.status, done.scored) == (1, False)
    assert told in done.stderr.decode()
