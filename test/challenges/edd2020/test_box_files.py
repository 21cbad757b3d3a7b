"""Reference boxes in every layout: the same results, seal's faults by file and line, annotators' files."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

import evaluation
from evaluation.core.fault import PhaseError
from evaluation.evaluate import Result, evaluate
from evaluation.io.box_files import BoxFormat, write_voc_boxes
from evaluation.organiser.annotators.annotations import open_annotators
from evaluation.organiser.annotators.combine import CombinationRules
from evaluation.organiser.annotators.reference import fuse_annotators
from evaluation.organiser.validate import validate_phase
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from evaluation.platform.result_file import render
from test.repository import REPOSITORY

SUBMISSION = REPOSITORY / "test" / "input" / "edd2020"
CLASSES = {"BE": 0, "suspicious": 1, "HGD": 2, "cancer": 3, "polyp": 4}


def in_layout(path: Path, layout: str) -> None:
    """Write a file of lines with the class at their start in another layout."""
    lines = [line.split() for line in path.read_text().splitlines()]
    if layout == "class_last":
        path.write_text("".join(" ".join((*corners, name)) + "\n" for name, *corners in lines))
    elif layout == "voc_xml":
        rows = [[CLASSES[name], 1.0, *map(float, corners)] for name, *corners in lines]
        path.with_suffix(".xml").write_bytes(write_voc_boxes(rows, BoxFormat(CLASSES, with_confidence=False)))
        path.unlink()


def phase_in(layout: str, folder: Path) -> Path:
    copied = Path(shutil.copytree(REPOSITORY / "ground-truth" / "edd2020", folder))
    for path in sorted(copied.glob("*_bbox/*.txt")):
        in_layout(path, layout)
    with (copied / "phase.toml").open("a") as file:
        file.write(f'[options]\nreference_boxes = "{layout}"\n')
    return copied


@pytest.mark.parametrize("layout", ["class_last", "voc_xml"])
def test_the_same_results_in_every_layout(layout, tmp_path):
    found = []
    for one in ("class_first", layout):
        folder = phase_in(one, tmp_path / one)
        seal(folder, scan(folder))
        result = evaluate(load_phase(folder), SUBMISSION, workers=0)
        assert isinstance(result, Result)
        content = json.loads(render(dataclasses.asdict(result.metrics)))
        del content["phase"]["manifest"]
        found.append(content)
    assert found[0] == found[1]
    assert "reference_boxes" not in found[1]["phase"]["options"]


@pytest.mark.parametrize(
    ("layout", "content", "message"),
    [
        (
            "class_last",
            "BE 1 2 3 4\n",
            'line 1: expected a class (BE, suspicious, HGD, cancer, polyp), found "4"',
        ),
        ("voc_xml", "<!DOCTYPE x>\n<annotation/>", "line 1: expected XML without a document type"),
        (
            "voc_xml",
            "<annotation>\n<size><width>7</width></size></annotation>",
            'line 2: expected width 160, found "7"',
        ),
    ],
)
def test_faults_name_the_file(layout, content, message, tmp_path):
    folder = phase_in(layout, tmp_path / "phase")
    path = next(iter(sorted((folder / "detection_bbox").iterdir())))
    path.write_text(content)
    with pytest.raises(PhaseError) as raised:
        validate_phase(folder, scan(folder), workers=0)
    assert any(path.name in problem and message in problem for problem in raised.value.problems)


def test_annotators_of_a_phase_in_xml(tmp_path):
    """Three who agree give the reference in the layout of the phase."""
    phase = phase_in("voc_xml", tmp_path / "phase")
    folder = tmp_path / "annotations"
    for name in "abc":
        for part in ("detection_bbox", "generalization_bbox", "semantic_masks"):
            shutil.copytree(phase / part, folder / "readers" / name / part)
    for name in ("phase.toml", "cases.csv"):
        shutil.copy(phase / name, folder)
    fused = fuse_annotators(open_annotators(folder), tmp_path / "fused", CombinationRules(), workers=0)
    scores = {(score.annotator, score.metric): score.value for score in fused.scores}
    assert {scores[name, "map_d"] for name in "abc"} == {1.0}
    for path in sorted(phase.glob("*_bbox/*.xml")):
        boxes = [line for line in path.read_text().splitlines() if "object" in line]
        again = (tmp_path / "fused" / path.parent.name / path.name).read_text()
        assert sorted(line for line in again.splitlines() if "object" in line) == sorted(boxes)


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


@pytest.mark.parametrize(
    ("outside", "precisions"),
    [("error", None), ("clip", [1, 1]), ("keep", [1, 0])],
    ids=["error", "clip", "keep"],
)
def test_boxes_that_leave_the_image(outside: str, precisions: list[int] | None, tmp_path: Path) -> None:
    """Of 20 columns 10 lie in the image, and are those of the reference: half of the box."""
    option = f'outside = "{outside}"'
    phase, submission = written(tmp_path, "BE 0 0 9 9", "BE 0.9 -10 0 9 9", option)
    evaluation.seal(phase)
    if precisions is None:
        with pytest.raises(evaluation.SubmissionRejected) as refused:
            evaluation.evaluate(phase, submission, workers=1)
        assert "-10" in refused.value.faults[0].found
        return
    found = evaluation.evaluate(phase, submission, workers=1).to_dict()["aggregates"]["detection"]
    assert [found[f"map_{percent}"]["value"] for percent in (50, 75)] == precisions


def test_an_organiser_is_told_how_boxes_beyond_the_image_can_stay(tmp_path: Path) -> None:
    phase, _ = written(tmp_path, "BE -10 0 9 9", "BE 0.9 0 0 9 9")
    with pytest.raises(PhaseError) as refused:
        evaluation.seal(phase)
    (problem,) = refused.value.problems
    assert "-10" in problem
    assert 'outside = "keep" or "clip"' in problem


@pytest.mark.parametrize("inclusive", [True, False])
def test_reports_count_hits_by_the_corners_of_the_phase(inclusive: bool, tmp_path: Path) -> None:
    phase, _ = written(tmp_path, "BE 0 0 9 9", "", f"inclusive_corners = {str(inclusive).lower()}")
    evaluation.seal(phase)
    (field,) = load_phase(phase).tasks[0].fields
    assert field.kind.objects.inclusive == inclusive
