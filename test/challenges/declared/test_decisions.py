"""Decided classes through whole declared phases, against scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics as oracle

from evaluation.challenges.declared.classes import Accuracy
from evaluation.challenges.declared.scalars import NumberField
from evaluation.challenges.declared.tables import FieldComparison
from test.catalogue import FIELD as FIELDS_OF_CATALOGUE
from test.challenges.declared.scalars import sealed, values
from test.oracles import checked

GRADES = ["none", "mild", "severe"]
ALL_CLASSES = {
    "accuracy": [],
    "balanced_accuracy": [],
    "macro_f1": [],
    "weighted_f1": [],
    "matthews_correlation": [],
    "cohen_kappa": [],
    "linear": ['metric = "cohen_kappa"', 'disagreement = "linear"'],
    "quadratic": ['metric = "cohen_kappa"', 'disagreement = "quadratic"'],
}
# By true and decided class.
PRICES = {2: [[0, 1], [5, 0]], 3: [[0, 1, 2], [3, 0, 1], [9, 4, 0]]}


def of_matrices(classes):
    """Return the metrics that take a matrix, for so many classes."""
    return {
        "expected_cost": [f"costs = {PRICES[classes]}"],
        "normalised_cost": ['metric = "expected_cost"', f"costs = {PRICES[classes]}", "normalised = true"],
    }


ONE_CLASS = {
    "sensitivity": [],
    "specificity": [],
    "precision": [],
    "f1": [],
    "f2": ['metric = "f_beta"', "beta = 2"],
    "negative_predictive_value": [],
}


def metrics(of_all=(), of_one=(), classes=2):
    """Return the tables of all metrics, with further options."""
    of_several = ALL_CLASSES | of_matrices(classes)
    tables = {
        **{name: [*options, *of_all] for name, options in of_several.items()},
        **{name: [*options, *of_all, *of_one] for name, options in ONE_CLASS.items()},
    }
    lines = [f"{name} = {{ {', '.join(options)} }}" for name, options in tables.items()]
    return "\n".join(["[tasks.grading.metrics]", *lines, ""])


FIELD = """\
[fields.grade]
kind = "class"
classes = ["none", "mild", "severe"]
excluded = ["ungradable"]

"""
GRADING = FIELD + metrics(of_one=['of = "severe"'], classes=3)
REFERENCE = """\
reference_column = "grade"
positive = ["severe"]
negative = ["none", "mild"]
excluded = ["ungradable"]

"""
DECIDING = f'[fields.grade]\nkind = "decision"\n{REFERENCE}{metrics()}'
BOUNDED = f'[fields.grade]\nkind = "number"\nminimum = 0\nmaximum = 100\n{REFERENCE}'
SCORING = BOUNDED + metrics(of_all=["threshold = 40"])


@pytest.fixture(scope="module")
def cases():
    random = np.random.default_rng(11)
    grades = np.array([*GRADES, "ungradable"])
    return {
        "name": [f"eye{number:02d}" for number in range(80)],
        "grade": grades[np.r_[random.integers(0, 4, 76), 0, 1, 2, 3]].tolist(),
    }


@pytest.fixture(scope="module")
def answers(cases):
    random = np.random.default_rng(12)
    right = np.array([GRADES.index(grade) if grade in GRADES else 0 for grade in cases["grade"]])
    return np.where(random.random(80) < 0.6, right, random.integers(0, 3, 80))


def expected_values(true, made, of):
    kappas = {
        name: oracle.cohen_kappa_score(true, made, weights=weights)
        for name, weights in (("cohen_kappa", None), ("linear", "linear"), ("quadratic", "quadratic"))
    }
    is_one, taken = true == of, made == of
    prices = np.array(PRICES[max(2, int(true.max()) + 1)])
    cost = np.average(prices[true, made])
    constant = min(np.average(prices[true, answer]) for answer in range(len(prices)))
    return kappas | {
        "expected_cost": cost,
        "normalised_cost": cost / constant,
        "negative_predictive_value": oracle.precision_score(~is_one, ~taken),
        "accuracy": oracle.accuracy_score(true, made),
        "balanced_accuracy": oracle.balanced_accuracy_score(true, made),
        "macro_f1": oracle.f1_score(true, made, average="macro"),
        "weighted_f1": oracle.f1_score(true, made, average="weighted"),
        "matthews_correlation": oracle.matthews_corrcoef(true, made),
        "sensitivity": oracle.recall_score(is_one, taken),
        "specificity": oracle.recall_score(~is_one, ~taken),
        "precision": oracle.precision_score(is_one, taken),
        "f1": oracle.f1_score(is_one, taken),
        "f2": oracle.fbeta_score(is_one, taken, beta=2),
    }


@pytest.fixture(scope="module")
def phases(cases, tmp_path_factory):
    folder = tmp_path_factory.mktemp("decisions")
    return {
        name: sealed(folder / name, tables, cases, 'missing = "worst"\n')
        for name, tables in (("class", GRADING), ("decision", DECIDING), ("number", SCORING))
    }


def submitted(kind, answers):
    """Return what a field of a kind holds for class indices, and the indices that are decided."""
    if kind == "class":
        return [GRADES[answer] for answer in answers], answers
    if kind == "decision":
        return (answers == 2).astype(int), (answers == 2).astype(int)
    # The threshold itself is positive.
    return np.array([0.5, 39.9, 40.0])[answers], (answers == 2).astype(int)


@pytest.mark.parametrize("kind", ["class", "decision", "number"])
@checked(
    accuracy="sklearn.metrics.accuracy_score",
    balanced_accuracy="sklearn.metrics.balanced_accuracy_score",
    macro_f1="sklearn.metrics.f1_score",
    weighted_f1="sklearn.metrics.f1_score",
    matthews_correlation="sklearn.metrics.matthews_corrcoef",
    cohen_kappa="sklearn.metrics.cohen_kappa_score",
    sensitivity="sklearn.metrics.recall_score",
    specificity="sklearn.metrics.recall_score",
    precision="sklearn.metrics.precision_score",
    f1="sklearn.metrics.f1_score",
    f_beta="sklearn.metrics.fbeta_score",
    negative_predictive_value="sklearn.metrics.precision_score",
    expected_cost="numpy.average",
)
def test_as_scikit_learn(phases, cases, answers, kind, tmp_path):
    column, made = submitted(kind, answers)
    found = values(phases[kind], tmp_path, {"case": cases["name"], "grade": column})
    entering = np.array(cases["grade"]) != "ungradable"
    true = np.array([GRADES.index(grade) for grade in np.array(cases["grade"])[entering]])
    of = 2 if kind == "class" else 1
    true = true if kind == "class" else (true == 2).astype(int)
    assert found == pytest.approx(expected_values(true, made[entering], of), abs=1e-6)


@pytest.mark.parametrize(
    ("options", "decided"),
    [
        ({"threshold": 1}, {0: 0, 0.9: 0, 1: 1}),
        ({"threshold": 0.5}, {0.4: 0, 0.5: 1, 0.6: 1}),
        ({"above": 0}, {0: 0, 0.1: 1, 1: 1}),
        ({"above": 0.5}, {0.4: 0, 0.5: 0, 0.6: 1}),
    ],
)
def test_a_number_is_decided_on_between_two_others(options, decided):
    field = NumberField.model_validate({"kind": "number", **FIELDS_OF_CATALOGUE["number"]})
    measure = Accuracy.model_validate({"metric": "accuracy", **options}).measure("right", "field", field)
    for number, positive in decided.items():
        row = measure.row(FieldComparison("field", number, {"field": 1.0}))
        assert next(iter(row.values())) == positive, number
