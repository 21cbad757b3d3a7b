"""JustRAIGS: random pairs of graders by blocks, and new graders for the images of those who left."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.challenges.justraigs.kinds import GradedEye
from evaluation.core.fault import PhaseError
from evaluation.organiser.justraigs_graders.assignment import redistribute, write_pairs
from evaluation.organiser.justraigs_tables import Eye, assign_pairs
from test.faults import faulted

GRADERS = ("ann", "bo", "cy", "dan")


def images(count):
    return [f"E{number:05d}" for number in range(count)]


def eye(name, labels, graders):
    return Eye(2, name, "", "60", GradedEye(labels, ((None,) * 10,) * 3), graders)


@given(st.integers(1, 700), st.integers(1, 300), st.integers(0, 2**32))
def test_each_block_has_one_pair_of_two_people(count, block, seed):
    found = assign_pairs(images(count), GRADERS, seed, block)
    assert [one.image for one in found] == images(count)
    assert [one.block for one in found] == [1 + position // block for position in range(count)]
    assert len({(one.block, one.graders) for one in found}) == -(-count // block)
    assert all(len(set(one.graders) & set(GRADERS)) == 2 for one in found)


def test_every_ordered_pair_is_drawn():
    counts = Counter(one.graders for one in assign_pairs(images(600), GRADERS, seed=3, block=1))
    assert set(counts) == {pair for both in combinations(GRADERS, 2) for pair in (both, both[::-1])}
    assert all(25 < count < 75 for count in counts.values())


@pytest.mark.parametrize(
    ("names", "graders", "block", "message"),
    [
        (["a"], ["ann"], 200, "^graders:"),
        (["a"], ["ann", "ann"], 200, "^graders:"),
        (["a", "a"], GRADERS, 200, "images"),
        (["a"], GRADERS, 0, "block"),
    ],
)
def test_what_cannot_be_assigned(names, graders, block, message):
    with pytest.raises(ValueError, match=message):
        assign_pairs(names, graders, 0, block)


EYES = [
    *(eye(f"A{number}", ("NRG", "NRG", ""), ("ann", "bo", "")) for number in range(5)),
    *(eye(f"B{number}", ("RG", "NRG", "RG"), ("bo", "cy", "spec")) for number in range(3)),
    eye("C0", ("NRG", "NRG", ""), ("cy", "dan", "")),
]


def test_only_images_of_removed_graders_are_graded_again_by_those_who_have_not_seen_them():
    found = redistribute(EYES, {"bo"}, seed=5, block=2)
    assert [(one.eye, one.role, one.grader, one.label, one.final) for one in found] == [
        *((f"A{number}", 1, "bo", "NRG", "NRG") for number in range(5)),
        *((f"B{number}", 0, "bo", "RG", "RG") for number in range(3)),
    ]
    new = {one.eye: one.new_grader for one in found}
    assert {new[f"A{number}"] for number in range(5)} <= {"cy", "dan"}
    assert {new[f"B{number}"] for number in range(3)} <= {"ann", "dan"}
    # Blocks of two images have one new grader each.
    assert new["A0"] == new["A1"]
    assert new["A2"] == new["A3"]
    assert found == redistribute(EYES[::-1], {"bo"}, seed=5, block=2)


def test_those_who_left_are_followed_by_others_of_their_role():
    found = redistribute(EYES, {"ann", "bo"})
    assert sorted(one.new_grader for one in found if one.eye == "A0") == ["cy", "dan"]
    eyes = [*EYES, eye("D0", ("RG", "NRG", "NRG"), ("ann", "cy", "other"))]
    assert {(one.eye, one.role, one.new_grader) for one in redistribute(eyes, {"spec"})} == {
        (f"B{number}", 2, "other") for number in range(3)
    }
    assert {one.new_grader for one in redistribute(EYES, {"spec"})} == {""}  # nobody is left
    assert redistribute(EYES, set()) == []
    with pytest.raises(ValueError, match="block"):
        redistribute(EYES, {"bo"}, block=0)


def write(path, *lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def test_every_fault_of_both_tables_is_listed(tmp_path):
    images = write(tmp_path / "images.csv", "eye id,age", "E1,60", "E1,61", ",62")
    graders = write(tmp_path / "graders.csv", "grader,passed", "ann,perhaps", "bo,no")
    with pytest.raises(PhaseError) as caught:
        write_pairs(images, graders, tmp_path / "pairs.csv")
    text = "\n".join(caught.value.problems)
    for part in (
        "duplicate image 'E1' (2 rows)",
        "name of every image, found 1 empty",
        "graders.csv, line 2, passed: expected True or False, found 'perhaps'",
        "expected two graders or more, found 0",
    ):
        assert part in text
    assert not (tmp_path / "pairs.csv").exists()


def test_a_table_without_images(tmp_path):
    images = write(tmp_path / "images.csv", "image", "E1")
    graders = write(tmp_path / "graders.csv", "grader", "ann", "bo")
    with faulted(PhaseError, "images.csv", "none"):
        write_pairs(images, graders, tmp_path / "pairs.csv")
