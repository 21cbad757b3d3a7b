"""A description as tables and as files."""

import csv
import json
import math
import re

import numpy as np
import pytest

from evaluation.organiser.describe import KRUSKAL_WALLIS, RANK_SUM, compare_groups, describe
from evaluation.organiser.output import p_text
from evaluation.organiser.report.data import latex_of, number_text, tables_of, write_description
from test.phases import loaded_phase, tiny_cases

AGES = [30, 41, 42, 43, 44, 45, 46, 47, 48, 49, 70, 81]


def rows_of(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def titles_of(table):
    return tuple(column.title for column in table.columns)


@pytest.fixture
def description(tmp_path):
    columns = {"age": AGES, "camera": ["A"] * 4 + ["B"] * 4 + ["C"] * 4, "site": ["one"] * 12}
    phase = loaded_phase(tmp_path / "phase", tiny_cases(12, positives=3), columns=columns)
    return describe([phase], by=["camera"])


def test_one_table_for_each_grouping(description):
    tables = {table.name: table for table in tables_of(description)}
    assert list(tables) == ["cases", "classes", "numbers", "by-glaucoma", "by-camera"]
    assert tables["cases"].rows[1:3] == (("glaucoma", "0", "9", "75.0 %"), ("glaucoma", "1", "3", "25.0 %"))
    assert ("camera", "A", "4 of 12", "33.3 %") in tables["classes"].rows
    # 586 / 12 = 48.83; the standard deviation 13.09 is tested with the numbers themselves
    assert ("age", "12 of 12", "", "48.8 ± 13.6", "45.5 (42.8 – 48.2)", "30 to 81") in tables["numbers"].rows


def test_a_grouping_shows_its_tests(description):
    tables = {table.name: table for table in tables_of(description)}
    two, three = tables["by-glaucoma"], tables["by-camera"]
    assert titles_of(two) == ("quantity", "0", "1", "p (rank-sum)")
    assert titles_of(three) == ("quantity", "A", "B", "C", "p (Kruskal–Wallis)", "pairs that differ")
    assert three.right == [False, True, True, True, True, False]
    lines = {row[0]: row[1:] for row in three.rows}
    # In ascending order the rank sums are 10, 26 and 42: H = 12 / 156 · 2540 / 4 − 39 = 9.846 and
    # p = exp(−H / 2) = 0.0073. Of each pair 2 of 70 orders: 0.029, which times 3 is not significant.
    assert lines["age"][3:] == ("0.0073", "")
    assert lines["glaucoma: 1"] == ("3 (75.0 %)", "0 (0.0 %)", "0 (0.0 %)", "", "")
    assert not any(name.startswith("site") for name in lines), "a column of one value tells nothing"


def test_numbers_and_p_values_are_short():
    numbers = {0.12345: "0.123", 12345.6: "12346", -1999.9: "-2000", 5.0: "5", 0: "0"}
    assert {value: number_text(value) for value in numbers} == numbers
    p_values = {0.049: "0.049", 1e-7: "< 0.0001", 1: "1", None: "–"}
    assert {value: p_text(value) for value in p_values} == p_values


def test_files_hold_every_row(description, tmp_path):
    paths = write_description(description, tmp_path / "out")
    assert {path.name for path in paths} == {path.name for path in (tmp_path / "out").iterdir()}
    content = json.loads((tmp_path / "out" / "description.json").read_text())
    assert (content["format"], content["phases"]) == ("description/1", ["refuge-tiny"])
    for name, rows in (("numbers", description.numbers), ("classes", description.classes)):
        table = rows_of(tmp_path / "out" / f"{name}.csv")
        assert len(table) == len(rows) == len(content[name])
    tests = rows_of(tmp_path / "out" / "tests.csv")
    assert [float(row["p_value"]) for row in tests if row["p_value"]] == pytest.approx(
        [row.test.p_value for row in description.tests if row.test.p_value is not None]
    )
    values = rows_of(tmp_path / "out" / "values.csv")
    ages = [(row["case"], row["camera"], float(row["value"])) for row in values if row["quantity"] == "age"]
    assert ages == [(f"V{i + 1:04d}", "ABC"[i // 4], age) for i, age in enumerate(AGES)]


def test_latex_has_every_table_with_as_many_cells_as_columns(description):
    text = latex_of(description)
    assert text.count(r"\begin{tabular}") == len(tables_of(description)) == text.count(r"\end{tabular}")
    for table in text.split(r"\begin{tabular}")[1:]:
        columns = len(re.match(r"\{([lr]+)\}", table).group(1))
        lines = [line for line in table.splitlines() if line.endswith(r"\\")]
        assert {line.count(" & ") + 1 for line in lines} == {columns}
    assert "%" not in re.sub(r"\\%|(?m:^% .*$)", "", text), "a bare % would comment out the rest of a line"


# --- Tests between groups, against arithmetic by hand ---


THREE = {"a": np.array([1.0, 2.0, 3.0]), "b": np.array([4.0, 5.0, 6.0]), "c": np.array([7.0, 8.0, 9.0])}


def test_three_groups_by_hand():
    """Rank sums 6, 15, 24: H = 12 / 90 · 279 − 30 = 7.2, p = exp(−7.2 / 2); pairs: 2 of 20 orders."""
    overall, *pairs = compare_groups(THREE)
    assert (overall.method, overall.first, overall.second) == (KRUSKAL_WALLIS, "", "")
    assert overall.statistic == pytest.approx(7.2)
    assert overall.p_value == overall.p_bonferroni == pytest.approx(math.exp(-3.6))
    assert overall.note.startswith("rough")
    assert [(pair.first, pair.second) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [pair.method for pair in pairs] == [RANK_SUM] * 3
    assert [pair.statistic for pair in pairs] == [0.0, 0.0, 0.0]
    assert [pair.p_value for pair in pairs] == pytest.approx([0.1] * 3)
    assert [pair.p_bonferroni for pair in pairs] == pytest.approx([0.3] * 3)


def test_against_one_group_there_are_fewer_tests_to_correct_for():
    _, *pairs = compare_groups(THREE, "b")
    assert [(pair.first, pair.second) for pair in pairs] == [("b", "a"), ("b", "c")]
    assert [pair.p_bonferroni for pair in pairs] == pytest.approx([0.2, 0.2])
    assert [pair.statistic for pair in pairs] == [9.0, 0.0]


def test_normal_approximation_with_ties_by_hand():
    """12 values of which 6 are tied in each group: U = 18 is its mean, so that p = 1 whatever its spread."""
    tied = np.repeat([1.0, 2.0], 6)
    (pair,) = compare_groups({"a": tied, "b": tied})
    assert (pair.statistic, pair.p_value) == (72.0, 1.0)
    shifted = compare_groups({"a": np.repeat(1.0, 10), "b": np.repeat(2.0, 10)})[0]
    # U = 0; Var = 10·10/12 · (21 − 2·(10³−10)/(20·19)) = 131.58; z = (50 − ½) / √131.58
    z = 49.5 / math.sqrt(100 / 12 * (21 - 2 * 990 / 380))
    assert shifted.p_value == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-9)


def test_equal_values_are_not_tested():
    found = compare_groups({name: np.ones(6) for name in "abc"})
    assert [test.p_value for test in found] == [None] * 4
    assert {test.note for test in found} == {"all values are equal"}


def test_less_than_two_groups_are_not_compared():
    assert compare_groups({"a": THREE["a"], "b": np.array([])}) == []
    assert [test.method for test in compare_groups({**THREE, "d": np.array([])}, "d")] == [KRUSKAL_WALLIS]
