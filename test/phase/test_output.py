"""Folders that are there as a whole or not at all, and the files of reports."""

import json
import math

import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.output import csv_bytes, whole_folder, write_report, write_rows
from test.faults import faulted


def test_a_folder_is_there_as_a_whole(tmp_path):
    with whole_folder(tmp_path / "a" / "b") as folder:
        (folder / "file").write_text("x")
        assert not (tmp_path / "a" / "b").exists()
    assert (tmp_path / "a" / "b" / "file").read_text() == "x"
    assert (tmp_path / "a" / "b").stat().st_mode & 0o055
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


def test_or_not_at_all(tmp_path):
    def fail():
        with whole_folder(tmp_path / "b") as folder:
            (folder / "file").write_text("x")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "b").mkdir()
    with whole_folder(tmp_path / "b") as folder:
        (folder / "file").write_text("x")
    with faulted(PhaseError, "one that is not empty"), whole_folder(tmp_path / "b"):
        pass
    with faulted(PhaseError, "one that is not empty"), whole_folder(tmp_path / "b" / "file"):
        pass


def test_what_does_not_exist_is_null_or_empty(tmp_path):
    write_report(tmp_path / "r.json", {1: [math.nan, 0.1], "b": (None, {"c": math.nan})})
    assert json.loads((tmp_path / "r.json").read_text()) == {"1": [None, 0.1], "b": [None, {"c": None}]}
    write_rows(tmp_path / "r.csv", ("a", "b", "c"), [(math.nan, 0.1, None), (1, True, "x")])
    assert (tmp_path / "r.csv").read_text() == "a,b,c\n,0.1,\n1,True,x\n"


def test_a_table_has_the_columns_of_all_rows_in_their_order_and_twelve_digits():
    rows = [
        {"team": "a", "place": 0.1 + 0.2},
        {"team": "b, c", "note": "late", "place": None},
        {"place": -0.0},
    ]
    assert csv_bytes(rows) == b'team,place,note\na,0.3,\n"b, c",,late\n,0.0,\n'
