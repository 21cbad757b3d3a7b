from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.class_estimators import PresenceF1, RocArea, SensitivityAtSpecificity
from evaluation.core.estimator import Mean
from evaluation.core.metric import Metric
from evaluation.metrics.confusion import weighted_f1_score

SCORES = [0.1, 0.4, 0.4, 0.8, 0.3, 0.9]
LABELS = [0, 0, 1, 1, nan, 1]


def table(**columns):
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return CaseTable([f"V{position}" for position in range(len(rows))], rows)


def values(aggregate, cases, weights=None):
    weights = np.ones((1, len(cases))) if weights is None else np.asarray(weights)
    return aggregate.values(WeightedCases(cases, weights)).tolist()


def test_a_mean_leaves_out_what_is_undefined():
    cases = table(dice=[0.5, nan, 1.0, 0.0])
    aggregate = Mean("dice")
    assert values(aggregate, cases) == [0.5]
    assert values(aggregate, cases, [[1, 5, 1, 0], [0, 5, 0, 2]]) == [0.75, 0.0]
    assert np.isnan(values(aggregate, cases, [[0, 1, 0, 0]])).all()
    assert aggregate.strata(cases).tolist() == [0, -1, 0, 0]
    assert aggregate.mean_column == "dice"


def test_auc_leaves_out_cases_without_label():
    cases = table(score=SCORES, label=LABELS)
    labelled = [0, 1, 2, 3, 5]
    expected = roc_auc_score(np.array(LABELS)[labelled], np.array(SCORES)[labelled])
    aggregate = RocArea("score", "label")
    assert values(aggregate, cases) == pytest.approx([expected])
    weights = np.array([[1, 2, 3, 0, 7, 1]])
    weighted = roc_auc_score(
        np.array(LABELS)[labelled], np.array(SCORES)[labelled], sample_weight=weights[0, labelled]
    )
    assert values(aggregate, cases, weights) == pytest.approx([weighted])
    assert aggregate.strata(cases).tolist() == [0, 0, 1, 1, -1, 1]
    assert aggregate.mean_column is None


@pytest.mark.parametrize("labels", [[0, 0, 0, 0, nan, 0], [1] * 6, [nan] * 6])
def test_auc_needs_both_classes(labels):
    assert np.isnan(values(RocArea("score", "label"), table(score=SCORES, label=labels))).all()


def test_sensitivity_in_both_definitions():
    # Of two negatives none may be above at 85 %: t = 0.8 detects two of three positives, t = 0.4 has a tie.
    cases = table(score=SCORES, label=LABELS)
    target = Fraction(85, 100)
    assert values(SensitivityAtSpecificity("score", "label", target), cases) == [pytest.approx(2 / 3)]
    # The polyline runs from (0, 2/3) to (1/2, 1): at 0.15 it is at 2/3 + 0.3/3.
    interpolated = SensitivityAtSpecificity("score", "label", target, "interpolated")
    assert values(interpolated, cases) == [pytest.approx(2 / 3 + 0.1)]


def test_f1_of_presence():
    cases = table(predicted=[1, 1, 0, 0], present=[1, 0, 1, 0])
    aggregate = PresenceF1("predicted", "present")
    assert values(aggregate, cases) == [0.5]
    assert (
        values(aggregate, cases, [[2, 0, 1, 9]])
        == weighted_f1_score([True, False, True], [True, True, True], [[2, 1, 0]]).tolist()
    )
    assert aggregate.strata(cases).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(("best", "worst", "better"), [(1, 0, "higher"), (0, 1, "lower"), (0, inf, "lower")])
def test_direction_follows_from_best_and_worst(best, worst, better):
    assert Metric("m", "M", Mean("x"), best=best, worst=worst).better == better


def test_what_is_costly_is_derived_once():
    cases = table(score=SCORES, label=LABELS)
    calls = []

    def derive(of):
        calls.append(of)
        return len(of)

    assert [cases.derive("key", derive) for _ in range(3)] == [6, 6, 6]
    assert calls == [cases]


def test_a_table_knows_its_columns():
    cases = table(score=SCORES, label=LABELS)
    assert cases.column_names == ("score", "label")
    assert cases["score"].tolist() == SCORES
    assert cases.objects("score") == SCORES
    empty = CaseTable([], [])
    assert (len(empty), empty.column_names, empty["score"].shape) == (0, (), (0,))


@pytest.mark.parametrize("shape", [(6,), (1, 5), (2, 7)])
def test_weights_must_fit_the_table(shape):
    with pytest.raises(ValueError, match=r"weights must have shape \(resamples, 6\)"):
        WeightedCases(table(score=SCORES, label=LABELS), np.ones(shape))
