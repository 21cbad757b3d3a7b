import itertools
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as oracle

from evaluation import metrics
from evaluation.metrics import confusion_matrix, hamming_distance
from evaluation.metrics.confusion import (
    accuracy_of_confusion,
    balanced_accuracy_of_confusion,
    cohen_kappa_of_confusion,
    label_errors,
    matthews_correlation_of_confusion,
    mean_f1_of_confusion,
    modified_hamming_distance,
    precision_of_confusion,
    weighted_confusion,
)

NAMES = ("mild", "moderate", "severe")

CASES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(1, 3)), min_size=1, max_size=20
)


@settings(max_examples=20)
@given(CASES)
def test_cells_are_those_of_scikit_learn(cases):
    predicted, reference, weights = (np.array(column) for column in zip(*cases, strict=True))
    for chosen in (None, weights):
        expected = oracle.confusion_matrix(reference, predicted, labels=NAMES, sample_weight=chosen)
        np.testing.assert_allclose(
            confusion_matrix(predicted, reference, classes=NAMES, weights=chosen), expected
        )


def test_a_case_without_a_result_is_in_no_cell():
    assert confusion_matrix([None, 1], [0, 1], classes=[0, 1]).tolist() == [[0, 0], [0, 1]]


def test_without_a_case_all_cells_are_zero():
    assert confusion_matrix([], [], classes=["mild", "severe"]).tolist() == [[0, 0], [0, 0]]
    assert confusion_matrix(["mild"], [None], classes=["mild", "severe"]).tolist() == [[0, 0], [0, 0]]


@pytest.mark.filterwarnings("ignore:.* is undefined for these values")
def test_without_a_case_there_is_no_value():
    for figure in (
        metrics.accuracy,
        metrics.balanced_accuracy,
        metrics.matthews_correlation,
        metrics.macro_f1,
        metrics.weighted_f1,
    ):
        assert math.isnan(figure([], []))
        assert math.isnan(figure(["mild"], [None]))
        assert math.isnan(figure([1.0, 2.0], [1.0, 2.0], weights=[0, 0]))


def test_a_case_without_a_result_is_wrong():
    assert metrics.accuracy([1.0, np.nan], [1.0, 2.0]) == 0.5
    assert metrics.balanced_accuracy([None, "mild"], ["mild", "mild"]) == 0.5
    # Both halves of a pair are wrong: the missing one has the other class.
    assert metrics.matthews_correlation(["a", "b", None], ["a", "b", "b"]) == pytest.approx(0.5)


CASES_OF_CONFUSION = st.integers(2, 5).flatmap(
    lambda classes: st.tuples(
        st.just(classes),
        st.lists(
            st.tuples(st.integers(0, classes - 1), st.integers(0, classes - 1), st.integers(1, 3)),
            min_size=1,
            max_size=25,
        ),
    )
)


def one_row(truth, predicted, classes, weights=None):
    weights = np.ones(len(truth)) if weights is None else weights
    return weighted_confusion(truth, predicted, np.asarray(weights, dtype=float)[None], classes)


# Each figure, that of scikit-learn, and the public function, where there is one.
FIGURES = {
    "accuracy": (accuracy_of_confusion, oracle.accuracy_score, metrics.accuracy),
    "balanced accuracy": (
        balanced_accuracy_of_confusion,
        oracle.balanced_accuracy_score,
        metrics.balanced_accuracy,
    ),
    "macro F1": (mean_f1_of_confusion, partial(oracle.f1_score, average="macro"), metrics.macro_f1),
    "weighted F1": (
        partial(mean_f1_of_confusion, averaging="weighted"),
        partial(oracle.f1_score, average="weighted"),
        metrics.weighted_f1,
    ),
    "MCC": (matthews_correlation_of_confusion, oracle.matthews_corrcoef, metrics.matthews_correlation),
    "kappa": (cohen_kappa_of_confusion, oracle.cohen_kappa_score, None),
    "linear kappa": (
        partial(cohen_kappa_of_confusion, disagreement="linear"),
        partial(oracle.cohen_kappa_score, weights="linear"),
        None,
    ),
    "quadratic kappa": (
        partial(cohen_kappa_of_confusion, disagreement="quadratic"),
        partial(oracle.cohen_kappa_score, weights="quadratic"),
        None,
    ),
}


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=40)
@given(CASES_OF_CONFUSION)
def test_figures_as_scikit_learn_under_weights(drawn):
    classes, cases = drawn
    truth, predicted, weights = (np.array(column) for column in zip(*cases, strict=True))
    counted = one_row(truth, predicted, classes, weights)
    names = np.array([*"vwxyz"])
    for name, (figure, of_oracle, public) in FIGURES.items():
        if "kappa" in name and len(set(truth) | set(predicted)) == 1:
            expected = np.nan
        else:
            # Classes are positions: all of them are named, so that distances are those of the positions.
            labels = {"labels": range(classes)} if "kappa" in name else {}
            expected = of_oracle(truth, predicted, sample_weight=weights, **labels)
        assert figure(counted)[0] == pytest.approx(expected, abs=1e-12, nan_ok=True), name
        if public is not None:
            found = public(names[predicted], names[truth], weights=weights)
            assert found == pytest.approx(expected, abs=1e-12), name


@settings(max_examples=40)
@given(
    st.integers(2, 4).flatmap(
        lambda classes: st.tuples(
            st.just(classes),
            st.lists(st.tuples(*[st.integers(0, classes - 1)] * 2, st.booleans()), min_size=2, max_size=5),
        )
    )
)
def test_a_case_without_a_result_has_the_answer_that_is_worst(drawn):
    classes, cases = drawn
    truth, predicted, missing = (np.array(column) for column in zip(*cases, strict=True))
    unknown = np.flatnonzero(missing)
    answered = []
    for answers in itertools.product(range(classes), repeat=len(unknown)):
        complete = predicted.copy()
        complete[unknown] = answers
        answered.append(one_row(truth, complete, classes))
    incomplete = one_row(truth, np.where(missing, np.nan, predicted), classes)
    for name in ("accuracy", "balanced accuracy", "kappa", "linear kappa", "quadratic kappa"):
        figure = FIGURES[name][0]
        values = [figure(one)[0] for one in answered]
        worst = min((value for value in values if not np.isnan(value)), default=np.nan)
        assert figure(incomplete)[0] == pytest.approx(worst, abs=1e-12, nan_ok=True), name


def test_a_missing_answer_is_a_false_alarm_of_each_class_but_its_own():
    found = one_row([1, 1, 0], [1, np.nan, np.nan], 2)
    assert precision_of_confusion(found)[0] == 1 / 2
    three = one_row([1, 1, 0, 2], [1, np.nan, np.nan, np.nan], 3)
    assert precision_of_confusion(three)[0] == 1 / 3


def test_of_two_classes_a_missing_case_has_the_other_one():
    expected = oracle.matthews_corrcoef([0, 1, 1, 1], [0, 1, 1, 0])
    found = matthews_correlation_of_confusion(one_row([0, 1, 1, 1], [0, 1, 1, np.nan], 2))
    assert found[0] == pytest.approx(expected)


def test_the_bound_of_a_correlation_with_a_missing_case_by_hand():
    """Three classes of one case each, two right and one missing; Gorodkin's sums by pen.

    The missing one is in another class: right · cases − Σ made · true − 1 = 2·3 − 2 − 1 = 3; the answers that
    are there fill 1² + 1² = 2 of the 3² pairs, and the truth 3: 3 / √(7 · 6).
    """
    found = matthews_correlation_of_confusion(one_row([0, 1, 2], [0, 1, np.nan], 3))
    assert found[0] == pytest.approx(3 / np.sqrt(7 * 6))
    # None is right: 0 − 2 − 1 = −3; the missing one joins a class that is made already: 2² + 1² = 5.
    found = matthews_correlation_of_confusion(one_row([0, 1, 2], [1, 0, np.nan], 3))
    assert found[0] == pytest.approx(-3 / np.sqrt(4 * 6))
    # Two of one class are missing: 0 − 2 − 2·1 = −4; both join a class that is made: 3² + 1² = 10 of 16.
    found = matthews_correlation_of_confusion(one_row([0, 1, 2, 2], [1, 0, np.nan, np.nan], 3))
    assert found[0] == pytest.approx(-4 / np.sqrt(6 * 10))


def test_a_case_without_a_true_class_is_left_out():
    assert accuracy_of_confusion(one_row([0, np.nan], [0, 1], 2))[0] == 1.0


@pytest.mark.parametrize(
    ("predicted", "reference", "expected"),
    [
        ([1, 0], [1, None], 0),
        ([None, 0], [1, 0], 0.5),
        ([[1, 0], [0, 0]], [[None, None], [1, 0]], 0.5),
        ([[math.nan, 1.0]], [[1.0, 1.0]], 0.5),
        ([1, 0], [None, None], math.nan),
        ([], [], math.nan),
    ],
)
def test_hamming_distance_with_gaps_by_hand(predicted, reference, expected):
    assert hamming_distance(predicted, reference) == pytest.approx(expected, nan_ok=True)


T, F, N = True, False, None

TABLE = {
    # labels [1,0,0,1,1,0,0,1,1,0] against [1,1,0,1,0,0,0,1,1,0]: two of ten are wrong
    "known value": ((T, F, F, T, T, F, F, T, T, F), (T, T, F, T, F, F, F, T, T, F), 0.2),
    "all right": ((T, F), (T, F), 0.0),
    "all wrong": ((T, F), (F, T), 1.0),
    "disagreement is ignored": ((T, T, T, T), (T, N, N, F), 0.5),
    "a missing label is wrong": ((N, T, T, T), (F, T, T, T), 0.25),
    "a missing label in disagreement is ignored": ((N, T), (N, T), 0.0),
    "nothing agreed": ((T, F), (N, N), math.nan),
}


@pytest.mark.parametrize(("predicted", "agreed", "distance"), TABLE.values(), ids=TABLE)
def test_modified_hamming_distance(predicted, agreed, distance):
    found = modified_hamming_distance(label_errors(predicted, agreed))
    assert found == pytest.approx(distance, nan_ok=True)


def test_label_errors_say_which_label():
    assert label_errors((T, F, N, T), (T, T, F, N)) == pytest.approx((0, 1, 1, math.nan), nan_ok=True)
