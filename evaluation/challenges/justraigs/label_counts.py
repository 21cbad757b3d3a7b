"""The predicted and the agreed additional labels of every eye, and their errors by label."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable
from evaluation.io.kinds.flags import Flags

PREDICTED, AGREED = "predicted", "agreed"
"""The columns of marks: 1 yes, 0 no, −1 not submitted, or not agreed on; one for each label."""

Marks = NDArray[np.int8]


@lru_cache(maxsize=4096)
def marks_of(flags: Flags) -> Marks:
    """Return flags as marks: 1 yes, 0 no, −1 for None. The array is shared and cannot be written."""
    marks = np.array([-1 if flag is None else int(flag) for flag in flags], dtype=np.int8)
    marks.setflags(write=False)
    return marks


def marks(table: CaseTable, column: str) -> Marks:
    """Return a column of marks, shape (eyes, labels)."""
    return np.stack(table.objects(column)).astype(np.int8)


def label_counts(table: CaseTable, labels: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return, for every label, the eyes that have it or not by agreement, and how they were labelled.

    The keys of a label: ``present`` and ``absent`` (agreed on), ``true_positives`` and ``false_negatives``
    (of those present), ``true_negatives`` and ``false_positives`` (of those absent), and
    ``missing_present`` and ``missing_absent`` (not submitted, and so wrong).
    """
    if not len(table):
        return {}
    predicted, agreed = marks(table, PREDICTED), marks(table, AGREED)
    found = {}
    for position, label in enumerate(labels):
        said, true = predicted[:, position], agreed[:, position]
        counts = {
            "present": true == 1,
            "absent": true == 0,
            "true_positives": (true == 1) & (said == 1),
            "false_negatives": (true == 1) & (said == 0),
            "true_negatives": (true == 0) & (said == 0),
            "false_positives": (true == 0) & (said == 1),
            "missing_present": (true == 1) & (said == -1),
            "missing_absent": (true == 0) & (said == -1),
        }
        found[label] = {name: int(np.count_nonzero(eyes)) for name, eyes in counts.items()}
    return found
