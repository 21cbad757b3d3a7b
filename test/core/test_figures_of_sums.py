"""Figures found again from sums over cases: the same figures, and they know the worst and the best case."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.case_table import CaseTable, Row, WeightedCases
from evaluation.core.class_estimators import ConfusionFigure, PresenceF1
from evaluation.core.estimator import Estimator
from evaluation.metrics import confusion

CLASSES = 3


def table_of(rows: list[Row]) -> CaseTable:
    return CaseTable([str(number) for number in range(len(rows))], rows)


@dataclass(frozen=True)
class Kind:
    """An estimator, the rows that a case may have, and those of an answer to a class of the reference."""

    estimator: Estimator
    rows: list[Row]
    class_column: str | None = None

    def unseen(self, rows: list[Row]) -> Iterator[Row]:
        """Yield the cases that the sample may lack: with a result, of a class of the reference."""
        for row in self.rows:
            if any(np.isnan(value) for value in row.values()):
                continue
            if self.class_column is None or row[self.class_column] in {
                one[self.class_column] for one in rows
            }:
                yield row


def of_classes(figure: Callable[[confusion.Confusion], np.ndarray], **more) -> Kind:
    rows = [
        {"made": made, "true": true} for made in (*range(CLASSES), nan) for true in (*range(CLASSES), nan)
    ]
    return Kind(ConfusionFigure("made", "true", CLASSES, figure, **more), rows, "true")


KINDS = {
    "presence": Kind(
        PresenceF1("made", "true"),
        [{"made": float(made), "true": float(true)} for made, true in product((0, 1), (0, 1))],
    ),
    "accuracy": of_classes(confusion.accuracy_of_confusion),
    "balanced accuracy": of_classes(confusion.balanced_accuracy_of_confusion, by_class=True),
    "precision": of_classes(partial(confusion.precision_of_confusion, class_index=2), of=2),
    "sensitivity": of_classes(partial(confusion.sensitivity_of_confusion, class_index=1), of=1),
    "F1": of_classes(confusion.mean_f1_of_confusion),
    "kappa": of_classes(partial(confusion.cohen_kappa_of_confusion, disagreement="linear")),
}


def value_of(estimator: Estimator, table: CaseTable, weights: np.ndarray) -> float:
    return float(estimator.values(WeightedCases(table, weights[np.newaxis]))[0])


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@settings(max_examples=30)
@given(data=st.data())
def test_no_case_moves_the_figure_farther_than_the_unseen_ones(kind, data):
    rows = data.draw(st.lists(st.sampled_from(kind.rows), min_size=1, max_size=8))
    estimator, table = kind.estimator, table_of(rows)
    whole = value_of(estimator, table, np.ones(len(rows)))
    sums = estimator.of_sums(table, 0.0, 1.0)
    assert sums is not None
    at = sums.columns.sum(axis=1)
    extended = [
        value_of(estimator, table_of([*rows, row]), np.ones(len(rows) + 1)) for row in kind.unseen(rows)
    ]
    # Without a figure the added case is worth what the others are.
    values = [whole if np.isnan(value) else value for value in extended]
    if not values or np.isnan(values).any():
        return
    assert sums.figure(at + sums.lowest).tolist() == pytest.approx([min(values)])
    assert sums.figure(at + sums.highest).tolist() == pytest.approx([max(values)])
