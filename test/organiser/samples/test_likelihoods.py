import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from evaluation.organiser.samples.likelihoods import likelihoods_with_auc


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
    likelihoods = likelihoods_with_auc(labels, auc, rng)
    assert 0 < likelihoods.min() <= likelihoods.max() < 1
    assert len({f"{likelihood:.5f}" for likelihood in likelihoods}) == len(labels)
    found = roc_auc_score(labels, likelihoods)
    assert found == pytest.approx(auc, abs=0.5 / (positives * negatives) + 1e-12)
