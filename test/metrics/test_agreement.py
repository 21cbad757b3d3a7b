import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from evaluation.metrics.confusion import cohen_kappa, fleiss_kappa


@pytest.mark.parametrize(("first", "second"), [([], []), (["a", "a"], ["a", "a"])])
def test_cohen_does_not_exist_without_two_categories(first, second):
    assert math.isnan(cohen_kappa(first, second))


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 3)), min_size=2, max_size=20))
def test_kappa_is_scikit_learns(cases):
    first, second, weights = zip(*cases, strict=True)
    if len({*first, *second}) < 2:
        return
    texts = [[f"class {one}" for one in side] for side in (first, second)]
    assert cohen_kappa(*texts) == pytest.approx(cohen_kappa_score(*texts), abs=1e-12)
    for disagreement in ("nominal", "linear", "quadratic"):
        found = cohen_kappa(first, second, disagreement=disagreement, classes=range(4), weights=weights)
        costs = None if disagreement == "nominal" else disagreement
        options = {"weights": costs, "labels": range(4), "sample_weight": weights}
        assert found == pytest.approx(cohen_kappa_score(first, second, **options), abs=1e-12)


@pytest.mark.parametrize(
    ("ratings", "expected"),
    [
        ([["a", "a"], ["b", "b"]], 1.0),
        # Observed 0; by chance ½.
        ([["a", "b"], ["a", "b"]], -1.0),
        # A case with one reader does not enter.
        ([["a", "a"], ["b", "b"], ["a"]], 1.0),
        # Shares of agreeing pairs 1/3 and 1; 2 and 3 of 5 ratings are "a" and "b".
        ([["a", "a", "b"], ["b", "b"]], (2 / 3 - 13 / 25) / (12 / 25)),
        ([["a", "a"]], math.nan),
        ([], math.nan),
    ],
)
def test_fleiss_by_hand(ratings, expected):
    assert fleiss_kappa(ratings) == pytest.approx(expected, nan_ok=True)
