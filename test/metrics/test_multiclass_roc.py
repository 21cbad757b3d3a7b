import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from evaluation.metrics.multiclass_roc import macro_auc


@given(st.integers(3, 5), st.integers(0, 2**32 - 1))
def test_as_scikit_learn_under_weights(classes, seed):
    generator = np.random.default_rng(seed)
    truth = np.concatenate((np.arange(classes), generator.integers(0, classes, 15)))
    score = generator.multinomial(4, np.full(classes, 1 / classes), len(truth)) / 4  # many are tied
    weights = generator.integers(1, 4, len(truth))
    expected = roc_auc_score(truth, score, multi_class="ovr", average="macro", sample_weight=weights)
    assert macro_auc(score, truth, weights[None])[0] == pytest.approx(expected, abs=1e-12)


THREE = np.array([[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.1, 0.6, 0.3]])


def test_a_class_without_a_case_does_not_enter():
    # Class 2 has no case; class 0: 0.8 against 0.2 and 0.1, class 1: 0.5 and 0.6 against 0.1. All right.
    assert macro_auc(THREE, [0, 1, np.nan, 1], np.ones((1, 4)))[0] == 1.0
    # One class alone has nothing to be compared with.
    assert np.isnan(macro_auc(THREE, [1, 1, 1, 1], np.ones((1, 4)))[0])
    assert np.isnan(macro_auc(np.zeros((0, 3)), [], np.ones((1, 0)))[0])


def test_a_case_without_a_result_loses_its_pairs():
    score = THREE.copy()
    score[0] = np.nan
    # Class 0: its only case loses both pairs. Class 1: the case of class 0 is above it, class 2 is not: each
    # of its two cases wins one pair of two. Class 2: 0.4 loses against the missing case, wins twice.
    expected = (0 + 2 / 4 + 2 / 3) / 3
    assert macro_auc(score, [0, 1, 2, 1], np.ones((1, 4)))[0] == pytest.approx(expected)


def test_shapes_must_fit():
    with pytest.raises(ValueError, match="found \\(4, 3\\), \\(3,\\) and \\(1, 3\\)"):
        macro_auc(THREE, [0, 1, 2], np.ones((1, 3)))
