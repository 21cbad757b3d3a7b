import pytest
from scipy.stats import norm

from evaluation.ranking.statistics.pairwise import detectable_difference


def test_a_difference_of_that_size_is_found_with_80_percent_power():
    standard_error = 0.02
    shift = detectable_difference(standard_error) / standard_error
    critical = norm.ppf(0.975)
    assert norm.sf(critical - shift) == pytest.approx(0.80, abs=1e-9)
    assert shift == pytest.approx(2.8016, abs=1e-4)
