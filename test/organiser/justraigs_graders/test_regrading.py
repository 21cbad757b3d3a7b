"""JustRAIGS: new graders for the images of those who left."""

import pytest

from evaluation.challenges.justraigs.kinds import GradedEye
from evaluation.organiser.justraigs_graders.grading import redistribute
from evaluation.organiser.justraigs_graders.tables import Eye


def eye(name, labels, graders):
    return Eye(2, name, "", "60", GradedEye(labels, ((None,) * 10,) * 3), graders)


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
