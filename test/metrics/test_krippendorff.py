import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.krippendorff import krippendorff_alpha

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
    with pytest.raises(ValueError, match="level: expected nominal, ordinal or interval, found 'ratio'"):
        krippendorff_alpha([[1, 2]], "ratio")
