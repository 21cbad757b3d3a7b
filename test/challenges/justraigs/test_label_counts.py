import numpy as np
import pytest

from evaluation.challenges.justraigs.analyses import AGREED, PREDICTED, label_counts, marks, marks_of
from evaluation.core.case_table import CaseTable

LABELS = ("large cup", "laminar dots")


def eyes(*pairs):
    rows = [{PREDICTED: marks_of(predicted), AGREED: marks_of(agreed)} for predicted, agreed in pairs]
    return CaseTable([f"E{number}" for number in range(len(rows))], rows)


def test_every_combination_is_counted_once():
    answers = (True, False, None)
    table = eyes(*(((said, None), (true, None)) for said in answers for true in answers))
    counts = label_counts(table, LABELS)
    assert counts["large cup"] == {
        "present": 3,
        "absent": 3,
        "true_positives": 1,
        "false_negatives": 1,
        "true_negatives": 1,
        "false_positives": 1,
        "missing_present": 1,
        "missing_absent": 1,
    }
    assert set(counts["laminar dots"].values()) == {0}


def test_marks_are_kept_and_cannot_be_changed():
    assert marks_of((True, False, None)).tolist() == [1, 0, -1]
    assert marks(eyes(((True, None), (None, False))), PREDICTED).tolist() == [[1, -1]]
    with pytest.raises(ValueError, match="read-only"):
        marks_of((True,))[0] = 0


def test_marks_read_from_a_file_are_the_same():
    table = CaseTable(["E0"], [{PREDICTED: np.array([1, 0]), AGREED: np.array([0, -1])}])
    assert label_counts(table, LABELS) == label_counts(eyes(((True, False), (False, None))), LABELS)


def test_no_eyes():
    assert label_counts(CaseTable([], []), LABELS) == {}
