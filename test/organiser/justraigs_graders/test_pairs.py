"""JustRAIGS: the tables from which pairs of graders are drawn, and the table that is written."""

import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.justraigs_graders.assignment import write_pairs
from test.faults import faulted


def write(path, *lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def test_every_fault_of_both_tables_is_listed(tmp_path):
    images = write(tmp_path / "images.csv", "eye id,age", "E1,60", "E1,61", ",62")
    graders = write(tmp_path / "graders.csv", "grader,passed", "ann,perhaps", "bo,no")
    with pytest.raises(PhaseError) as caught:
        write_pairs(images, graders, tmp_path / "pairs.csv")
    text = "\n".join(caught.value.problems)
    for part in (
        "duplicate image 'E1' (2 rows)",
        "name of every image, found 1 empty",
        "graders.csv, line 2, passed: expected True or False, found 'perhaps'",
        "expected two graders or more, found 0",
    ):
        assert part in text
    assert not (tmp_path / "pairs.csv").exists()


def test_a_table_without_images(tmp_path):
    images = write(tmp_path / "images.csv", "image", "E1")
    graders = write(tmp_path / "graders.csv", "grader", "ann", "bo")
    with faulted(PhaseError, "images.csv", "none"):
        write_pairs(images, graders, tmp_path / "pairs.csv")
