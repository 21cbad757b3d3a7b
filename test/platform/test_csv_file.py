"""Tables of results as csv."""

from evaluation.organiser.output import csv_bytes


def test_columns_of_all_rows_in_their_order():
    rows = [{"team": "a", "place": 1}, {"team": "b, c", "note": "late", "place": None}]
    assert csv_bytes(rows) == b'team,place,note\na,1,\n"b, c",,late\n'


def test_floats_have_twelve_digits():
    assert csv_bytes([{"value": 0.1 + 0.2}, {"value": -0.0}]) == b"value\n0.3\n0.0\n"
