"""Subgroups that give labels away are not published unless the phase names them."""

import math

import pytest

from evaluation.core.fault import PhaseError
from evaluation.evaluate import scores_of_nothing
from evaluation.organiser.audit import (
    bits_of_counts,
    determined_share,
    hidden_labels,
    label_columns,
    share_by_chance,
    telling_groups,
)
from evaluation.organiser.validate import validate_phase
from evaluation.phase.manifest import scan
from test.faults import faulted
from test.phases import loaded_phase, refuge_phase, tiny_cases

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


# --- The labels of a phase, counted by hand ---


@pytest.mark.parametrize(
    ("counts", "ways"),
    [((2, 2), 6), ((40, 360), math.comb(400, 40)), ((1, 1, 1), 6), ((3,), 1), ((6, 96, 498), None)],
)
def test_bits_are_the_logarithm_of_the_ways_to_deal_labels_out(counts, ways):
    ways = ways or math.comb(600, 6) * math.comb(594, 96)
    assert bits_of_counts(counts) == pytest.approx(math.log2(ways), abs=1e-9)


def test_labels_of_refuge(tmp_path):
    """Glaucoma stands in the case table and in the AUC's column: it is one label, of two names."""
    phase = loaded_phase(tmp_path / "phase", tiny_cases(12, positives=3))
    assert label_columns(phase) == ("glaucoma", "fovea_x", "fovea_y")
    labels = hidden_labels(phase, scores_of_nothing(phase, phase.tasks, 0).tables)
    # All foveas lie at y = 5.5, which is no secret; the x are 2 + number modulo 10.
    assert [label.names for label in labels] == [("classification.glaucoma", "glaucoma"), ("fovea_x",)]
    assert sorted(labels[0].counts.values()) == [3, 9]
    assert labels[0].members["1"] == {"V0001", "V0002", "V0003"}
    assert len(labels[1].counts) == 10


def test_many_numbers_are_cut_at_their_quartiles(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 16, columns={"fovea_x": [number / 2 for number in range(16)]})
    labels = hidden_labels(phase, scores_of_nothing(phase, phase.tasks, 0).tables)
    assert sorted(labels[-1].counts.values()) == [4, 4, 4, 4]
