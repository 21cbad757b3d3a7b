import pytest

from evaluation.core.form import CaseForm, CaseRow
from evaluation.phase.cases import Cases, group_labels, group_values, key_of, subgroup_faults, subgroup_masks
from evaluation.phase.config import Subgroup


def cases_with(*cells):
    names = [f"V{position}" for position in range(len(cells))]
    return Cases(
        tuple(CaseForm(name) for name in names),
        tuple(CaseRow(position + 2, {"age": cell}) for position, cell in enumerate(cells)),
        ("name", "age"),
    )


def members(subgroup, cells, names=None):
    cases = cases_with(*cells)
    names = names or [case.name for case in cases.forms]
    masks = subgroup_masks(subgroup, cases, names)
    return {key: "".join(str(int(member)) for member in mask) for key, mask in masks.items()}


AGE = Subgroup(column="age")


def test_values_of_a_column_of_the_named_cases_in_their_order():
    assert members(AGE, ["a", "b", "a"], ["V2", "V1"]) == {"a": "10", "b": "01"}
    assert members(AGE, ["left", "right", "", "Left eye", "left"]) == {
        "left": "10001",
        "left_eye": "00010",
        "right": "01000",
    }


@pytest.mark.parametrize(
    ("bins", "expected"),
    [
        ([40, 60], {"below_40": "110000", "40_to_60": "001100", "60_and_above": "000010"}),
        ([50.5], {"below_50_5": "111000", "50_5_and_above": "000110"}),
        ([1000], {"below_1000": "111110"}),
    ],
)
def test_a_bin_begins_with_its_lower_edge(bins, expected):
    cells = ["39", "39.999", "40", "59.5", "60", ""]
    negative = members(Subgroup(column="age", bins=[-1, 1]), ["-2", "-1", "0.5", "1"])
    assert negative == {"below_minus_1": "1000", "minus_1_to_1": "0110", "1_and_above": "0001"}
    assert members(Subgroup(column="age", bins=bins), cells) == expected


@pytest.mark.parametrize(
    ("subgroup", "cells", "faults"),
    [
        (AGE, ["left", "right", ""], []),
        (AGE, ["0", "1"], []),
        (AGE, ["A+", "A-", "b", "B"], [
            "cases.csv: age: 'A+', 'A-' have the same key 'a'",
            "cases.csv: age: 'B', 'b' have the same key 'b'",
        ]),
        (AGE, ["?", "??", "x"], ["cases.csv: age: no key can be made of '?', '??'"]),
        (AGE, [str(year) for year in range(40, 51)], ["cases.csv: age: 11 different numbers need bins"]),
        (AGE, [str(year) for year in range(40, 50)], []),
        (Subgroup(column="age", bins=[40]), ["39", "old", "nan", "inf", ""], [
            "cases.csv, line 3, age: expected a number for the bins, found 'old'",
            "cases.csv, line 4, age: expected a number for the bins, found 'nan'",
            "cases.csv, line 5, age: expected a number for the bins, found 'inf'",
        ]),
    ],
)  # fmt: skip
def test_faults_of_a_column(subgroup, cells, faults):
    assert subgroup_faults(subgroup, cases_with(*cells)) == faults


def test_labels_in_words_and_bins_in_their_order():
    assert [key_of(text) for text in ("Zeiss Visucam 500", "1.5", "$")] == ["zeiss_visucam_500", "1_5", ""]
    binned = Subgroup(column="age", bins=(-5, 40, 60))
    labels = group_labels(binned, ["60", "39.5", "", "-7", "-5"])
    assert labels == ("60 and above", "minus 5 to 40", "", "below minus 5", "minus 5 to 40")
    assert group_values(binned, labels) == ("below minus 5", "minus 5 to 40", "60 and above")
    assert group_values(binned, ("60 and above", "")) == ("60 and above",)
    assert group_labels(AGE, ["b", "", "a"]) == ("b", "", "a")
    # numbers ascend, words stand as in the case table
    assert group_values(AGE, ("severe", "", "mild", "severe")) == ("severe", "mild")
    assert group_values(AGE, ("10", "9", "")) == ("9", "10")
