"""Tests and figures of ranks, confidence sets, exchanges of results, and tests of means and areas."""

import itertools
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, permutations
from math import inf, nan

import numpy as np
import pytest
from scipy.stats import kendalltau, mannwhitneyu, norm, permutation_test, spearmanr, wilcoxon
from sklearn.metrics import roc_auc_score

from evaluation.metrics.classification import roc_table
from evaluation.metrics.intervals import Interval, components
from evaluation.metrics.operating_points import weighted_sensitivity_at_specificity
from evaluation.organiser.ranking.across import MAX_EXACT, Merge, across_rankings, consensus
from evaluation.organiser.ranking.certainty import rank_confidence_sets, superiority
from evaluation.organiser.ranking.exchanges import (
    ExchangedSensitivities,
    exchanges,
    mean_tests,
    randomisation_tests,
)
from evaluation.organiser.ranking.pairwise import PairTest, area_test, corrected, holm, significance_tiers
from evaluation.organiser.ranking.rank_statistics import (
    kendall_tau_b,
    pareto_front,
    published,
    published_difference,
    rank_sum_test,
    signed_rank_tests,
    spearman,
)
from evaluation.platform.result_file import as_written

NAN = math.nan


def test_too_few_cases():
    # Differences 1 … 5: standard deviation √2.5, of the mean √(2.5/5).
    (found,) = signed_rank_tests([[1, 2, 3, 4, 5], [0, 0, 0, 0, 0]], [(0, 1)])
    assert found.standard_error == pytest.approx(math.sqrt(0.5))
    (found,) = signed_rank_tests([[1, NAN], [NAN, 2]], [(0, 1)])
    assert (found.p_value, found.note) == (None, "fewer than two cases enter both means")


@pytest.mark.parametrize("digits", [1, 12])
@pytest.mark.parametrize("cases", [6, 12, 15, 16, 40, 52, 53, 90])
def test_many_pairs_at_once_against_scipy_one_by_one(cases, digits):
    values = np.random.default_rng(cases).normal(size=(4, cases)).round(digits)
    values[:, :2] = NAN
    pairs = [(0, 1), (2, 3), (1, 3), (0, 0)]
    for (first, second), found in zip(pairs, signed_rank_tests(values, pairs), strict=True):
        differences = (values[first, 2:] - values[second, 2:]).round(11)
        expected = wilcoxon(differences).pvalue if differences.any() else 1.0
        assert found.p_value == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # Complete separation of 3 and 3: 2 of the 20 arrangements.
        ([1, 2, 3], [4, 5, 6], 0.1),
        ([1, 2, 3, NAN], [4, NAN, 5, 6], 0.1),
        ([1, 1], [1, 1], 1.0),
        ([], [1.0], None),
        ([NAN], [1.0], None),
    ],
)
def test_rank_sum(first, second, expected):
    found = rank_sum_test(first, second).p_value
    assert found == (None if expected is None else pytest.approx(expected))


def test_directions_and_ties_of_ranks():
    # The mean is higher in the first sample, the ranks in the second.
    assert rank_sum_test([0, 0, 100], [1, 1, 1, 2]).direction == -1
    assert rank_sum_test([1, 2], [1, 2]).direction == 0
    # 0.3 − 0.1 > 0.4 − 0.2 as floats. In decimal all are tied: p of ± 0.2 once each is 1.
    (found,) = signed_rank_tests([[0.3, 0.2], [0.1, 0.4]], [(0, 1)])
    assert found.p_value == 1.0
    assert rank_sum_test([0.3 - 0.1, 0.5], [0.4 - 0.2, 0.5]).direction == 0
    (found,) = signed_rank_tests([[1, 1, 1, -9], [0, 0, 0, 0]], [(0, 1)])
    # Positive ranks 2, 2, 2, negative 4: 6 against 4, though the mean is negative.
    assert found.direction == 1


def test_rank_sum_against_scipy():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=360).round(1), rng.normal(0.3, size=40).round(1)
    assert rank_sum_test(first, second).p_value == pytest.approx(mannwhitneyu(first, second).pvalue)


@pytest.mark.parametrize("values", [4, 9])
@pytest.mark.parametrize("pairs", [2, 5, 8, 30])
def test_rank_correlations_are_scipys(pairs, values):
    first, second = np.random.default_rng(pairs).integers(1, values + 1, (2, pairs))
    expected = kendalltau(first, second, variant="b").statistic
    assert kendall_tau_b(first, [second]).tolist() == pytest.approx([expected], nan_ok=True)
    assert spearman(first, second, pairs).value == pytest.approx(spearmanr(first, second).statistic)
    straight = spearman(range(pairs), np.arange(pairs) ** 2, max(pairs, 4))
    assert (straight.value, straight.lower, straight.upper, straight.p_value) == (1, 1, 1, 0)
    same = np.ones(pairs)
    assert np.isnan(kendall_tau_b(first, [same])).all()
    assert spearman(first, same, pairs).value is None


def test_rows_that_no_other_row_dominates():
    """The fourth row is as good as the first and slower, the last one worse and slower than the second."""
    costs = [(-0.9, 2.0), (-0.5, 0.1), (-0.5, 0.1), (-0.9, 3.0), (-0.4, 0.2)]
    assert pareto_front(costs).tolist() == [True, True, True, False, False]


def test_what_is_no_number_stays():
    np.testing.assert_array_equal(published([nan, inf, -inf, 0.0]), [nan, inf, -inf, 0.0])
    assert np.isnan(published_difference([nan, 1.0], [1.0, nan])).all()


@pytest.mark.parametrize("exponent", [-10, -1, 0, 3, 15])
def test_the_digits_are_those_of_metrics_json(exponent):
    for value in np.random.default_rng(1).normal(size=20) * 10.0**exponent:
        # A 13th digit that is exactly 5 may be rounded either way.
        assert float(published(value)) == pytest.approx(as_written(value), rel=1.01e-11, abs=0)
        assert published(published(value)) == published(value)


@pytest.mark.parametrize("exponent", [-14, -12, -6, 0, 4])
def test_numbers_of_twelve_digits_are_subtracted_exactly(exponent):
    for digits in np.random.default_rng(2).integers(1 - 10**12, 10**12, (20, 2)).tolist():
        a, b = (Decimal(one).scaleb(exponent) for one in digits)
        found = float(published_difference(float(a), float(b)))
        last_digit = Decimal(1).scaleb(max(max(abs(a), abs(b)).adjusted() - 11, -22))
        assert abs(Decimal(repr(found)) - (a - b)) <= last_digit / 2
        assert published_difference(float(b), float(a)) == -found


def test_superiority_by_hand_and_a_single_team():
    # a ahead of b in two resamples, tied in one, behind in one: (2 + ½) / 4.
    found = superiority([[1, 2], [1, 2], [1, 1], [2, 1]])
    assert found.tolist() == [[0.5, 0.625], [0.375, 0.5]]
    assert rank_confidence_sets([0.5], np.full((10, 1), 0.5), "higher").tolist() == [[1, 1]]


def bootstrap(values, rng, resamples=200):
    cases = values.shape[1]
    weights = rng.multinomial(cases, np.full(cases, 1 / cases), resamples)
    return weights @ values.T / cases


def test_clear_equal_and_constant_differences():
    rng = np.random.default_rng(1)
    values = np.array([[3.0], [2.0], [1.0]]) + 0.1 * rng.normal(size=(3, 40))
    found = rank_confidence_sets(values.mean(axis=1), bootstrap(values, rng), "higher")
    assert found.tolist() == [[1, 1], [2, 2], [3, 3]]
    assert rank_confidence_sets(values.mean(axis=1), bootstrap(values, rng), "lower").tolist() == [
        [3, 3],
        [2, 2],
        [1, 1],
    ]
    # b is a plus 1 in every case: decided without variance. c equals a: never decided.
    rng = np.random.default_rng(2)
    a = rng.normal(size=30)
    values = np.stack([a, a + 1, a])
    found = rank_confidence_sets(values.mean(axis=1), bootstrap(values, rng), "higher")
    assert found.tolist() == [[2, 3], [1, 1], [2, 3]]


def test_intervals_that_reach_farther_than_the_spread_leave_teams_undecided():
    # A difference of 1 beside bounds that count a failure of up to 1.5, on the side that matters.
    rng = np.random.default_rng(2)
    values = np.array([[2.0], [1.0]]) + 0.1 * rng.normal(size=(2, 40))
    means, drawn = values.mean(axis=1), bootstrap(values, rng)
    for better, of_better, of_worse in (("higher", (1.5, 0), (0, 0.1)), ("lower", (0.1, 0), (0, 1.5))):
        reaches = (of_better, of_worse)
        long = [Interval(mean - low, mean + high) for mean, (low, high) in zip(means, reaches, strict=True)]
        other = [Interval(mean - high, mean + low) for mean, (low, high) in zip(means, reaches, strict=True)]
        assert rank_confidence_sets(means, drawn, better, long).tolist() == [[1, 2], [1, 2]]
        decided = rank_confidence_sets(means, drawn, better, other)
        assert decided.tolist() == rank_confidence_sets(means, drawn, better).tolist()
        assert decided.tolist() in ([[1, 1], [2, 2]], [[2, 2], [1, 1]])


TEAMS = ["a", "b", "c", "d"]


def test_teams_with_a_place_everywhere_enter():
    found = across_rankings(TEAMS, {"one": [1, 2, 3, 4], "two": [1, 3, 0, 2], "three": [1, 2, 3, 4]})
    assert [(team.team, team.place) for team in found.teams] == [("a", 1), ("b", 2), ("d", 3)]
    assert (found.method, found.disagreements, found.orders) == ("Kemeny", 1, 1)
    expected = kendalltau([1, 2, 4], [1, 3, 2]).statistic
    assert found.tau_b[0][1] == pytest.approx(expected)
    assert found.tau_b[0][2] == found.tau_b[1][1] == 1


def test_the_dendrogram_joins_what_agrees_first():
    found = across_rankings(TEAMS, {"one": [1, 2, 3, 4], "two": [4, 3, 2, 1], "three": [1, 2, 4, 3]})
    # τ of one and three is 4/6; of two with them −1 and −4/6, on average −5/6.
    assert found.dendrogram == (
        Merge(("one",), ("three",), pytest.approx(1 / 3)),
        Merge(("two",), ("one", "three"), pytest.approx(11 / 6)),
    )
    found = across_rankings(["a", "b"], {"one": [1, 1], "two": [1, 2]})
    assert found.tau_b == ((None, None), (None, 1.0))
    assert found.dendrogram[0].distance == 1


@pytest.mark.parametrize("rankings", [{"one": [1, 2]}, {"one": [1, 0], "two": [0, 1]}, {}])
def test_nothing_in_common(rankings):
    assert across_rankings(["a", "b"], rankings) is None


@pytest.mark.parametrize(("teams", "seed"), [(1, 0), (2, 1), (3, 2), (3, 3), (4, 4), (4, 5), (5, 6), (5, 7)])
def test_kemeny_is_the_best_of_all_orders(teams, seed):
    places = np.random.default_rng(seed).integers(1, 6, (seed % 4 + 1, teams)).tolist()

    def disagreements(order):
        return sum(
            ranking[later] < ranking[earlier]
            for ranking in places
            for earlier, later in combinations(order, 2)
        )

    costs = {order: disagreements(order) for order in permutations(range(teams))}
    best = [order for order, cost in costs.items() if cost == min(costs.values())]
    found = consensus(places)
    assert (found.method, found.disagreements, found.orders) == ("Kemeny", min(costs.values()), len(best))
    assert tuple(sorted(range(teams), key=lambda team: found.places[team])) in best
    assert found.best == tuple(min(order.index(team) for order in best) + 1 for team in range(teams))
    assert found.worst == tuple(max(order.index(team) for order in best) + 1 for team in range(teams))


def test_cycles_and_nothing_to_agree_on():
    # a before b before c, b before c before a, c before a before b: three orders are equally good.
    found = consensus([[1, 2, 3], [3, 1, 2], [2, 3, 1]])
    assert (found.places, found.best, found.worst, found.orders) == ((1, 2, 3), (1, 1, 1), (3, 3, 3), 3)
    with pytest.raises(ValueError, match=r"^places:"):
        consensus(np.empty((0, 3)))


def test_borda_beyond_the_exact_limit():
    # Mean places 1.5 and 1.5 for the first two, then 3, 4, …: they share the first place.
    teams = MAX_EXACT + 1
    upward = np.arange(1, teams + 1)
    swapped = upward.copy()
    swapped[:2] = [2, 1]
    found = consensus([upward, swapped])
    assert found.method == "Borda"
    assert found.places == (1, 1, *range(3, teams + 1)) == found.best
    assert found.disagreements == 0
    # The last team is first in a third ranking: its places sum to 27, the others' to 4, 7, …, 25, 28, ….
    # So it comes after eight teams, against one ranking each, and before four, against two rankings each.
    moved = np.concatenate([upward[:-1] + 1, [1]])
    found = consensus([upward, upward, moved])
    assert (found.places[-1], found.disagreements) == (9, 8 * 1 + 4 * 2)


@pytest.mark.parametrize("units", [1, 2, 5])
def test_all_exchanges_are_made_once_up_to_the_mirror_image(units):
    chosen = exchanges(np.arange(units), seed=1)
    rows = np.concatenate(list(chosen.blocks()))
    assert chosen.complete
    assert rows.shape == (2 ** (units - 1), units)
    assert not rows[0].any()
    both = {tuple(row) for row in np.concatenate([rows, ~rows]).tolist()}
    assert len(both) == 2**units


@pytest.mark.parametrize(
    ("permutations", "complete", "rows"), [(15, True, 16), (14, False, 14), (9_999, True, 16)]
)
def test_random_exchanges_only_where_all_would_be_more(permutations, complete, rows):
    chosen = exchanges(np.arange(5), 1, permutations)
    assert (chosen.complete, chosen.rows) == (complete, rows)


def test_p_values_and_missing_classes():
    assert exchanges(np.arange(5), 1).p_value(3) == 3 / 16
    assert exchanges(np.arange(50), 1, 99).p_value(3) == 4 / 100
    with pytest.raises(ValueError, match="expected positives and negatives"):
        ExchangedSensitivities([[0.0, 1.0]], [True, True], Fraction(1, 2))


def test_random_exchanges_depend_on_the_seed_and_not_on_the_blocks():
    units = np.arange(40) // 2

    def rows(seed: int) -> np.ndarray:
        blocks = list(exchanges(units, seed, 10_000).blocks())
        assert len(blocks) > 1
        return np.concatenate(blocks)

    expected = rows(3)
    assert expected.shape == (10_000, 20)
    assert expected.mean() == pytest.approx(0.5, abs=0.03)
    assert not np.array_equal(rows(4), expected)
    np.testing.assert_array_equal(rows(3), expected)
    np.testing.assert_array_equal(np.concatenate(list(exchanges(units, 3, 10_000).blocks(7))), expected)


def mean_difference(first: np.ndarray, second: np.ndarray):
    def difference(exchanged: np.ndarray) -> np.ndarray:
        return ((1 - 2 * exchanged) * (first - second)).mean(axis=1).round(12)

    return difference


def exact_p(differences: np.ndarray, clusters: np.ndarray) -> float:
    """Change the signs of the clusters in every way, one by one."""
    observed = abs(differences.mean())
    reached = [
        abs((np.array(signs)[clusters] * differences).mean()) >= observed - 1e-12
        for signs in itertools.product([1, -1], repeat=clusters.max() + 1)
    ]
    return float(np.mean(reached))


@pytest.mark.parametrize("clusters", [np.arange(8), np.array([0, 0, 1, 1, 2, 2, 3, 3])])
def test_against_all_exchanges(clusters):
    rng = np.random.default_rng(3)
    first, second = rng.normal(0.5, size=8), rng.normal(size=8)
    difference = mean_difference(first, second)
    (found,) = randomisation_tests([difference], clusters, seed=1)
    assert found.p_value == exact_p(first - second, clusters)
    (found,) = randomisation_tests([difference], clusters, seed=1, permutations=2)
    assert found.p_value in (1 / 3, 2 / 3, 1.0)


def test_the_smallest_p_and_none():
    first, second = np.full(40, 1.0), np.zeros(40)
    (found,) = randomisation_tests([mean_difference(first, second)], np.arange(40), seed=0, permutations=99)
    assert found.p_value == 1 / 100
    (found,) = randomisation_tests([lambda moved: np.full(len(moved), np.nan)], np.arange(4), seed=0)
    assert found.p_value is None


@pytest.mark.parametrize("target", [0, Fraction(1, 2), Fraction(17, 20), Fraction(19, 20), 1])
@pytest.mark.parametrize("cases", [2, 5, 12, 40])
def test_after_exchanges(cases, target):
    rng = np.random.default_rng(cases)
    label = rng.permutation(np.arange(cases) % 2 == 0)
    # A missing result is as bad as can be for its class.
    missing = np.where(label, -np.inf, np.inf)
    first, second = np.where(rng.random((2, cases)) < 0.2, missing, rng.integers(0, 4, (2, cases)))
    exchanged = rng.random((4, cases)) < 0.5
    found = ExchangedSensitivities([first, second], label, Fraction(target)).between(0, 1)(exchanged)
    for of_team, kept, taken in zip(found, (first, second), (second, first), strict=True):
        for value, moved in zip(of_team, exchanged, strict=True):
            table = roc_table(np.where(moved, taken, kept), label)
            expected = weighted_sensitivity_at_specificity(table, np.ones((1, cases)), Fraction(target))
            assert value == expected[0]


@pytest.mark.parametrize("units", [np.arange(8), np.array([0, 0, 1, 2, 2, 2, 3, 4])])
@pytest.mark.parametrize("seed", range(6))
def test_few_units_against_all_exchanges(seed, units):
    values = np.random.default_rng(seed).integers(0, 100, size=(3, 8)) / 100
    pairs = [(0, 1), (2, 0), (1, 2)]
    for (first, second), found in zip(pairs, mean_tests(values, pairs, units), strict=True):
        differences = values[first] - values[second]
        assert found.p_value == exact_p(differences.round(2), units)
        assert found.direction == np.sign(np.rint(100 * differences).sum())


def test_many_cases_against_scipy():
    rng = np.random.default_rng(4)
    first, second = rng.normal(0.25, 1, 60), rng.normal(size=60)
    expected = permutation_test(
        (first, second),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(1),
    )
    (found,) = mean_tests([first, second], [(0, 1)], seed=3)
    assert found.p_value == pytest.approx(expected.pvalue, abs=0.015)
    error = (first - second).std(ddof=1) / math.sqrt(60)
    assert found.standard_error == pytest.approx(error)


def test_which_cases_enter_and_tie():
    # 0.3 − 0.1 and 0.4 − 0.2 with opposite signs: the sum of both is zero, and every exchange reaches zero.
    (found,) = mean_tests([[0.3, 0.2], [0.1, 0.4]], [(0, 1)])
    assert (found.p_value, found.direction) == (1.0, 0)
    # Whole tenths: four exchanges of 0.2, −0.2, 0.2 up to the mirror image, all reach 0.2.
    (found,) = mean_tests([[0.3, 0.2, 0.9], [0.1, 0.4, 0.7]], [(0, 1)])
    assert found.p_value == 1.0
    values = [[1, 2, 3, 4, 5, nan, 9], [0, 0, 0, 0, 0, 7, nan], [1, 1, 1, 1, 1, 1, 1]]
    first, second, third = mean_tests(values, [(0, 1), (0, 2), (1, 1)])
    # Five differences of one sign: the largest sum of all, 2 of 2⁵ signs.
    assert first.p_value == 1 / 16
    assert first.standard_error == pytest.approx(math.sqrt(0.5))
    assert second.direction == 1
    assert third.p_value == 1.0
    (found,) = mean_tests([[1, nan], [nan, 2]], [(0, 1)])
    assert (found.p_value, found.note) == (None, "fewer than two cases enter both means")


def test_a_p_below_that_of_the_permutations_is_bounded():
    # 60 differences of 1: the exact p is 2 · 2⁻⁶⁰, Hoeffding's bound 2·exp(−30).
    (found,) = mean_tests([np.ones(60), np.zeros(60)], [(0, 1)], permutations=99)
    assert found.p_value == pytest.approx(2 * math.exp(-30))
    (found,) = mean_tests([np.full(60, 0.5), np.zeros(60)], [(0, 1)], permutations=99, span=1.0)
    # The mean of exp(−½ · a sum of 60 exponential weights) is (1 + ½)⁻⁶⁰.
    assert found.p_is_bound
    assert found.p_value == pytest.approx(2 * 1.5**-60)


# --- Whether means are equal, with a case that the sample may lack ---


@pytest.mark.parametrize(("differing", "others", "times"), [(4, 0, 1), (7, 5, 1), (5, 3, 2)])
def test_as_many_differences_of_the_whole_range_as_a_sign_test(differing, others, times):
    # A sum of k exponential weights is below the unseen one with probability 2⁻ᵏ; zeros change nothing.
    differences = np.repeat([1.0] * differing + [0.0] * others, times)
    units = np.arange(differences.size) // times
    values = [differences, np.zeros(differences.size)]
    (found,) = mean_tests(values, [(0, 1)], units, permutations=50_000, span=1.0)
    assert found.p_value == pytest.approx(2 * 0.5**differing, rel=0.1)
    assert found.direction == 1
    (mirrored,) = mean_tests(values[::-1], [(0, 1)], units, permutations=50_000, span=1.0)
    assert (mirrored.p_value, mirrored.direction) == (found.p_value, -1)


def test_the_range_of_the_values_stands_in_for_an_unknown_span():
    values = [[1.0, 2.0, 5.0, 4.0, 3.0], [0.0, 1.0, 2.0, 4.0, 1.0]]
    (found,), (known,) = (mean_tests(values, [(0, 1)], span=span) for span in (math.inf, 5.0))
    assert found == known


def test_a_difference_of_that_size_is_found_with_80_percent_power():
    standard_error = 0.02
    shift = PairTest("z", 0.5, standard_error).detectable_difference() / standard_error
    critical = norm.ppf(0.975)
    assert norm.sf(critical - shift) == pytest.approx(0.80, abs=1e-9)
    assert shift == pytest.approx(2.8016, abs=1e-4)


def test_a_difference_is_found_with_that_power_beside_an_unseen_case():
    rng, shown, cases = np.random.default_rng(100), 0, 100
    spread, span = 0.05, 1.0
    planned = PairTest("", 0.5, spread / math.sqrt(cases), unseen=span / cases, units=cases)
    detectable = planned.detectable_difference(span)
    for _ in range(200):
        values = np.stack([rng.normal(detectable, spread, cases), np.zeros(cases)])
        (test,) = mean_tests(values, [(0, 1)], permutations=499, span=span)
        shown += test.p_value < 0.05
    assert 0.65 < shown / 200 < 0.93


@pytest.mark.parametrize(
    "test",
    [
        PairTest("no difference was seen", 1.0, 0.0),
        PairTest("three cases", 0.25, 0.1, least_p=0.25),
        PairTest("beyond the range", 0.5, 0.86),
    ],
)
def test_a_difference_that_cannot_be_found(test):
    assert test.detectable_difference(span=1.0) is None


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        # By hand: 0.01·3, max(0.03, 0.02·2), max(0.04, 0.03·1).
        ([0.01, 0.02, 0.03], [0.03, 0.04, 0.04]),
        ([0.03, 0.01, 0.02], [0.04, 0.03, 0.04]),
        ([0.6, 0.5], [1.0, 1.0]),
        ([0.01, None, 0.02], [0.03, None, 0.04]),
        ([None], [None]),
        ([], []),
    ],
)
def test_holm(p_values, adjusted):
    assert holm(p_values) == [None if p is None else pytest.approx(p) for p in adjusted]


@pytest.mark.parametrize(
    ("teams", "different", "tiers"),
    [
        ([1, 2, 3], set(), [(1, 2, 3)]),
        ([1, 2, 3], {(1, 2), (1, 3), (2, 3)}, [(1,), (2,), (3,)]),
        # 3 is like 2, but it is the opener that counts.
        ([1, 2, 3], {(1, 3)}, [(1, 2), (3,)]),
        # 3 comes after the first that differs and cannot join again.
        ([1, 2, 3], {(1, 2)}, [(1,), (2, 3)]),
        ([], set(), []),
    ],
)
def test_tiers(teams, different, tiers):
    assert significance_tiers(teams, lambda a, b: (a, b) in different) == tuple(tiers)


@dataclass(frozen=True)
class Record:
    family: str
    p_value: float | None
    p_holm: float | None = None


def test_holm_within_families_and_pairs_that_could_not_be_tested():
    # Of two: 0.01 twice, then 0.04. Of three, one not computed: 0.02 three times, then 0.03 twice, but 0.06.
    values = [("a", 0.04), ("b", 0.02), ("b", None), ("a", 0.01), ("b", 0.03)]
    tests = [Record(family, p_value) for family, p_value in values]
    found = [test.p_holm for test in corrected(tests, lambda test: test.family)]
    assert found == [pytest.approx(0.04), pytest.approx(0.06), None, pytest.approx(0.02), pytest.approx(0.06)]
    assert corrected([], lambda test: test) == ()
    assert significance_tiers([1, 2], lambda a, b: None) is None
    # 2 opens a tier of its own, so that 1 and 3 need no test.
    answers = {(1, 2): True, (1, 3): None, (2, 3): False}
    assert significance_tiers([1, 2, 3], lambda a, b: answers[a, b]) == ((1,), (2, 3))


LABELS = np.array([1, 1, 1, 0, 0, 0], dtype=bool)


def delong(score, positive, first=0, second=1):
    """Return the areas of the teams and the test of two of them."""
    parts = components(score, positive)
    return parts.area, area_test(parts.of(first), parts.of(second), clustered=False)


def test_areas_without_variance():
    assert delong([[4, 3, 1, 2, 0, 0], [40, 30, 10, 20, 0, 0]], LABELS)[1].p_value == 1
    # All right and all wrong: every placement differs by one.
    found = delong([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], LABELS)[1]
    assert found.p_value is None
    assert found.note == "the areas differ and their difference has no variance"


@pytest.mark.parametrize(("cases", "positives"), [(9, 2), (9, 6), (14, 2), (14, 7), (40, 15)])
def test_against_the_definition_and_scikit_learn(cases, positives):
    score = np.random.default_rng(cases + positives).integers(0, 5, (3, cases)).astype(float)
    positive = np.arange(cases) < positives
    # DeLong 1988, Eq. 4 and 5, as written.
    won = np.sign(score[:, :positives, None] - score[:, None, positives:]) / 2 + 0.5
    covariance = np.cov(won.mean(axis=2)) / positives + np.cov(won.mean(axis=1)) / (cases - positives)
    for i, j in itertools.combinations(range(3), 2):
        areas, found = delong(score, positive, i, j)
        assert areas[i] == pytest.approx(roc_auc_score(positive, score[i]), abs=1e-12)
        expected = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        assert found.standard_error == pytest.approx(math.sqrt(max(0, expected)), abs=1e-7)
        p_value = 2 * norm.sf(abs(areas[i] - areas[j]) / math.sqrt(expected)) if expected > 1e-12 else 1
        assert found.p_value == pytest.approx(p_value)
