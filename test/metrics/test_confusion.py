import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from evaluation.metrics import confusion as figures

CASES = st.integers(2, 5).flatmap(
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
    return figures.confusion(truth, predicted, np.asarray(weights, dtype=float)[None], classes)


FIGURES = {
    "accuracy": (figures.accuracy, oracle.accuracy_score),
    "balanced accuracy": (figures.balanced_accuracy, oracle.balanced_accuracy_score),
    "macro F1": (figures.mean_f1, lambda *a, **k: oracle.f1_score(*a, **k, average="macro")),
    "weighted F1": (
        lambda cases: figures.mean_f1(cases, "weighted"),
        lambda *a, **k: oracle.f1_score(*a, **k, average="weighted"),
    ),
    "MCC": (figures.matthews_correlation, oracle.matthews_corrcoef),
    "kappa": (figures.cohen_kappa, oracle.cohen_kappa_score),
    "linear kappa": (
        lambda cases: figures.cohen_kappa(cases, "linear"),
        lambda *a, **k: oracle.cohen_kappa_score(*a, **k, weights="linear"),
    ),
    "quadratic kappa": (
        lambda cases: figures.cohen_kappa(cases, "quadratic"),
        lambda *a, **k: oracle.cohen_kappa_score(*a, **k, weights="quadratic"),
    ),
}


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.filterwarnings("ignore")
@given(CASES)
def test_as_scikit_learn_under_weights(name, drawn):
    classes, cases = drawn
    truth, predicted, weights = (np.array(column) for column in zip(*cases, strict=True))
    ours, theirs = FIGURES[name]
    if "kappa" in name and len(set(truth) | set(predicted)) == 1:
        expected = np.nan
    else:
        # Classes are positions: all of them are named, so that distances are those of the positions.
        labels = {"labels": range(classes)} if "kappa" in name else {}
        expected = theirs(truth, predicted, sample_weight=weights, **labels)
    np.testing.assert_allclose(
        ours(one_row(truth, predicted, classes, weights))[0], expected, atol=1e-12, equal_nan=True
    )


@given(CASES)
def test_one_class_as_scikit_learn(drawn):
    classes, cases = drawn
    truth, predicted, weights = (np.array(column) for column in zip(*cases, strict=True))
    counted = one_row(truth, predicted, classes, weights)
    is_one, taken_for_one = truth == 1, predicted == 1
    if not is_one.any():
        assert np.isnan(
            [figures.sensitivity(counted), figures.precision(counted), figures.f_beta(counted)]
        ).all()
        return
    options = {"sample_weight": weights, "zero_division": 0}
    for ours, theirs in [
        (figures.sensitivity(counted), oracle.recall_score(is_one, taken_for_one, **options)),
        (figures.precision(counted), oracle.precision_score(is_one, taken_for_one, **options)),
        (figures.f_beta(counted, 2.0), oracle.fbeta_score(is_one, taken_for_one, beta=2.0, **options)),
    ]:
        assert ours[0] == pytest.approx(theirs, abs=1e-12)
    if not is_one.all():
        specificity = oracle.recall_score(~is_one, ~taken_for_one, **options)
        assert figures.specificity(counted)[0] == pytest.approx(specificity, abs=1e-12)


@pytest.mark.parametrize("name", FIGURES)
@given(CASES, st.data())
def test_leaving_a_case_out_never_pays(name, drawn, data):
    classes, cases = drawn
    truth, predicted, weights = (np.array(column, dtype=float) for column in zip(*cases, strict=True))
    missing = np.array(data.draw(st.lists(st.booleans(), min_size=len(truth), max_size=len(truth))))
    figure = FIGURES[name][0]
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
    figure = FIGURES[name][0]
    unknown = np.flatnonzero(missing)
    worst = []
    for answers in itertools.product(range(classes), repeat=len(unknown)):
        complete = predicted.copy()
        complete[unknown] = answers
        worst.append(figure(one_row(truth, complete, classes))[0])
    found = figure(one_row(truth, np.where(missing, np.nan, predicted), classes))[0]
    np.testing.assert_allclose(found, np.nanmin(worst) if not np.isnan(worst).all() else np.nan, atol=1e-12)


def test_each_row_of_weights_has_a_value_of_its_own():
    counted = figures.confusion([0, 1, 1], [0, 1, 0], [[1, 1, 1], [0, 0, 2], [0, 0, 0]], 2)
    np.testing.assert_allclose(figures.accuracy(counted), [2 / 3, 0.0, np.nan])


def test_a_case_without_a_true_class_is_left_out():
    assert figures.accuracy(one_row([0, np.nan], [0, 1], 2))[0] == 1.0


@pytest.mark.parametrize(
    ("truth", "predicted", "weights", "message"),
    [
        ([0, 1], [0], [[1, 1]], "expected shapes"),
        ([0, 1], [0, 1], [[1]], "expected shapes"),
        ([0, 2], [0, 1], [[1, 1]], "truth: expected class indices from 0 to 1, found 2"),
        ([0, 1], [0.5, 1], [[1, 1]], "predicted: expected class indices from 0 to 1, found 0.5"),
    ],
)
def test_refuses(truth, predicted, weights, message):
    with pytest.raises(ValueError, match=message):
        figures.confusion(truth, predicted, weights, 2)
