"""`changes.json` is read as the type that it was written from."""

import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.report.board.reading import read_changes
from evaluation.organiser.rescoring.changes import CaseChange, Change, Changes, SubmissionChange, changes_json
from test.faults import faulted

CHANGES = Changes(
    phase="tiny",
    seal=Change("a", "b"),
    ranked=("task.dice",),
    overall=None,
    submissions=(
        SubmissionChange(
            "one",
            "",
            Change(None, None),
            {"task.dice": Change(0.5, 0.75)},
            {"task": (CaseChange("V1", {"dice": Change(0.5, 1.0), "matches": Change([1, 2], None)}),)},
        ),
        SubmissionChange("two", "first", Change("no submission", None), {"task.dice": Change(None, 1)}, {}),
    ),
    places={"task": {"one": Change(1, 2), "two": Change(None, 1)}},
)


def test_what_was_written_is_read_again_from_the_file_or_its_folder(tmp_path):
    path = tmp_path / "changes.json"
    path.write_bytes(changes_json([CHANGES, CHANGES]))
    assert read_changes(path) == (CHANGES, CHANGES)
    assert read_changes(tmp_path) == (CHANGES, CHANGES)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ("changes.json",)),
        ("{", ("changes.json, line 1", "an error at column 2")),
        ("[]", ("changes.json",)),
        ('{"phases": [{"phase": 1}]}', ("changes.json",)),
    ],
)
def test_what_is_no_such_file_is_named(tmp_path, content, words):
    if content is not None:
        (tmp_path / "changes.json").write_text(content)
    with faulted(PhaseError, *words):
        read_changes(tmp_path)
