"""Scores of two classes through a whole declared phase, against scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics as oracle

from test.challenges.declared.phases import SCREENING
from test.challenges.declared.scalars import figures, rehearsed, sealed, values
from test.oracles import BY_HAND, checked

TABLES = f"""{SCREENING.partition("[tasks")[0]}
[tasks.screening.metrics]
auc = {{}}
average_precision = {{}}
calibration_error = {{ bins = 5 }}
partial_auc = {{ min_specificity = 0.8 }}
area = {{ metric = "partial_auc", min_specificity = 0.5, max_specificity = 0.9, standardised = false }}
sensitivity_at_specificity = {{ specificity = 0.9 }}
specificity_at_sensitivity = {{ sensitivity = 0.9 }}
"""


@pytest.fixture(scope="module")
def cases():
    random = np.random.default_rng(7)
    return {
        "name": [f"eye{number:02d}" for number in range(60)],
        "class": np.array(["RG", "NRG", "U"])[np.r_[random.integers(0, 3, 57), 0, 1, 2]].tolist(),
    }


@pytest.fixture(scope="module")
def likelihoods(cases):
    random = np.random.default_rng(8)
    positive = np.array(cases["class"]) == "RG"
    return np.round(np.clip(random.normal(0.4 + 0.2 * positive, 0.25), 0, 1), 2)


@pytest.fixture(scope="module")
def phase(cases, tmp_path_factory):
    return sealed(tmp_path_factory.mktemp("scores") / "phase", TABLES, cases, 'missing = "worst"\n')


def expected_values(label, score):
    rates, sensitivities, _ = oracle.roc_curve(label, score, drop_intermediate=False)
    bins = np.minimum((score * 5).astype(int), 4)
    return {
        "auc": oracle.roc_auc_score(label, score),
        "average_precision": oracle.average_precision_score(label, score),
        "calibration_error": sum(
            abs(score[bins == number].sum() - label[bins == number].sum()) for number in range(5)
        )
        / len(label),
        "partial_auc": oracle.roc_auc_score(label, score, max_fpr=0.2),
        "area": area_below(rates, sensitivities, 0.5) - area_below(rates, sensitivities, 0.1),
        "sensitivity_at_specificity": sensitivities[rates <= 0.1 + 1e-12].max(),
        "specificity_at_sensitivity": 1 - rates[sensitivities >= 0.9 - 1e-12].min(),
    }


def area_below(rates, sensitivities, limit):
    """Area under the curve up to a false-positive rate, by the trapezoidal rule."""
    x = np.concatenate((rates[rates <= limit], [limit]))
    at_limit = np.interp(limit, rates, sensitivities)
    return oracle.auc(x, np.concatenate((sensitivities[rates <= limit], [at_limit])))


@checked(
    auc="sklearn.metrics.roc_auc_score",
    average_precision="sklearn.metrics.average_precision_score",
    calibration_error=BY_HAND,
    partial_auc="sklearn.metrics.roc_auc_score",
    sensitivity_at_specificity="sklearn.metrics.roc_curve",
    specificity_at_sensitivity="sklearn.metrics.roc_curve",
)
def test_as_scikit_learn(phase, cases, likelihoods, tmp_path):
    found = values(phase, tmp_path, {"case": cases["name"], "likelihood": likelihoods})
    entering = np.array(cases["class"]) != "U"
    label = np.array(cases["class"])[entering] == "RG"
    assert found == pytest.approx(expected_values(label, likelihoods[entering]), abs=1e-6)
    assert rehearsed(phase).problems == ()


def test_an_estimate_that_is_biased_upwards_has_a_band_of_right_probabilities(
    phase, cases, likelihoods, tmp_path
):
    values(phase, tmp_path, {"case": cases["name"], "likelihood": likelihoods})
    calibration = figures(phase, tmp_path)["calibration_error"]
    assert "confidence_interval" not in calibration
    band = calibration["further_intervals"]["under_calibration"]
    assert 0 < band["lower"] < band["upper"] < 0.5
