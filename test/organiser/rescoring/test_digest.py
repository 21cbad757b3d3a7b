"""The digest of a submission tells any difference that scoring could see."""

import os

import pytest

from evaluation.organiser.rescoring.submissions import submission_digest


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "s" / "inner").mkdir(parents=True)
    (tmp_path / "s" / "a.csv").write_bytes(b"1")
    (tmp_path / "s" / "inner" / "b.png").write_bytes(b"2")
    return tmp_path / "s"


def test_a_folder_has_the_digest_of_its_content_wherever_it_lies(folder, tmp_path):
    before = submission_digest(folder)
    folder.rename(tmp_path / "elsewhere")
    os.utime(tmp_path / "elsewhere" / "a.csv", (0, 0))
    assert submission_digest(tmp_path / "elsewhere") == before


CHANGES = {
    "content": lambda folder: (folder / "a.csv").write_bytes(b"2"),
    "name": lambda folder: (folder / "a.csv").rename(folder / "A.csv"),
    "place": lambda folder: (folder / "inner" / "b.png").rename(folder / "b.png"),
    "new file": lambda folder: (folder / "c").write_bytes(b""),
    "empty folder": lambda folder: (folder / "c").mkdir(),
    "link for a file": lambda folder: (
        (folder / "a.csv").rename(folder.parent / "a"),
        (folder / "a.csv").symlink_to(folder.parent / "a"),
    ),
    "pipe": lambda folder: os.mkfifo(folder / "c"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_gives_another_digest(folder, change):
    before = submission_digest(folder)
    CHANGES[change](folder)
    assert submission_digest(folder) != before
