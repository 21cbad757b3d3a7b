"""Subgroups that give labels away are not published unless the phase names them."""

import math

import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.audit import determined_share, share_by_chance, telling_groups
from evaluation.organiser.validate import validate_phase
from evaluation.phase.manifest import scan
from test.faults import faulted
from test.phases import refuge_phase, tiny_cases

FORTY = tiny_cases(40, positives=12)
SEVERITY = ["early", "late"] * 6 + [""] * 28


def by_position(cells):
    return {f"V{number:04d}": cell for number, cell in enumerate(cells, start=1)}


@pytest.mark.parametrize(
    ("groups", "labels", "share"),
    [
        ("aabb", "1100", 1.0),
        ("abcd", "1100", 1.0),
        ("abab", "1100", 0.0),
        ("aaaa", "1100", 0.0),
        ("aabb", "1111", 0.0),
        # Of a, all are 1; of b, one in three is: 1 − (3/4) H(1/3) of H(1/2) = 1.
        ("abbb", "1100", 1 - 0.75 * (math.log2(3) - 2 / 3)),
    ],
)
def test_share_of_the_label_by_hand(groups, labels, share):
    assert determined_share(by_position(groups), by_position(labels)) == pytest.approx(share)


def test_what_chance_tells():
    """Two groups and two labels of 40 cases have one degree of freedom: 1 / (2 · 40 · ln 2) bits of one."""
    groups, labels = by_position("ab" * 20), by_position("1" * 20 + "0" * 20)
    assert share_by_chance(groups, labels) == pytest.approx(1 / (80 * math.log(2)))
    assert share_by_chance(groups, by_position("1" * 40)) == 0


def test_a_group_of_nearly_one_rare_class_tells():
    groups = by_position("a" * 10 + "b" * 90)
    assert list(telling_groups(groups, by_position("1" * 9 + "0" * 91), smallest=10)) == ["a"]
    assert list(telling_groups(groups, by_position("1" * 8 + "0" * 92), smallest=10)) == []
    assert list(telling_groups(groups, by_position("1" * 9 + "0" * 91), smallest=11)) == []


def sealed(folder, columns, tables, **keys):
    phase = refuge_phase(folder, FORTY, columns=columns, keys=keys, tables=tables, sealed=False)
    return validate_phase(phase, scan(phase), 0)


SPLITS = {
    "the label": ({}, "[[subgroups]]\ncolumn = 'glaucoma'", "glaucoma would give labels away: it is a label"),
    "the label in bins": (
        {},
        "[[subgroups]]\ncolumn = 'fovea_x'\nbins = [6]",
        "fovea_x would give labels away: it is a label",
    ),
    "a copy": (
        {"group": [int(case.glaucoma) for case in FORTY]},
        "[[subgroups]]\ncolumn = 'group'",
        "group would give labels away: it tells 100 % of classification.glaucoma",
    ),
    "what only positives have": (
        {"severity": SEVERITY},
        "[[subgroups]]\ncolumn = 'severity'\ncompare = 'positives'",
        "severity would give labels away: it tells 100 % of classification.glaucoma",
    ),
    "all but two cases": (
        {"group": ["b", *"a" * 11, *"b" * 27, "a"]},
        "[[subgroups]]\ncolumn = 'group'",
        # H(0.3) = 0.881; of 12 one is wrong, of 28 one: 0.3 H(1/12) + 0.7 H(1/28) = 0.279.
        "group would give labels away: it tells 68 % of classification.glaucoma",
    ),
    "one pure group": (
        {"group": [*"c" * 10, *"ab" * 15]},
        "[[subgroups]]\ncolumn = 'group'",
        "group would give labels away: it tells",
    ),
    "unrelated": ({"group": ["a", "b"] * 20}, "[[subgroups]]\ncolumn = 'group'", ""),
    "each case of its own": ({"group": [f"g{number}" for number in range(40)]}, "", ""),
}


@pytest.mark.parametrize(("columns", "tables", "fault"), SPLITS.values(), ids=SPLITS)
def test_a_split_that_tells_is_refused_at_the_seal(tmp_path, columns, tables, fault):
    if not fault:
        sealed(tmp_path / "phase", columns, tables)
        return
    with pytest.raises(PhaseError) as raised:
        sealed(tmp_path / "phase", columns, tables)
    (problem,) = raised.value.problems
    assert problem.startswith(f"phase.toml: subgroups: results by {fault}")
    sealed(tmp_path / "organiser", columns, f"{tables}\naudience = 'organiser'")
    column = problem.split()[4]
    sealed(tmp_path / "named", columns, tables, publish_label_subgroups=[column])


def test_a_name_that_is_no_public_subgroup_is_refused(tmp_path):
    with faulted(PhaseError, "publish_label_subgroups", "glaucoma"):
        sealed(tmp_path / "phase", {}, "", publish_label_subgroups=["glaucoma"])
