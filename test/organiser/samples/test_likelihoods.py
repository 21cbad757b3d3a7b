import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from evaluation.organiser.samples.likelihoods import likelihoods_with_auc

REFUGE_LABELS = np.arange(400) % 10 == 3  # 40 positives among 400


@settings(max_examples=60)
@given(
    auc=st.floats(0.0, 1.0),
    seed=st.integers(0, 2**32 - 1),
    positives=st.integers(1, 30),
    negatives=st.integers(1, 30),
)
def test_auc_is_the_nearest_reachable(auc, seed, positives, negatives):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(positives + negatives) < positives
    found = roc_auc_score(labels, likelihoods_with_auc(labels, auc, rng))
    assert found == pytest.approx(auc, abs=0.5 / (positives * negatives) + 1e-12)


@pytest.mark.parametrize("auc", [0.0, 0.8865, 1.0])
@pytest.mark.parametrize(("cases", "decimals"), [(400, 5), (1000, 5), (5000, 6)])
def test_likelihoods_are_short_distinct_and_inside(auc, cases, decimals):
    labels = np.arange(cases) % 10 == 0
    likelihoods = likelihoods_with_auc(labels, auc, np.random.default_rng(cases))
    assert likelihoods.shape == (cases,)
    assert likelihoods.dtype == np.float64
    assert likelihoods.min() > 0
    assert likelihoods.max() < 1
    assert len(np.unique(likelihoods)) == cases
    written = [f"{likelihood:.{decimals}f}" for likelihood in likelihoods]
    np.testing.assert_array_equal([float(text) for text in written], likelihoods)


@pytest.mark.parametrize(
    ("labels", "auc", "message"),
    [
        (np.zeros(4, dtype=bool), 0.9, "^labels:"),
        (np.ones(3, dtype=bool), 0.9, "^labels:"),
        (np.zeros(0, dtype=bool), 0.9, "^labels:"),
        (np.array([0, 1]), 0.9, "^labels:"),
        (np.array([[True, False]]), 0.9, "^labels:"),
        (np.array([True, False]), 1.1, "^auc:"),
        (np.array([True, False]), -0.1, "^auc:"),
        (np.array([True, False]), float("nan"), "^auc:"),
    ],
)
def test_refused(labels, auc, message):
    with pytest.raises(ValueError, match=message):
        likelihoods_with_auc(labels, auc, np.random.default_rng(0))
