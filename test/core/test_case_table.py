import math
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.case_table import CaseTable, RowColumns, WeightedCases, packed_column, places_of
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


BOXES = [np.arange(6.0).reshape(1, 6), np.empty((0, 6))]
SHARED = RowColumns({"dice": packed_column([0.5, math.inf]), "boxes": packed_column(BOXES)}, 2).rows()
OTHERS = RowColumns({"boxes": packed_column([1, "x"]), "dice": packed_column([True, 2])}, 2).rows()


def test_a_row_is_a_mapping_of_its_cells():
    assert dict(SHARED[0], boxes=None) == {"dice": 0.5, "boxes": None}
    assert OTHERS[1] == {"boxes": "x", "dice": 2}
    assert {**OTHERS[0], "dice": 3} == {"boxes": 1, "dice": 3}
    assert (len(SHARED[0]), "dice" in SHARED[0], "cup" in SHARED[0], list(OTHERS[0])) == (
        2,
        True,
        False,
        ["boxes", "dice"],
    )
    assert repr(OTHERS[1]) == "{'boxes': 'x', 'dice': 2}"
    with pytest.raises(KeyError, match="cup"):
        SHARED[0]["cup"]


def test_cells_have_the_types_that_they_had():
    assert [type(row["dice"]) for row in (*SHARED, *OTHERS)] == [float, float, bool, int]
    assert SHARED[0]["boxes"].tolist() == [[0, 1, 2, 3, 4, 5]]
    assert SHARED[1]["boxes"].shape == (0, 6)


def test_a_column_of_rows_of_several_sources_in_any_order():
    rows = [OTHERS[1], SHARED[1], OTHERS[0], SHARED[0], SHARED[1]]
    places = places_of(rows)
    assert places is not None
    assert places.numbers("dice").tolist() == [2.0, math.inf, 1.0, 0.5, math.inf]
    assert [str(entry)[:3] for entry in places.entries("boxes")] == ["x", "[]", "1", "[[0", "[]"]
    with pytest.raises(KeyError, match="cup"):
        places.numbers("cup")


def test_rows_of_which_one_is_by_itself_are_no_columns():
    assert places_of([SHARED[0], {"dice": 0.5}]) is None


NUMBER = st.floats() | st.integers(-10, 10) | st.booleans()


@given(st.lists(st.lists(st.tuples(NUMBER, NUMBER), min_size=1, max_size=4), max_size=4), st.randoms())
def test_a_table_of_shared_rows_is_that_of_plain_ones(batches, random):
    shared, plain = [], []
    for batch in batches:
        columns = {name: [row[place] for row in batch] for place, name in enumerate("ab")}
        shared += RowColumns(
            {name: packed_column(column) for name, column in columns.items()}, len(batch)
        ).rows()
        plain += [dict(zip("ab", row, strict=True)) for row in batch]
    order = list(range(len(plain)))
    random.shuffle(order)
    names = [str(i) for i in order]
    table = CaseTable(names, [shared[i] for i in order])
    expected = CaseTable(names, [plain[i] for i in order])
    for name in "ab":
        assert table[name].tobytes() == expected[name].tobytes()
        assert list(map(repr, table.objects(name))) == list(map(repr, expected.objects(name)))


@pytest.mark.parametrize(("best", "worst", "better"), [(1, 0, "higher"), (0, 1, "lower"), (0, inf, "lower")])
def test_direction_follows_from_best_and_worst(best, worst, better):
    assert Metric("m", "M", Mean("x"), best=best, worst=worst).better == better
