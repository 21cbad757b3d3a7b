import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from evaluation import metrics
from evaluation.metrics import confusion_matrix
from evaluation.metrics.confusion import (
    accuracy_of_confusion,
    balanced_accuracy_of_confusion,
    cohen_kappa_of_confusion,
    f_beta_of_confusion,
    matthews_correlation_of_confusion,
    mean_f1_of_confusion,
    precision_of_confusion,
    sensitivity_of_confusion,
    specificity_of_confusion,
    weighted_confusion,
)

NAMES = ("mild", "moderate", "severe")


CASES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(1, 3)), min_size=1, max_size=20
)


@given(CASES)
def test_as_scikit_learn_under_weights(cases):
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


def test_a_class_that_is_not_listed():
    with pytest.raises(ValueError, match=r"^classes:"):
        confusion_matrix(["mild"], ["severe"], classes=["severe"])


NAMES_OF_CLASSES = ("mild", "moderate", "severe")


CASES_OF_CLASSES = st.lists(
    st.tuples(st.sampled_from(NAMES_OF_CLASSES), st.sampled_from(NAMES_OF_CLASSES), st.integers(1, 3)),
    min_size=1,
    max_size=20,
)


FIGURES = {
    metrics.accuracy: oracle.accuracy_score,
    metrics.balanced_accuracy: oracle.balanced_accuracy_score,
    metrics.matthews_correlation: oracle.matthews_corrcoef,
    metrics.mean_f1: lambda *a, **k: oracle.f1_score(*a, **k, average="macro"),
}


@pytest.mark.parametrize("ours", FIGURES, ids=lambda figure: figure.__name__)
@pytest.mark.filterwarnings("ignore")
@given(CASES_OF_CLASSES)
def test_as_scikit_learn_under_weights_of_classes(ours, cases):
    predicted, reference, weights = (np.array(column) for column in zip(*cases, strict=True))
    for chosen in (None, weights):
        expected = FIGURES[ours](reference, predicted, sample_weight=chosen)
        assert ours(predicted, reference, weights=chosen) == pytest.approx(expected, abs=1e-12)
    weighted = metrics.mean_f1(predicted, reference, averaging="weighted", weights=weights)
    expected = oracle.f1_score(reference, predicted, average="weighted", sample_weight=weights)
    assert weighted == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.__name__)
def test_without_a_case_there_is_no_value(figure):
    assert math.isnan(figure([], []))
    assert math.isnan(figure(["mild"], [None]))
    assert math.isnan(figure([1.0, 2.0], [1.0, 2.0], weights=[0, 0]))


def test_a_case_without_a_result_is_wrong():
    assert metrics.accuracy([1.0, np.nan], [1.0, 2.0]) == 0.5
    assert metrics.balanced_accuracy([None, "mild"], ["mild", "mild"]) == 0.5
    # Both halves of a pair are wrong: the missing one has the other class.
    assert metrics.matthews_correlation(["a", "b", None], ["a", "b", "b"]) == pytest.approx(0.5)


def test_arguments_that_do_not_fit():
    with pytest.raises(ValueError, match=r"^predicted and reference:"):
        metrics.accuracy([1], [1, 2])
    with pytest.raises(ValueError, match=r"^averaging:"):
        metrics.mean_f1([1], [1], averaging="micro")


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


FIGURES_OF_CONFUSION = {
    "accuracy": (accuracy_of_confusion, oracle.accuracy_score),
    "balanced accuracy": (balanced_accuracy_of_confusion, oracle.balanced_accuracy_score),
    "macro F1": (mean_f1_of_confusion, lambda *a, **k: oracle.f1_score(*a, **k, average="macro")),
    "weighted F1": (
        lambda cases: mean_f1_of_confusion(cases, "weighted"),
        lambda *a, **k: oracle.f1_score(*a, **k, average="weighted"),
    ),
    "MCC": (matthews_correlation_of_confusion, oracle.matthews_corrcoef),
    "kappa": (cohen_kappa_of_confusion, oracle.cohen_kappa_score),
    "linear kappa": (
        lambda cases: cohen_kappa_of_confusion(cases, "linear"),
        lambda *a, **k: oracle.cohen_kappa_score(*a, **k, weights="linear"),
    ),
    "quadratic kappa": (
        lambda cases: cohen_kappa_of_confusion(cases, "quadratic"),
        lambda *a, **k: oracle.cohen_kappa_score(*a, **k, weights="quadratic"),
    ),
}


@pytest.mark.parametrize("name", FIGURES_OF_CONFUSION)
@pytest.mark.filterwarnings("ignore")
@given(CASES_OF_CONFUSION)
def test_as_scikit_learn_under_weights_of_confusion(name, drawn):
    classes, cases = drawn
    truth, predicted, weights = (np.array(column) for column in zip(*cases, strict=True))
    ours, theirs = FIGURES_OF_CONFUSION[name]
    if "kappa" in name and len(set(truth) | set(predicted)) == 1:
        expected = np.nan
    else:
        # Classes are positions: all of them are named, so that distances are those of the positions.
        labels = {"labels": range(classes)} if "kappa" in name else {}
        expected = theirs(truth, predicted, sample_weight=weights, **labels)
    np.testing.assert_allclose(
        ours(one_row(truth, predicted, classes, weights))[0], expected, atol=1e-12, equal_nan=True
    )


@given(CASES_OF_CONFUSION)
def test_one_class_as_scikit_learn(drawn):
    classes, cases = drawn
    truth, predicted, weights = (np.array(column) for column in zip(*cases, strict=True))
    counted = one_row(truth, predicted, classes, weights)
    is_one, taken_for_one = truth == 1, predicted == 1
    if not is_one.any():
        assert np.isnan(
            [
                sensitivity_of_confusion(counted),
                precision_of_confusion(counted),
                f_beta_of_confusion(counted, 2.0, 1),
            ]
        ).all()
        return
    options = {"sample_weight": weights, "zero_division": 0}
    for ours, theirs in [
        (sensitivity_of_confusion(counted), oracle.recall_score(is_one, taken_for_one, **options)),
        (precision_of_confusion(counted), oracle.precision_score(is_one, taken_for_one, **options)),
        (
            f_beta_of_confusion(counted, 2.0, 1),
            oracle.fbeta_score(is_one, taken_for_one, beta=2.0, **options),
        ),
    ]:
        assert ours[0] == pytest.approx(theirs, abs=1e-12)
    if not is_one.all():
        specificity = oracle.recall_score(~is_one, ~taken_for_one, **options)
        assert specificity_of_confusion(counted)[0] == pytest.approx(specificity, abs=1e-12)


@pytest.mark.parametrize("name", FIGURES_OF_CONFUSION)
@given(CASES_OF_CONFUSION, st.data())
def test_leaving_a_case_out_never_pays(name, drawn, data):
    classes, cases = drawn
    truth, predicted, weights = (np.array(column, dtype=float) for column in zip(*cases, strict=True))
    missing = np.array(data.draw(st.lists(st.booleans(), min_size=len(truth), max_size=len(truth))))
    figure = FIGURES_OF_CONFUSION[name][0]
    complete = figure(one_row(truth, predicted, classes, weights))[0]
    incomplete = figure(one_row(truth, np.where(missing, np.nan, predicted), classes, weights))[0]
    if not np.isnan(complete):
        assert incomplete <= complete + 1e-12


@pytest.mark.parametrize(
    "name", ["accuracy", "balanced accuracy", "kappa", "linear kappa", "quadratic kappa"]
)
@given(
    st.integers(2, 4).flatmap(
        lambda classes: st.tuples(
            st.just(classes),
            st.lists(st.tuples(*[st.integers(0, classes - 1)] * 2, st.booleans()), min_size=2, max_size=5),
        )
    )
)
def test_a_case_without_a_result_has_the_answer_that_is_worst(name, drawn):
    classes, cases = drawn
    truth, predicted, missing = (np.array(column) for column in zip(*cases, strict=True))
    figure = FIGURES_OF_CONFUSION[name][0]
    unknown = np.flatnonzero(missing)
    worst = []
    for answers in itertools.product(range(classes), repeat=len(unknown)):
        complete = predicted.copy()
        complete[unknown] = answers
        worst.append(figure(one_row(truth, complete, classes))[0])
    found = figure(one_row(truth, np.where(missing, np.nan, predicted), classes))[0]
    np.testing.assert_allclose(found, np.nanmin(worst) if not np.isnan(worst).all() else np.nan, atol=1e-12)


def test_a_missing_answer_is_a_false_alarm_of_each_class_but_its_own():
    found = one_row([1, 1, 0], [1, np.nan, np.nan], 2)
    assert precision_of_confusion(found)[0] == 1 / 2
    three = one_row([1, 1, 0, 2], [1, np.nan, np.nan, np.nan], 3)
    assert precision_of_confusion(three)[0] == 1 / 3


@given(CASES_OF_CONFUSION)
def test_a_kappa_of_any_costs_as_scikit_learn(drawn):
    """The distances of the positions as a matrix of costs, by a figure that is given them."""
    classes, cases = drawn
    truth, predicted, weights = (np.array(column) for column in zip(*cases, strict=True))
    costs = np.abs(np.subtract.outer(np.arange(classes), np.arange(classes))) ** 2.0
    if len(set(truth) | set(predicted)) > 1:
        expected = oracle.cohen_kappa_score(
            truth, predicted, sample_weight=weights, labels=range(classes), weights="quadratic"
        )
        found = cohen_kappa_of_confusion(one_row(truth, predicted, classes, weights), costs)
        assert found[0] == pytest.approx(expected)


def test_each_row_of_weights_has_a_value_of_its_own():
    counted = weighted_confusion([0, 1, 1], [0, 1, 0], [[1, 1, 1], [0, 0, 2], [0, 0, 0]], 2)
    np.testing.assert_allclose(accuracy_of_confusion(counted), [2 / 3, 0.0, np.nan])


@given(
    st.integers(2, 4).flatmap(
        lambda classes: st.tuples(
            st.just(classes),
            st.lists(st.tuples(*[st.integers(0, classes - 1)] * 2, st.booleans()), min_size=2, max_size=8),
        )
    )
)
def test_no_answer_of_a_missing_case_lowers_the_correlation_further(drawn):
    """With two classes the missing answer is the other one; with more the value is a bound of all answers."""
    classes, cases = drawn
    truth, predicted, missing = (np.array(column) for column in zip(*cases, strict=True))
    unknown = np.flatnonzero(missing)[:4]
    values = []
    for answers in itertools.product(range(classes), repeat=len(unknown)):
        complete = predicted.copy()
        complete[unknown] = answers
        values.append(matthews_correlation_of_confusion(one_row(truth, complete, classes))[0])
    made = predicted.astype(float)
    made[unknown] = np.nan
    found = matthews_correlation_of_confusion(one_row(truth, made, classes))[0]
    assert found <= min(values) + 1e-12
    if classes == 2:
        made[unknown] = 1 - truth[unknown]
        assert found == pytest.approx(matthews_correlation_of_confusion(one_row(truth, made, 2))[0])


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


@pytest.mark.parametrize("name", FIGURES_OF_CONFUSION)
@given(CASES_OF_CONFUSION, st.integers(0, 2**32 - 1))
def test_each_row_of_weights_has_the_value_that_it_has_alone(name, drawn, seed):
    classes, cases = drawn
    generator = np.random.default_rng(seed)
    truth, predicted = (np.array(column, dtype=float) for column in list(zip(*cases, strict=True))[:2])
    predicted[generator.random(len(truth)) < 0.3] = np.nan
    rows, figure = generator.integers(0, 3, (3, len(truth))), FIGURES_OF_CONFUSION[name][0]
    for of in (figure, specificity_of_confusion, sensitivity_of_confusion, precision_of_confusion):
        found = of(weighted_confusion(truth, predicted, rows, classes))
        alone = [of(one_row(truth, predicted, classes, row))[0] for row in rows]
        np.testing.assert_allclose(found, alone, atol=1e-12)


def test_a_case_without_a_true_class_is_left_out():
    assert accuracy_of_confusion(one_row([0, np.nan], [0, 1], 2))[0] == 1.0


@pytest.mark.parametrize(
    ("truth", "predicted", "weights", "message"),
    [
        ([0, 1], [0], [[1, 1]], "^truth, predicted and weights:"),
        ([0, 1], [0, 1], [[1]], "^truth, predicted and weights:"),
        ([0, 2], [0, 1], [[1, 1]], "^truth:"),
        ([0, 1], [0.5, 1], [[1, 1]], "^predicted:"),
    ],
)
def test_refuses(truth, predicted, weights, message):
    with pytest.raises(ValueError, match=message):
        weighted_confusion(truth, predicted, weights, 2)
