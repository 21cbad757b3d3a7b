"""Measured numbers through whole declared phases, against NumPy, SciPy and scikit-learn."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as oracle

from test.challenges.declared.scalars import rehearsed, sealed, values
from test.metrics.record_intraclass import rated_pairs
from test.metrics.test_regression import INTRACLASS
from test.oracles import BY_HAND, checked

METRICS = (
    '["mean_absolute_error", "root_mean_squared_error", "normalised_absolute_error", "bias", '
    '"pearson_correlation", "spearman_correlation", "intraclass_correlation"]'
)
AGE = f"""\
[fields.age]
kind = "number"
minimum = 0
maximum = 120
unit = "years"

[tasks.age]
metrics = {METRICS}
"""


@pytest.fixture(scope="module")
def cases():
    ages = np.random.default_rng(5).integers(20, 90, 30)
    return {"name": [f"case{number:02d}" for number in range(30)], "age": ages.tolist()}


@pytest.fixture(scope="module")
def guesses(cases):
    noise = np.random.default_rng(6).integers(-9, 12, 30)
    return np.array(cases["age"]) + noise


@pytest.fixture(scope="module")
def phase(cases, tmp_path_factory):
    return sealed(tmp_path_factory.mktemp("age") / "phase", AGE, cases, 'missing = "worst"\n')


def expected_errors(difference, true):
    mean, deviation = difference.mean(), difference.std(ddof=1)
    return {
        "mean_absolute_error": np.abs(difference).mean(),
        "root_mean_squared_error": np.sqrt((difference**2).mean()),
        "normalised_absolute_error": np.abs(difference).sum() / np.abs(true).sum(),
        "bias": mean,
        "bias_lower_limit": mean - 1.96 * deviation,
        "bias_upper_limit": mean + 1.96 * deviation,
    }


def intraclass_by_variances(ratings):
    """Return ICC(2,1) by the mean squares of Shrout and Fleiss 1979, Psychological Bulletin 86:420."""
    cases, raters = ratings.shape
    of_cases, of_raters = ratings.mean(axis=1, keepdims=True), ratings.mean(axis=0, keepdims=True)
    between_cases = raters * of_cases.var(ddof=1)
    between_raters = cases * of_raters.var(ddof=1)
    residual = ((ratings - of_cases - of_raters + ratings.mean()) ** 2).sum() / ((cases - 1) * (raters - 1))
    whole = between_cases + (raters - 1) * residual + raters * (between_raters - residual) / cases
    return (between_cases - residual) / whole


@checked(
    mean_absolute_error="sklearn.metrics.mean_absolute_error",
    root_mean_squared_error="sklearn.metrics.root_mean_squared_error",
    normalised_absolute_error=BY_HAND,
    bias=BY_HAND,
    pearson_correlation="scipy.stats.pearsonr",
    spearman_correlation="scipy.stats.spearmanr",
)
def test_as_independent_computations(phase, cases, guesses, tmp_path):
    found = values(phase, tmp_path, {"case": cases["name"], "age": guesses})
    true = np.array(cases["age"])
    correlations = {
        "pearson_correlation": stats.pearsonr(guesses, true).statistic,
        "spearman_correlation": stats.spearmanr(guesses, true).statistic,
        "intraclass_correlation": intraclass_by_variances(np.column_stack((guesses, true))),
    }
    assert found == pytest.approx(expected_errors(guesses - true, true) | correlations, abs=1e-6)
    assert rehearsed(phase).problems == ()
    assert found["mean_absolute_error"] == pytest.approx(oracle.mean_absolute_error(true, guesses))
    expected = oracle.root_mean_squared_error(true, guesses)
    assert found["root_mean_squared_error"] == pytest.approx(expected, abs=1e-6)


@checked(intraclass_correlation="pingouin.intraclass_corr")
def test_intraclass_correlation_as_pingouin(tmp_path):
    seed = next(iter(INTRACLASS))
    predicted, true = rated_pairs(seed)
    names = [f"case{number:02d}" for number in range(len(true))]
    phase = sealed(tmp_path / "phase", AGE, {"name": names, "age": true.tolist()})
    found = values(phase, tmp_path / "submission", {"case": names, "age": predicted})
    assert found["intraclass_correlation"] == pytest.approx(INTRACLASS[seed], abs=1e-6)


def test_a_case_without_a_result_has_the_largest_error(phase, cases, guesses, tmp_path):
    found = values(phase, tmp_path, {"case": cases["name"][3:], "age": guesses[3:]})
    true = np.array(cases["age"])
    difference = np.where(np.arange(30) < 3, 120, guesses - true)
    expected = expected_errors(difference, true) | dict.fromkeys(
        ("pearson_correlation", "spearman_correlation", "intraclass_correlation"), -1
    )
    assert found == pytest.approx(expected, abs=1e-6)


SIZES = """\
[fields.size]
kind = "number"

[tasks.sizes.metrics]
symmetric_relative_score = { epsilon = 4 }
"""


@checked(symmetric_relative_score=BY_HAND)
def test_symmetric_relative_scores_by_hand(tmp_path):
    true, made = [0, 10, 8, 40, 1.5e308], [0, 6, 16, -36, 1.5e308]
    names = [f"lesion{number}" for number in range(5)]
    phase = sealed(tmp_path / "phase", SIZES, {"name": names, "size": true}, 'missing = "worst"\n')
    # 1 − 4 / 20, 1 − 8 / 28, 1 − 76 / 80; equal numbers score 1.
    scores = [1, 0.8, 5 / 7, 0.05, 1]
    found = values(phase, tmp_path / "submission", {"case": names, "size": made})
    assert found["symmetric_relative_score"] == pytest.approx(np.mean(scores), abs=1e-6)
    found = values(phase, tmp_path / "submission", {"case": names[:4], "size": made[:4]})
    assert found["symmetric_relative_score"] == pytest.approx(np.mean([*scores[:4], 0]), abs=1e-6)
    assert rehearsed(phase).problems == ()
