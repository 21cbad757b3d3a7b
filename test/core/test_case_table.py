import math
from math import inf

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.estimator import Mean
from evaluation.core.metric import Metric
from evaluation.stats.bootstrap import UnitWeights

ROWS = [{"dice": 0.5, "seen": True}, {"dice": math.nan, "seen": False}, {"dice": 1, "seen": True}]


@pytest.fixture
def table() -> CaseTable:
    return CaseTable(["a", "b", "c"], ROWS)


def test_a_column_is_an_array_in_the_order_of_the_cases(table):
    np.testing.assert_array_equal(table["dice"], [0.5, math.nan, 1.0])
    assert table["seen"].dtype == np.float64
    assert (len(table), table.column_names) == (3, ("dice", "seen"))


def test_what_is_no_number_stays_as_it_is():
    matches = [[(1, 2)], []]
    table = CaseTable(["a", "b"], [{"matches": of_case} for of_case in matches])
    assert table.objects("matches") == matches


def test_some_of_the_cases_in_another_order(table):
    taken = table.take(np.array([2, 0]))
    assert (len(taken), taken.names, taken.rows) == (2, ("c", "a"), (ROWS[2], ROWS[0]))
    assert taken.objects("seen") == [True, True]
    assert taken.take(np.array([1])).names == ("a",)
    np.testing.assert_array_equal(taken["dice"], [1.0, 0.5])


@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_derived_is_derived_once_for_each_key(table, weighted):
    calls = []
    source = WeightedCases(table, np.ones((1, 3))) if weighted else table

    def derive(of: object) -> int:
        calls.append(of)
        return len(calls)

    assert [source.derive("first", derive), source.derive("second", derive)] == [1, 2]
    assert [source.derive("first", derive), source.derive("second", derive)] == [1, 2]
    assert calls == [source, source]


def test_weights_of_units_are_those_of_their_cases(table):
    cases = WeightedCases(table, UnitWeights(np.array([[2, 0], [1, 1]]), np.array([0, 1, 0])))
    assert cases.weights.tolist() == [[2, 0, 2], [1, 1, 1]]
    assert cases.weights.dtype == np.float64
    with pytest.raises(ValueError, match=r"weights must have shape \(resamples, 3\) \(got \(1, 2\)\)"):
        WeightedCases(table, UnitWeights(np.array([[2, 0, 1]]), np.array([0, 1])))


@pytest.mark.parametrize("shape", [(3,), (2, 2), (3, 1), (1, 3, 1)])
def test_weights_are_a_row_for_each_resample(table, shape):
    with pytest.raises(ValueError, match="weights must have shape"):
        WeightedCases(table, np.ones(shape))


@pytest.mark.parametrize(("best", "worst", "better"), [(1, 0, "higher"), (0, 1, "lower"), (0, inf, "lower")])
def test_direction_follows_from_best_and_worst(best, worst, better):
    assert Metric("m", "M", Mean("x"), best=best, worst=worst).better == better
