"""Phases of EDD2020: boxes in each layout and beyond the image, and tasks left out."""

import json
import shutil
from pathlib import Path

import pytest

import evaluation
from evaluation.core.fault import PhaseError
from evaluation.phase.phase import load_phase
from test.faults import faulted
from test.repository import REPOSITORY

SUBMISSION = REPOSITORY / "test" / "input" / "edd2020"


def written(folder: Path, reference: str, submitted: str, options: str = "") -> tuple[Path, Path]:
    """Write a phase of one image of 100 × 100 pixels, and a submission."""
    phase, submission = folder / "phase", folder / "in"
    for place, line in ((phase, reference), (submission, submitted)):
        (place / "detection_bbox").mkdir(parents=True)
        (place / "detection_bbox" / "E1.txt").write_text(f"{line}\n")
    (phase / "cases.csv").write_text("name,width,height,set\nE1,100,100,in-sample\n")
    head = 'challenge = "edd2020"\nname = "e"\ntitle = "E"\nsubmission = "archive"\ntasks = ["detection"]\n'
    (phase / "phase.toml").write_text(f"{head}[options]\n{options}\n")
    return phase, submission


def precisions(phase: Path, submission: Path) -> list[float]:
    """Return the average precision at an overlap of one half and of three quarters."""
    found = evaluation.evaluate(phase, submission, workers=0).to_dict()["aggregates"]["detection"]
    return [found[f"map_{percent}"]["value"] for percent in (50, 75)]


def test_a_reference_with_the_class_at_the_end_of_a_line(tmp_path: Path) -> None:
    option = 'reference_boxes = "class_last"'
    phase, submission = written(tmp_path, "0 0 9 9 HGD", "HGD 0.9 0 0 9 9", option)
    evaluation.seal(phase)
    assert precisions(phase, submission) == [1, 1]
    assert "reference_boxes" not in load_phase(phase).options.recorded()


@pytest.mark.parametrize(("outside", "expected"), [("error", None), ("clip", [1, 1]), ("keep", [1, 0])])
def test_boxes_that_leave_the_image(outside: str, expected: list[int] | None, tmp_path: Path) -> None:
    """Of 20 columns 10 lie in the image, and are those of the reference: half of the box."""
    phase, submission = written(tmp_path, "BE 0 0 9 9", "BE 0.9 -10 0 9 9", f'outside = "{outside}"')
    evaluation.seal(phase)
    if expected:
        assert precisions(phase, submission) == expected
        return
    with pytest.raises(evaluation.SubmissionRejected) as refused:
        precisions(phase, submission)
    assert "-10" in refused.value.faults[0].found


def test_an_organiser_is_told_how_boxes_beyond_the_image_can_stay(tmp_path: Path) -> None:
    phase, _ = written(tmp_path, "BE -10 0 9 9", "BE 0.9 0 0 9 9")
    with pytest.raises(PhaseError) as refused:
        evaluation.seal(phase)
    (problem,) = refused.value.problems
    assert 'outside = "keep" or "clip"' in problem


@pytest.mark.parametrize("inclusive", [True, False])
def test_reports_count_hits_by_the_corners_of_the_phase(inclusive: bool, tmp_path: Path) -> None:
    phase, _ = written(tmp_path, "BE 0 0 9 9", "", f"inclusive_corners = {str(inclusive).lower()}")
    evaluation.seal(phase)
    (field,) = load_phase(phase).tasks[0].fields
    assert field.kind.objects.inclusive == inclusive


def phase_with_optional(folder, optional):
    phase = shutil.copytree(REPOSITORY / "ground-truth" / "edd2020", folder / "phase")
    text = (phase / "phase.toml").read_text()
    (phase / "phase.toml").write_text(f"optional_tasks = {json.dumps(optional)}\nresamples = 0\n{text}")
    return phase


@pytest.mark.parametrize(
    ("folders", "tasks"),
    [
        (["detection_bbox"], {"detection"}),
        (["detection_bbox", "generalization_bbox"], {"detection", "generalisation"}),
    ],
)
def test_a_task_is_entered_by_a_field_of_its_own(tmp_path, folders, tasks):
    phase = phase_with_optional(tmp_path, ["segmentation", "generalisation"])
    evaluation.seal(phase)
    for folder in folders:
        shutil.copytree(SUBMISSION / folder, tmp_path / "submission" / folder)
    result = evaluation.evaluate(phase, tmp_path / "submission", workers=0).to_dict()
    assert result["aggregates"].keys() == tasks


def test_a_task_that_nobody_can_leave_out_is_refused_by_seal(tmp_path):
    with faulted(PhaseError, "optional_tasks", "'detection'", "generalisation"):
        evaluation.seal(phase_with_optional(tmp_path, ["detection"]))
