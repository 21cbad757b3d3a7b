import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.case_table import CaseTable, RowColumns, packed_column, places_of

BOXES = [np.arange(6.0).reshape(1, 6), np.empty((0, 6))]
ROWS = RowColumns({"dice": packed_column([0.5, math.inf]), "boxes": packed_column(BOXES)}, 2).rows()
OTHERS = RowColumns({"boxes": packed_column([1, "x"]), "dice": packed_column([True, 2])}, 2).rows()


def test_a_row_is_a_mapping_of_its_cells():
    assert dict(ROWS[0], boxes=None) == {"dice": 0.5, "boxes": None}
    assert OTHERS[1] == {"boxes": "x", "dice": 2}
    assert {**OTHERS[0], "dice": 3} == {"boxes": 1, "dice": 3}
    assert (len(ROWS[0]), "dice" in ROWS[0], "cup" in ROWS[0], list(OTHERS[0])) == (
        2,
        True,
        False,
        ["boxes", "dice"],
    )
    assert repr(OTHERS[1]) == "{'boxes': 'x', 'dice': 2}"
    with pytest.raises(KeyError, match="cup"):
        ROWS[0]["cup"]


def test_cells_have_the_types_that_they_had():
    assert [type(row["dice"]) for row in (*ROWS, *OTHERS)] == [float, float, bool, int]
    assert ROWS[0]["boxes"].tolist() == [[0, 1, 2, 3, 4, 5]]
    assert ROWS[1]["boxes"].shape == (0, 6)


def test_a_column_of_rows_of_several_sources_in_any_order():
    rows = [OTHERS[1], ROWS[1], OTHERS[0], ROWS[0], ROWS[1]]
    places = places_of(rows)
    assert places is not None
    assert places.numbers("dice").tolist() == [2.0, math.inf, 1.0, 0.5, math.inf]
    assert [str(entry)[:3] for entry in places.entries("boxes")] == ["x", "[]", "1", "[[0", "[]"]
    with pytest.raises(KeyError, match="cup"):
        places.numbers("cup")


def test_rows_of_which_one_is_by_itself_are_no_columns():
    assert places_of([ROWS[0], {"dice": 0.5}]) is None


def test_no_rows():
    places = places_of([])
    assert places is not None
    assert (places.numbers("dice").tolist(), places.entries("dice")) == ([], [])


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
