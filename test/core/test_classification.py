"""The task of a likelihood against a label: its columns, its metrics and a missing likelihood."""

import math
from fractions import Fraction

from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import SensitivityAtSpecificity
from evaluation.core.classification import auc, binary_classification
from evaluation.core.field import CaseColumns, Field, Reference, Socket, TableColumns
from evaluation.core.form import CaseForm
from evaluation.core.metric import Metric
from evaluation.io.kinds.number import Label, Number

RISK = Field(
    name="risk",
    title="Risk",
    kind=Number(),
    archive=TableColumns(("risks.csv",), "Name", ("Risk",)),
    socket=Socket("risk", "risk.json"),
    reference=Reference(Label(), CaseColumns(("ill",))),
)
CASE = CaseForm("C1")


def figures(task, rows):
    return metric_values(task.metrics, CaseTable([str(i) for i in range(len(rows))], rows))


def test_likelihoods_are_scored_by_their_auc():
    task = binary_classification("task", "Task", RISK, label="ill")
    assert (task.name, task.title, task.fields) == ("task", "Task", (RISK,))
    rows = [task.score({"risk": s}, {"risk": y}) for s, y in ((0.1, 0), (0.4, 0), (0.35, 1), (0.8, 1))]
    assert rows[2] == {"likelihood": 0.35, "ill": 1}
    # Of the four pairs one is in the wrong order.
    assert figures(task, rows) == {"auc": 0.75}
    rows[3] = task.worst_row(CASE, {"risk": 1})
    assert rows[3] == {"likelihood": -math.inf, "ill": 1}
    # The missing positive now loses both of its pairs.
    assert figures(task, rows) == {"auc": 0.25}
    assert task.worst_row(CASE, {"risk": 0}) == {"likelihood": math.inf, "ill": 0}


def test_further_metrics_in_their_order():
    half = SensitivityAtSpecificity("likelihood", "ill", Fraction(1, 2))
    metrics = (Metric("sensitivity", "Sensitivity", half, best=1, worst=0), auc("ill"))
    task = binary_classification("task", "Task", RISK, "ill", metrics, lambda table: {"cases": len(table)})
    rows = [task.score({"risk": s}, {"risk": y}) for s, y in ((0.1, 0), (0.4, 0), (0.35, 1), (0.8, 1))]
    # At specificity 1/2 only the negative of 0.4 may lie above the threshold: both positives do as well.
    assert list(figures(task, rows).items()) == [("sensitivity", 1.0), ("auc", 0.75)]
    assert task.details(CaseTable(["a"], rows[:1])) == {"cases": 1}
