"""Kappa against published examples, scikit-learn and by hand."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from evaluation.metrics.agreement import cohen_kappa, fleiss_kappa

two_readers = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=20)


def test_cohen_by_hand():
    # 20 both yes, 15 both no, 5 and 10 apart: observed 0.7, by chance 0.5 · 0.6 + 0.5 · 0.4 = 0.5.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)


@pytest.mark.parametrize(("first", "second"), [([], []), (["a", "a"], ["a", "a"])])
def test_cohen_does_not_exist_without_two_categories(first, second):
    assert math.isnan(cohen_kappa(first, second))


@settings(max_examples=40)
@given(two_readers)
def test_cohen_is_scikit_learns(cases):
    first, second = zip(*cases, strict=True)
    if len({*first, *second}) > 1:
        assert cohen_kappa(first, second) == pytest.approx(cohen_kappa_score(first, second))
        assert cohen_kappa(second, first) == pytest.approx(cohen_kappa(first, second))


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 3)), min_size=2, max_size=20))
def test_weighted_kappa_is_scikit_learns(cases):
    first, second, weights = zip(*cases, strict=True)
    if len({*first, *second}) < 2:
        return
    for disagreement in ("linear", "quadratic"):
        found = cohen_kappa(first, second, disagreement=disagreement, classes=range(4), weights=weights)
        options = {"weights": disagreement, "labels": range(4), "sample_weight": weights}
        assert found == pytest.approx(cohen_kappa_score(first, second, **options), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            {"disagreement": "cubic"},
            "disagreement: expected 'nominal', .* found 'cubic'",
        ),
        ({"disagreement": "linear"}, "classes: expected all categories in their order for 'linear'"),
        ({"classes": [0, 1]}, "classes: expected every category that occurs, 2 is not listed"),
        ({"weights": [1]}, "weights: expected 2 finite numbers"),
    ],
)
def test_arguments_of_a_kappa_that_do_not_fit(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        cohen_kappa([0, 1], [1, 2], **arguments)


def test_fleiss_published_example():
    # Ten subjects, fourteen raters, five categories; Fleiss' kappa 0.210 (the usual textbook table).
    table = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    ratings = [[category for category, count in enumerate(row) for _ in range(count)] for row in table]
    assert fleiss_kappa(ratings) == pytest.approx(0.210, abs=5e-4)


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
