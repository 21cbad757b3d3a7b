import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.cells import Cells, chosen_cells, packed_rows, positions_of, unpacked_rows

COLUMNS = positions_of(["name", "width", "label"])
ROWS = [Cells(COLUMNS, ("V1", "16", "1")), Cells(COLUMNS, ("V2", "12", "0"))]
MIXED = [ROWS[0], {"name": "V3"}, Cells(positions_of(["label", "name"]), ("1", "V4"))]


def test_a_row_is_a_mapping_of_its_cells():
    assert ROWS[0] == {"name": "V1", "width": "16", "label": "1"}
    assert dict(ROWS[1]) == {"name": "V2", "width": "12", "label": "0"}
    assert {**ROWS[0], "label": "2"} == {"name": "V1", "width": "16", "label": "2"}
    assert (len(ROWS[0]), "width" in ROWS[0], "V1" in ROWS[0]) == (3, True, False)
    assert repr(ROWS[0]) == "{'name': 'V1', 'width': '16', 'label': '1'}"


def test_a_column_that_is_not_there():
    assert (ROWS[0].get("age"), ROWS[0].get("age", ""), ROWS[0].get("label", "")) == (None, "", "1")
    with pytest.raises(KeyError, match="age"):
        ROWS[0]["age"]


def test_of_columns_with_equal_names_the_last_counts():
    assert Cells(positions_of(["name", "", ""]), ("V1", "a", "b")) == {"name": "V1", "": "b"}


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    [
        (ROWS, ("label", "name"), [("1", "V1"), ("0", "V2")]),
        (ROWS, ("label",), [("1",), ("0",)]),
        (ROWS, (), [(), ()]),
        (ROWS, ("age", "name"), [("", "V1"), ("", "V2")]),
        (MIXED, ("label", "name"), [("1", "V1"), ("", "V3"), ("1", "V4")]),
        ([], ("label", "name"), []),
    ],
)
def test_some_columns_of_every_row(rows, columns, expected):
    assert chosen_cells(rows, columns) == expected


@pytest.mark.parametrize("rows", [ROWS, MIXED, [], [{"name": "V1"}]])
def test_rows_come_out_of_a_pickle_as_they_went_in(rows):
    assert unpacked_rows(pickle.loads(pickle.dumps(packed_rows(rows)))) == rows


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1))
def test_rows_of_one_table_share_their_columns(texts):
    columns = positions_of(["a", "b"])
    rows = unpacked_rows(pickle.loads(pickle.dumps(packed_rows([Cells(columns, each) for each in texts]))))
    assert chosen_cells(rows, ("b", "a")) == [(b, a) for a, b in texts]
    assert len({id(row.columns) for row in rows}) == 1
