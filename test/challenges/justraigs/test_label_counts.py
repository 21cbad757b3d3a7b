import numpy as np
import pytest

from evaluation.challenges.justraigs.analyses import AGREED, PREDICTED, label_counts, marks, marks_of
from evaluation.core.case_table import CaseTable

LABELS = ("large cup", "laminar dots")


def eyes(*pairs):
    rows = [{PREDICTED: marks_of(predicted), AGREED: marks_of(agreed)} for predicted, agreed in pairs]
    return CaseTable([f"E{number}" for number in range(len(rows))], rows)


def test_every_combination_is_counted_by_itself():
    eyes_of = {  # agreed and predicted: another number of eyes for each, and for any of them together
        (True, True): 1,
        (True, False): 2,
        (True, None): 4,
        (False, True): 8,
        (False, False): 16,
        (False, None): 32,
        (None, True): 64,
        (None, False): 128,
        (None, None): 256,
    }
    table = eyes(
        *(((said, None), (true, None)) for (true, said), number in eyes_of.items() for _ in range(number))
    )
    counts = label_counts(table, LABELS)
    assert counts["large cup"] == {
        "present": 1 + 2 + 4,
        "absent": 8 + 16 + 32,
        "true_positives": 1,
        "false_negatives": 2,
        "missing_present": 4,
        "false_positives": 8,
        "true_negatives": 16,
        "missing_absent": 32,
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
