import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.aggregation import ConfidenceInterval, Estimate
from evaluation.platform.result_file import (
    CasesSection,
    MetricsFile,
    PhaseSection,
    RankingSection,
    as_written,
    as_written_values,
    plain_key,
    render,
    write_metrics,
)

RESULT = MetricsFile(
    phase=PhaseSection("refuge", "refuge-tiny", "1", "00", "image", "reject", {}),
    cases=CasesSection(4, 4, 0),
    aggregates={"classification": {"auc": Estimate(0.75, ConfidenceInterval(0.5, 1.0, 0.25, "percentile"))}},
    ranking=RankingSection({"classification": {"auc": 0.75}}),
)


def names_in(folder):
    return [path.name for path in folder.iterdir()]


def test_absent_values_are_left_out(tmp_path):
    content = json.loads(write_metrics(RESULT, tmp_path).read_text())
    assert content["aggregates"]["classification"]["auc"] == {
        "value": 0.75,
        "confidence_interval": {"lower": 0.5, "upper": 1.0, "half_width": 0.25, "method": "percentile"},
    }
    assert "case" not in content
    assert "null" not in write_metrics(RESULT, tmp_path).read_text()


@pytest.mark.parametrize("key", ["V0001.png", "", "a$b", "$", ".", "a\nb", "a\0", "\ud800", 1, None])
def test_keys_that_no_path_finds_are_refused(key):
    with pytest.raises(ValueError, match=r"case: .* cannot be a key of metrics\.json"):
        render({"case": {key: 1}})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("organisers", [False, True])
def test_numbers_that_are_not_finite_are_refused(value, organisers):
    with pytest.raises(ValueError, match=r"\.a\.b: .* is not finite"):
        render({"a": {"b": value}}, organisers)
    with pytest.raises(ValueError, match="is not finite"):
        render({"a": [[value]]}, organisers)


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "\x1b[2J"])
def test_texts_that_a_database_cannot_hold_are_refused(text):
    with pytest.raises(ValueError, match=r"\.a: .* holds characters that the platform cannot store"):
        render({"a": text})


def test_an_organisers_file_may_have_any_key():
    assert json.loads(
        render({"age (years)": 1, "a.b": {"": "two\nlines"}}, organisers=True, rounded=False)
    ) == {
        "age (years)": 1,
        "a.b": {"": "two\nlines"},
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.3"),
        (2 / 3 * 1e-9, "6.66666666667e-10"),
        (123456.7890123456, "123456.789012"),
        (-0.0, "0.0"),
        (1.0, "1.0"),
        (7, "7"),
        (True, "true"),
    ],
)
def test_floats_have_12_significant_digits(value, text):
    assert render({"a": value}) == f'{{\n "a": {text}\n}}\n'.encode()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_rounding_loses_no_more_than_it_says(value):
    try:
        written = json.loads(render({"a": value}))["a"]
    except ValueError:
        assert abs(value) > 1.797693134862e308  # the largest with 12 digits
        return
    assert math.isclose(written, value, rel_tol=5.1e-12, abs_tol=1e-322)
    assert math.copysign(1, written) == 1 or written < 0


@pytest.mark.parametrize(("text", "key"), [("V0001", "V0001"), ("a.b$c", "a_b_c"), ("x.nii.gz", "x_nii_gz")])
def test_plain_keys(text, key):
    assert plain_key(text) == key


def test_an_older_file_is_replaced(tmp_path):
    (tmp_path / "metrics.json").write_text("old")
    write_metrics(RESULT, tmp_path)
    assert (tmp_path / "metrics.json").read_bytes() == render(dataclasses.asdict(RESULT))
    assert names_in(tmp_path) == ["metrics.json"]


def test_a_value_that_cannot_be_written_leaves_what_was_there(tmp_path):
    (tmp_path / "metrics.json").write_text("old")
    bad = dataclasses.replace(RESULT, aggregates={"t": {"m": Estimate(math.nan)}})
    with pytest.raises(ValueError, match="not finite"):
        write_metrics(bad, tmp_path)
    assert (tmp_path / "metrics.json").read_text() == "old"
    assert names_in(tmp_path) == ["metrics.json"]


def test_an_organisers_file_holds_every_digit_where_it_is_not_rounded():
    assert json.loads(render({"a": 0.1 + 0.2}, organisers=True, rounded=False)) == {"a": 0.1 + 0.2}
    assert json.loads(render({"a": 0.1 + 0.2}, organisers=True)) == {"a": 0.3}


def test_arrays_are_rounded_as_single_numbers_are():
    # The third is a tie in decimal that lies a little above it in binary.
    values = [[0.1 + 0.2, -0.0], [1.2345678901250001, math.nan], [math.inf, 1e-320]]
    found = as_written_values(values).tolist()
    assert found[0] == [0.3, 0.0]
    assert math.copysign(1, found[0][1]) == 1
    assert found[1][0] == 1.23456789013
    assert math.isnan(found[1][1])
    assert found[2] == [math.inf, 1e-320]
    assert as_written_values([]).shape == (0,)


@given(st.lists(st.floats() | st.floats(0, 1).map(lambda value: round(value, 12) + 5e-13), max_size=20))
def test_many_numbers_are_written_like_each(values):
    found = as_written_values(values)
    expected = np.array([as_written(value) if math.isfinite(value) else value for value in values])
    np.testing.assert_array_equal(found, expected)
    assert not np.signbit(found[found == 0]).any()
