"""The search for the worst coverage: its families, one that must fall short, and one that is exact."""

import math
import tomllib

import numpy as np
import pytest
from scipy.stats import beta, binom

from benchmarks import worst
from evaluation.core.estimator import Mean
from evaluation.core.metric import Metric


def families(file):
    return tomllib.loads((worst.FOLDER / f"{file}.toml").read_text(encoding="utf-8"))


def test_no_population_that_tunes_verifies():
    tuned, verified = families("tune"), families("verify")
    assert tuned.keys() == verified.keys() == {search.family for search in worst.searches()}
    for name in verified:
        assert tuned[name].keys() == verified[name].keys()
        both = [tuple(point.items()) for point in worst.family(name) if point in worst.family(name, "tune")]
        assert both == []


def test_the_worst_population_is_found_and_tried_again():
    """An interval that counts no failure falls short the more, the rarer the failures of few cases are."""

    def outcome(rng, cases, point):
        return bool((rng.random(cases) < point["failures"]).any())

    found = worst.worst(worst.Search("plain", "margin", outcome), 40, 50, 400)
    rarest = min(point["failures"] for point in worst.family("margin"))
    assert found.where.startswith(f"failures {rarest:g}")
    assert (found.sets, found.populations) == (400, 9)
    assert found.share == pytest.approx(100 * (1 - (1 - rarest) ** 40), abs=8)
    wrong = worst.worst(worst.Search("plain", "margin", outcome, wrong=True), 40, 50, 400)
    assert wrong.where.startswith("failures 0.055")


def test_shares_are_enumerated():
    found = worst.worst(next(worst.searches()), 40, 0, 0)
    least = 100.0
    for right in families("verify")["share"]["right"]:
        k = np.arange(41)
        lower, upper = beta.ppf(0.025, k, 41 - k), beta.ppf(0.975, k + 1, 40 - k)
        inside = (np.nan_to_num(lower) <= right) & (right <= np.where(k == 40, 1, upper))
        least = min(least, 100 * binom.pmf(k[inside], 40, right).sum())
    assert found.share == pytest.approx(least)
    assert least >= 95


def test_intervals_hold_the_value_of_very_many_cases():
    """Of values that are all 0.6 every interval holds the true value, and none those about another one."""
    point: dict[str, float] = {}
    metric = Metric("m", "", Mean("x"), 1, 0)
    holds = worst.Search(
        "equal", "mean", worst._holds(metric, lambda rng, cases, _: {"x": np.full(cases, 0.6)})
    )
    assert holds.shares(point, 20, 3, 0) == (100, 3)
    # Below ten cases there is no interval, and a population counts only where most samples have one.
    share, number = holds.shares(point, 9, 3, 0)
    assert (math.isnan(share), number) == (True, 0)
    drifting = worst._holds(metric, lambda rng, cases, _: {"x": np.full(cases, 0.1 if cases < 1000 else 0.9)})
    assert worst.Search("moved", "mean", drifting).shares(point, 20, 3, 0) == (0, 3)
