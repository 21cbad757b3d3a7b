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


@pytest.mark.parametrize("organisers", [False, True])
def test_numbers_that_are_not_finite_are_refused(organisers):
    for value in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match=r"\.a\.b: .* is not finite"):
            render({"a": {"b": value}}, organisers)
        with pytest.raises(ValueError, match="is not finite"):
            render({"a": [[value]]}, organisers)


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "\x1b[2J"])
def test_texts_that_a_database_cannot_hold_are_refused(text):
    with pytest.raises(ValueError, match=r"\.a: .* holds characters that the platform cannot store"):
        render({"a": text})


def test_an_organisers_file_may_have_any_key_and_every_digit():
    content = {"age (years)": 0.1 + 0.2, "a.b": {"": "two\nlines"}}
    assert json.loads(render(content, organisers=True, rounded=False)) == content
    assert json.loads(render({"a": 0.1 + 0.2}, organisers=True)) == {"a": 0.3}


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


def test_an_older_file_is_replaced_and_stays_where_a_value_cannot_be_written(tmp_path):
    (tmp_path / "metrics.json").write_text("old")
    bad = dataclasses.replace(RESULT, aggregates={"t": {"m": Estimate(math.nan)}})
    with pytest.raises(ValueError, match="not finite"):
        write_metrics(bad, tmp_path)
    assert (tmp_path / "metrics.json").read_text() == "old"
    write_metrics(RESULT, tmp_path)
    assert (tmp_path / "metrics.json").read_bytes() == render(dataclasses.asdict(RESULT))
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.json"]
    assert plain_key("a.b$c") == "a_b_c"


@given(st.lists(st.floats() | st.floats(0, 1).map(lambda value: round(value, 12) + 5e-13), max_size=20))
def test_many_numbers_are_written_like_each(values):
    # The last is a tie in decimal that lies a little above it in binary.
    values = [*values, -0.0, 1.2345678901250001]
    found = as_written_values(values)
    expected = np.array([as_written(value) if math.isfinite(value) else value for value in values])
    np.testing.assert_array_equal(found, expected)
    assert not np.signbit(found[found == 0]).any()
