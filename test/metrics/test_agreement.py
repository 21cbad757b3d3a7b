import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import f, t
from sklearn.metrics import cohen_kappa_score

from evaluation.metrics.agreement import (
    cohen_kappa,
    fleiss_kappa,
    intraclass_correlations,
    krippendorff_alpha,
    limits_of_agreement,
)
from evaluation.metrics.intervals import Interval
from evaluation.metrics.regression import weighted_intraclass_correlation

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
            "^disagreement:",
        ),
        ({"disagreement": "linear"}, "^classes:"),
        ({"classes": [0, 1]}, "^classes:"),
        ({"weights": [1]}, "^weights:"),
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


# Krippendorff 2011, section C: four observers, twelve units, missing data.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


PUBLISHED = [[value for value in unit if value is not None] for unit in zip(*OBSERVERS, strict=True)]


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_own_example(level, alpha):
    assert krippendorff_alpha(PUBLISHED, level) == pytest.approx(alpha, abs=5e-4)


def plain_alpha(ratings: list[list[float]], level: str) -> float:
    """The coincidence matrix, as written."""
    units = [unit for unit in ratings if len(unit) > 1]
    values = sorted({value for unit in units for value in unit})
    total = {value: sum(unit.count(value) for unit in units) for value in values}

    def differ(one: float, other: float) -> float:
        if level == "nominal":
            return float(one != other)
        if level == "interval":
            return (one - other) ** 2
        low, high = min(one, other), max(one, other)
        between = sum(total[value] for value in values if low <= value <= high)
        return (between - (total[low] + total[high]) / 2) ** 2

    observed = sum(
        differ(*pair) / (len(unit) - 1) for unit in units for pair in itertools.permutations(unit, 2)
    )
    number = sum(total.values())
    expected = sum(
        total[one] * total[other] * differ(one, other) for one, other in itertools.permutations(values, 2)
    )
    return 1 - (number - 1) * observed / expected


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), min_size=2, max_size=8),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_against_the_coincidence_matrix(ratings, level):
    found = krippendorff_alpha(ratings, level)
    if len({value for unit in ratings if len(unit) > 1 for value in unit}) < 2:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(plain_alpha(ratings, level), abs=1e-9)
        assert found <= 1 + 1e-12


def test_no_pair_and_an_unknown_level():
    assert math.isnan(krippendorff_alpha([[1], [2]], "nominal"))
    assert math.isnan(krippendorff_alpha([], "interval"))
    assert krippendorff_alpha(np.array([[1.0, 1.0], [2.0, 2.0]]), "interval") == 1
    with pytest.raises(ValueError, match=r"^level:"):
        krippendorff_alpha([[1, 2]], "ratio")


# Shrout and Fleiss 1979, Table 2: six targets, four judges.
JUDGES = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


# Bland and Altman 1986, Table 1: the first measurements of peak flow by two meters, l/min.
LARGE = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]


MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]


def test_the_table_of_shrout_and_fleiss():
    found = intraclass_correlations(JUDGES)
    # Table 4: .29 and .71; intervals as published for these data with R's psych package.
    assert found.agreement.value == pytest.approx(0.290, abs=5e-4)
    assert found.consistency.value == pytest.approx(0.715, abs=5e-4)
    agreement, consistency = found.agreement.interval, found.consistency.interval
    assert (agreement.lower, agreement.upper) == pytest.approx((0.019, 0.761), abs=1e-3)
    assert (consistency.lower, consistency.upper) == pytest.approx((0.342, 0.946), abs=1e-3)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=12))
def test_two_annotators_as_prediction_and_truth(pairs):
    first, second = np.array(pairs, dtype=float).T
    found = intraclass_correlations(np.array(pairs))
    if found is None:
        assert len(set(pairs)) == 1
    else:
        expected = weighted_intraclass_correlation(first, second, np.ones((1, len(pairs))))[0]
        assert found.agreement.value == pytest.approx(expected, abs=1e-9)


def test_a_constant_shift_lowers_agreement_and_not_consistency():
    ratings = np.array(JUDGES, dtype=float)
    plain = intraclass_correlations(ratings)
    shifted = intraclass_correlations(ratings + np.array([0, 0, 0, 10]))
    assert shifted.consistency.value == pytest.approx(plain.consistency.value)
    assert shifted.agreement.value < plain.agreement.value


def test_intervals_cover():
    # True ICC(3,1) = 1 / (1 + 1): 1,000 sets of 20 cases and 3 annotators.
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(1000):
        ratings = rng.normal(size=(20, 1)) + rng.normal(size=(20, 3)) + np.array([0, 1, 3])
        interval = intraclass_correlations(ratings).consistency.interval
        covered += interval.lower <= 0.5 <= interval.upper
    assert covered / 1000 == pytest.approx(0.95, abs=0.025)


def test_annotators_who_are_the_same():
    found = intraclass_correlations([[1, 1], [2, 2], [4, 4]])
    for one in (found.agreement, found.consistency):
        assert (one.value, one.interval) == (1, Interval(1, 1))


def test_annotators_of_whom_each_says_the_same_of_all_cases():
    """No annotator tells the cases apart, so that nothing is left to agree about."""
    assert intraclass_correlations([[1, 2], [1, 2], [1, 2]]) is None


@pytest.mark.parametrize("ratings", [[[1, 2]], [[1], [2]], [[3, 3], [3, 3]], np.empty((0, 3))])
def test_too_little_to_correlate(ratings):
    assert intraclass_correlations(ratings) is None


def test_annotators_who_contradict_each_other_about_two_cases():
    # Two: ICC(2,1) is −1 / 0. Three: all means are equal, so that with an error mean square of e it is
    # −e / (2·e − 3·e / 2) = −2, and its degrees of freedom are 0 / 0.
    assert intraclass_correlations([[0, 1], [1, 0]]) is None
    found = intraclass_correlations([[0, 0.5, 1], [1, 0.5, 0]])
    assert found.agreement.value == pytest.approx(-2)
    assert math.isnan(found.agreement.interval.lower)
    # −e / (2·e)
    assert found.consistency.value == pytest.approx(-1 / 2)


@pytest.mark.parametrize("ratings", [[1, 2], [[1, math.nan], [1, 2]]])
def test_refused_ratings(ratings):
    with pytest.raises(ValueError, match=r"^ratings:"):
        intraclass_correlations(ratings)


def test_the_meters_of_bland_and_altman():
    found = limits_of_agreement(LARGE, MINI)
    assert found.bias.value == pytest.approx(-2.1, abs=0.05)
    assert (found.upper.value - found.bias.value) / 1.96 == pytest.approx(38.8, abs=0.05)
    interval = found.bias.interval
    assert (interval.lower, interval.upper) == pytest.approx((-22.0, 17.8), abs=0.1)
    # The paper rounds 1.96 to 2 and the limits' standard error to √(3/n) s: −114.3 to −45.1, 40.9 to 110.1.
    assert (found.lower.interval.lower, found.lower.interval.upper) == pytest.approx((-114, -45), abs=3)
    assert (found.upper.interval.lower, found.upper.interval.upper) == pytest.approx((41, 110), abs=3)
    error = 38.765 * math.sqrt(1 / 17 + 1.96**2 / 32)
    assert found.upper.interval.upper - found.upper.value == pytest.approx(t.ppf(0.975, 16) * error, rel=1e-4)


def test_one_case_has_no_limits():
    assert limits_of_agreement([1.0], [2.0]) is None
    with pytest.raises(ValueError, match=r"^first and second:"):
        limits_of_agreement([1.0], [1.0, 2.0])


def interval_of_agreement(ratings, level=0.95):
    """Return the interval of ICC(2,1) from mean squares (McGraw and Wong 1996, table 7)."""
    n, k = ratings.shape
    rows, columns = ratings.mean(axis=1, keepdims=True), ratings.mean(axis=0, keepdims=True)
    of_rows = k * ((rows - ratings.mean()) ** 2).sum() / (n - 1)
    of_columns = n * ((columns - ratings.mean()) ** 2).sum() / (k - 1)
    error = ((ratings - rows - columns + ratings.mean()) ** 2).sum() / (n - 1) / (k - 1)
    rho = (of_rows - error) / (of_rows + (k - 1) * error + k * (of_columns - error) / n)
    a = k * rho / (n * (1 - rho))
    b = 1 + k * rho * (n - 1) / (n * (1 - rho))
    freedom = (a * of_columns + b * error) ** 2 / (
        (a * of_columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
    )
    low, high = f.ppf((1 + level) / 2, n - 1, freedom), f.ppf((1 + level) / 2, freedom, n - 1)
    rest = k * of_columns + (k * n - k - n) * error
    return (
        n * (of_rows - low * error) / (low * rest + n * of_rows),
        n * (high * of_rows - error) / (rest + n * high * of_rows),
    )


@pytest.mark.parametrize("shift", [0.0, 0.3, 3.0])
def test_the_interval_of_agreement_from_mean_squares(shift):
    rng = np.random.default_rng(4)
    ratings = 3 * (rng.normal(size=(15, 1)) + rng.normal(size=(15, 3)) + shift * np.array([0, 1, 2]))
    found = intraclass_correlations(ratings).agreement.interval
    assert (found.lower, found.upper) == pytest.approx(interval_of_agreement(ratings), rel=1e-9)


def test_limits_of_two_cases_by_hand():
    found = limits_of_agreement([1, 3], [0, 0])
    assert found.bias.value == 2
    assert found.upper.value - found.bias.value == pytest.approx(1.96 * math.sqrt(2))
    assert limits_of_agreement([1], [0]) is None
