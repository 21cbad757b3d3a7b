import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from evaluation.metrics.presence import f1_of_presence


# ADAM, on-site counts of Table 1 (positives of 400) and the row of a team that marked every image.
@pytest.mark.parametrize(
    ("positives", "published"), [(44, 0.1982), (39, 0.1777), (23, 0.1087), (21, 0.0998), (2, 0.0100)]
)
def test_every_image_marked(positives, published):
    found = f1_of_presence(np.ones(400, bool), np.arange(400) < positives, np.ones((1, 400)))
    assert round(float(found[0]), 4) == published


@pytest.mark.parametrize(
    ("predicted", "present", "expected"),
    [
        ("000", "000", 1),
        ("100", "000", 0),
        ("000", "100", 0),
        ("110", "011", 0.5),
        ("111", "111", 1),
        ("", "", 1),
    ],
)
def test_by_hand(predicted, present, expected):
    as_bool = [[c == "1" for c in text] for text in (predicted, present)]
    assert f1_of_presence(*as_bool, np.ones((1, len(predicted)))).tolist() == [expected]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_agrees_with_scikit_learn_under_weights(seed, cases):
    generator = np.random.default_rng(seed)
    predicted, present = generator.random((2, cases)) < 0.4
    weights = generator.integers(0, 4, (5, cases))
    weights = weights[weights.any(axis=1)]
    expected = [f1_score(present, predicted, sample_weight=row, zero_division=1) for row in weights]
    np.testing.assert_allclose(f1_of_presence(predicted, present, weights), expected, atol=1e-12)


def test_refused_shapes():
    with pytest.raises(ValueError, match=r"found \(2,\), \(2,\) and \(1, 3\)"):
        f1_of_presence([True, False], [True, True], np.ones((1, 3)))
