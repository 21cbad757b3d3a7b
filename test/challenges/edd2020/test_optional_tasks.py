"""Tasks that a submission to EDD2020 may leave out, where two of them share the boxes."""

import json
import shutil

import pytest

from test.repository import REPOSITORY
from test.started import run

GOOD = REPOSITORY / "test" / "input" / "edd2020"
FOLDERS = {"detection_bbox", "generalization_bbox", "semantic_masks"}


def phase_with(folder, optional):
    phase = shutil.copytree(REPOSITORY / "ground-truth" / "edd2020", folder / "phase")
    text = (phase / "phase.toml").read_text()
    (phase / "phase.toml").write_text(f"optional_tasks = {json.dumps(optional)}\n{text}")
    return phase


@pytest.mark.parametrize(
    ("left_out", "tasks"),
    [
        ({"semantic_masks", "generalization_bbox"}, ["detection"]),
        ({"generalization_bbox"}, ["detection", "segmentation"]),
        ({"semantic_masks"}, ["detection", "generalisation"]),
        (set(), ["detection", "generalisation", "segmentation"]),
    ],
)
def test_a_task_is_entered_by_a_field_of_its_own(tmp_path, left_out, tasks):
    phase = phase_with(tmp_path, ["segmentation", "generalisation"])
    done = run("seal", phase)
    assert done.returncode == 0, done.stderr
    submission = tmp_path / "submission"
    for folder in FOLDERS - left_out:
        shutil.copytree(GOOD / folder, submission / folder)
    arguments = ("--input", submission, "--ground-truth", phase, "--output", tmp_path / "o")
    done = run("evaluate", *arguments)
    assert done.returncode == 0, done.stderr
    assert sorted(json.loads((tmp_path / "o" / "metrics.json").read_text())["aggregates"]) == tasks


def test_a_task_that_nobody_can_leave_out_is_refused_by_seal(tmp_path):
    done = run("seal", phase_with(tmp_path, ["detection"]))
    assert done.returncode == 1
    assert "optional_tasks: 'detection' cannot be left out" in done.stderr
    assert "generalisation" in done.stderr
