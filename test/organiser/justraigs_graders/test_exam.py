"""JustRAIGS: the entry exam of graders."""

import csv

import pytest

from evaluation.core.fault import PhaseError
from evaluation.metrics.intervals import wilson_interval
from evaluation.organiser.justraigs_graders.assignment import hold_exam, write_results
from evaluation.organiser.justraigs_graders.grading import ENTRY_EXAM
from test.faults import faulted


def table(folder, rows, header=("name", "final_label", "ann", "bo")):
    path = folder / "answers.csv"
    path.write_text("\n".join(",".join(row) for row in [header, *rows]) + "\n")
    return path


def answers(right, wrong, count, label, other):
    """Return rows of a class with ``count`` images: ann has ``right``, bo all but ``wrong`` right answers."""
    return [
        (
            f"{label}{number}",
            label,
            label if number < right else other,
            label if number >= wrong else other,
        )
        for number in range(count)
    ]


def test_the_lowest_who_passed_the_challenge_pass_and_one_image_less_fails(tmp_path):
    # 85 % of 20 are 17, 92 % of 25 are 23.
    rows = answers(17, 3, 20, "RG", "NRG") + answers(23, 3, 25, "NRG", "RG")
    found = {one.grader: one for one in hold_exam(table(tmp_path, rows))}
    assert (found["ann"].found, found["ann"].cleared) == (17, 23)
    assert not found["ann"].is_below(ENTRY_EXAM)
    assert (found["bo"].found, found["bo"].cleared) == (17, 22)
    assert found["bo"].is_below(ENTRY_EXAM)
    write_results(tmp_path / "exam.csv", found.values())
    with (tmp_path / "exam.csv").open(newline="") as file:
        ann, bo = csv.DictReader(file)
    assert (ann["grader"], ann["eyes"], ann["passed"], bo["passed"]) == ("ann", "45", "True", "False")
    assert float(ann["sensitivity"]) == 0.85
    assert float(ann["specificity_lower"]) == wilson_interval(23, 25).lower


def test_no_answer_and_ungradable_are_wrong_and_ungradable_images_do_not_count(tmp_path):
    rows = [("a", "RG", "rg", ""), ("b", "NRG", "NRG", "U"), ("c", "U", "RG", "U")]
    ann, bo = hold_exam(table(tmp_path, rows))
    assert (ann.found, ann.referable) == (1, 1)
    assert (bo.found, bo.cleared, bo.not_referable) == (0, 0, 1)
    assert not ann.is_below(ENTRY_EXAM)
    assert bo.is_below(ENTRY_EXAM)


def test_every_fault_of_a_table_is_listed(tmp_path):
    rows = [("a", "RG", "maybe", "RG"), ("a", "glaucoma", "RG", "RG")]
    with pytest.raises(PhaseError) as caught:
        hold_exam(table(tmp_path, rows))
    problems = caught.value.problems
    assert any(
        problem.startswith("answers.csv, line 2, ann: ") and "'maybe'" in problem for problem in problems
    )
    assert any(problem.startswith("answers.csv, line 3, final_label: ") for problem in problems)
    assert any("found 2 of 'a'" in problem for problem in problems)
    assert any("at least one NRG" in problem for problem in problems)
    assert len(problems) == 4


def test_a_table_without_candidates(tmp_path):
    path = table(tmp_path, [("a", "RG"), ("b", "NRG")], ("name", "final_label"))
    with faulted(PhaseError, "answers.csv", "none"):
        hold_exam(path)
