"""What the organiser reads of an operating point, by hand."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable
from evaluation.core.operating_rule import OperatingRule, curve_details
from evaluation.platform.result_file import render

RULE = OperatingRule("score", "sick", Fraction(80, 100))


def table_of(*cases: tuple[float, float]) -> CaseTable:
    names = [f"C{number}" for number in range(len(cases))]
    return CaseTable(names, [{"score": score, "sick": sick} for score, sick in cases])


# Five healthy cases: one false positive is allowed. C7 has no label.
CASES = table_of(
    (0.9, 1), (0.7, 1), (0.2, 1), (0.8, 0), (0.5, 0), (0.4, 0), (0.3, 0), (0.6, math.nan), (0.1, 0)
)


def test_point_wrong_cases_and_curve():
    found = curve_details(RULE, CASES)
    point = found["operating_point"]
    assert (point["threshold"], point["sensitivity"], point["specificity"]) == (
        0.7,
        pytest.approx(2 / 3),
        0.8,
    )
    assert point["false_positive_rate"] == pytest.approx(0.2)
    assert (point["true_positives"], point["false_negatives"]) == (2, 1)
    assert (point["false_positives"], point["true_negatives"]) == (1, 4)
    assert point["false_negative_cases"] == ["C2"]
    assert point["false_positive_cases"] == ["C3"]
    curve = found["roc"]
    assert curve["threshold"] == ["inf", 0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1]
    assert curve["false_positive_rate"] == pytest.approx([0, 0, 0.2, 0.2, 0.4, 0.6, 0.8, 0.8, 1])
    assert curve["sensitivity"] == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 2 / 3, 2 / 3, 1, 1])
    assert json.loads(render(found, organisers=True))["roc"]["threshold"][0] == "inf"


def test_wrong_cases_come_worst_first():
    table = table_of((0.2, 1), (0.1, 1), (-math.inf, 1), (0.6, 0), (0.9, 0), *[(0.0, 0)] * 2)
    # Of four healthy cases none may be called positive, since three of four are less than 80 %.
    point = curve_details(RULE, table)["operating_point"]
    assert point["threshold"] == "inf"
    assert point["false_negative_cases"] == ["C2", "C1", "C0"]
    half = OperatingRule("score", "sick", Fraction(1, 2))
    assert curve_details(half, table)["operating_point"]["false_positive_cases"] == ["C4", "C3"]


def test_decisions_leave_out_cases_without_a_label():
    assert RULE.decided(CASES).tolist()[:7] == [1, 1, 0, 1, 0, 0, 0]
    assert np.isnan(RULE.decided(CASES)[7])


def test_without_a_class_there_is_no_point():
    assert curve_details(RULE, table_of((0.5, 1), (0.4, 1))) == {}
    assert RULE.point(table_of((0.5, 0))) is None
