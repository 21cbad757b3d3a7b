"""Probabilities of classes through whole declared phases, against scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics as oracle
from sklearn.calibration import calibration_curve

from test.challenges.declared.scalars import rehearsed, sealed, values
from test.oracles import checked

CLASSES = ["melanoma", "naevus", "other"]
SKIN = """\
[fields.lesion]
kind = "class_probabilities"
classes = ["melanoma", "naevus", "other"]
excluded = ["unknown"]

[tasks.diagnosis]
metrics = [
    "macro_auc", "brier_score", "accuracy", "cohen_kappa", "log_loss", "top_label_calibration_error",
]
"""
BINARY = """\
[fields.lesion]
kind = "number"
minimum = 0
maximum = 1
positive = ["melanoma"]
negative = ["naevus", "other"]
excluded = ["unknown"]

[tasks.diagnosis]
metrics = ["brier_score", "log_loss"]
"""


@pytest.fixture(scope="module")
def cases():
    random = np.random.default_rng(3)
    classes = np.array([*CLASSES, "unknown"])
    return {
        "name": [f"skin{number:02d}" for number in range(40)],
        "lesion": classes[np.r_[random.integers(0, 4, 36), 0, 1, 2, 3]].tolist(),
    }


@pytest.fixture(scope="module")
def shares():
    return np.round(np.random.default_rng(4).dirichlet(np.ones(3), 40), 4)


@pytest.fixture(scope="module")
def phase(cases, tmp_path_factory):
    return sealed(tmp_path_factory.mktemp("skin") / "phase", SKIN, cases, 'missing = "worst"\n')


def calibration_error(label, share):
    """Return the expected calibration error in ten bins from the points of scikit-learn's curve."""
    observed, predicted = calibration_curve(label, share, n_bins=10)
    sizes = np.bincount(np.searchsorted(np.linspace(0, 1, 11)[1:-1], share), minlength=10)
    return np.average(np.abs(observed - predicted), weights=sizes[sizes > 0])


@checked(
    macro_auc="sklearn.metrics.roc_auc_score",
    brier_score="sklearn.metrics.brier_score_loss",
    log_loss="sklearn.metrics.log_loss",
    top_label_calibration_error="sklearn.calibration.calibration_curve",
)
def test_as_scikit_learn(phase, cases, shares, tmp_path):
    found = values(phase, tmp_path, {"case": cases["name"], **dict(zip(CLASSES, shares.T, strict=True))})
    lesion = np.array(cases["lesion"])
    entering = lesion != "unknown"
    true = np.array([CLASSES.index(name) for name in lesion[entering]])
    share, top = shares[entering], shares[entering].argmax(axis=1)
    normalised = share / share.sum(axis=1, keepdims=True)  # scikit-learn wants sums of exactly 1
    assert found == pytest.approx(
        {
            "macro_auc": oracle.roc_auc_score(true, normalised, multi_class="ovr"),
            "brier_score": ((share - np.eye(3)[true]) ** 2).sum(axis=1).mean(),
            "accuracy": oracle.accuracy_score(true, top),
            "cohen_kappa": oracle.cohen_kappa_score(true, top),
            "log_loss": oracle.log_loss(true, normalised),
            "top_label_calibration_error": calibration_error(top == true, share.max(axis=1)),
        },
        abs=1e-4,
    )
    expected = oracle.brier_score_loss(true, normalised, labels=range(3), scale_by_half=False)
    assert found["brier_score"] == pytest.approx(expected, abs=1e-3)
    assert rehearsed(phase).problems == ()


def test_one_of_two_classes_as_scikit_learn(cases, shares, tmp_path):
    phase = sealed(tmp_path / "phase", BINARY, cases, 'missing = "worst"\n')
    found = values(phase, tmp_path / "submission", {"case": cases["name"], "lesion": shares[:, 0]})
    lesion = np.array(cases["lesion"])
    entering = lesion != "unknown"
    expected = oracle.brier_score_loss(lesion[entering] == "melanoma", shares[entering, 0], pos_label=True)
    assert found["brier_score"] == pytest.approx(expected, abs=1e-6)
    loss = oracle.log_loss(lesion[entering] == "melanoma", shares[entering, 0])
    assert found["log_loss"] == pytest.approx(loss, abs=1e-6)
