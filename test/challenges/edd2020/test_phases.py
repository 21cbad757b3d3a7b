"""Phases of EDD2020: boxes in each layout and beyond the image, tasks left out, an algorithm phase."""

import dataclasses
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import evaluation
from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError
from evaluation.evaluate import Result, evaluate
from evaluation.io.box_files import BoxFormat, write_voc_boxes
from evaluation.organiser.submission_writer import AlgorithmWriter, InputImage
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from evaluation.platform.archive import index_archive
from evaluation.platform.result_file import render
from evaluation.workers.case_reader import CaseReader
from test.repository import REPOSITORY
from test.started import run

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


FOLDERS = {"detection_bbox", "generalization_bbox", "semantic_masks"}


def phase_with_optional(folder, optional):
    phase = shutil.copytree(REPOSITORY / "ground-truth" / "edd2020", folder / "phase")
    text = (phase / "phase.toml").read_text()
    (phase / "phase.toml").write_text(f"optional_tasks = {json.dumps(optional)}\n{text}")
    return phase


@pytest.mark.parametrize(
    ("left_out", "tasks"),
    [
        ({"semantic_masks", "generalization_bbox"}, ["detection"]),
        ({"semantic_masks"}, ["detection", "generalisation"]),
    ],
)
def test_a_task_is_entered_by_a_field_of_its_own(tmp_path, left_out, tasks):
    phase = phase_with_optional(tmp_path, ["segmentation", "generalisation"])
    done = run("seal", phase)
    assert done.returncode == 0, done.stderr
    submission = tmp_path / "submission"
    for folder in FOLDERS - left_out:
        shutil.copytree(SUBMISSION / folder, submission / folder)
    arguments = ("--input", submission, "--ground-truth", phase, "--output", tmp_path / "o")
    done = run("evaluate", *arguments)
    assert done.returncode == 0, done.stderr
    assert sorted(json.loads((tmp_path / "o" / "metrics.json").read_text())["aggregates"]) == tasks


def test_a_task_that_nobody_can_leave_out_is_refused_by_seal(tmp_path):
    done = run("seal", phase_with_optional(tmp_path, ["detection"]))
    assert done.returncode == 1
    assert "optional_tasks: 'detection' cannot be left out" in done.stderr
    assert "generalisation" in done.stderr


SOCKET = "endoscopic-disease-detection"


def copied_phase(folder, submission, keys=""):
    phase = shutil.copytree(REPOSITORY / "ground-truth" / "edd2020", folder / submission)
    text = (phase / "phase.toml").read_text()
    text = text.replace('submission = "archive"', f'submission = "{submission}"\n{keys}\nresamples = 0')
    (phase / "phase.toml").write_text(text)
    evaluation.seal(phase)
    return phase


@pytest.fixture(scope="module")
def phase(tmp_path_factory):
    return copied_phase(tmp_path_factory.mktemp("phases"), "algorithm")


def write_jobs(phase, folder, extension, inline=False):
    """Write what the bundled archive holds as the outputs of an algorithm."""
    loaded = load_phase(phase)
    archive = replace(loaded.form, submission="archive")
    index = index_archive(SUBMISSION, archive, loaded.tasks)
    reader = CaseReader(index.root, loaded.tasks, "reject")
    inputs = [InputImage(f"{case.name}.png", (case.name,)) for case in loaded.cases.forms]
    writer = AlgorithmWriter(
        folder, fields_of(loaded.tasks), inputs, "endoscopic-image", extension=extension, inline=inline
    )
    for case, sources in zip(loaded.cases.forms, index.sources, strict=True):
        values, faults = reader.read(case, sources)
        assert not faults
        masks = values.pop("masks", None)
        if masks is not None:
            values["masks"] = full(masks, case)
        writer.add(case.name, values)
    writer.close()
    return folder


def full(regions, case):
    return np.stack([region.in_image(case.height, case.width) for region in regions])


def figures(phase, submission):
    return evaluation.evaluate(phase, submission, workers=0).to_dict()["aggregates"]


@pytest.mark.parametrize(("extension", "inline"), [(".tif", True)])
def test_the_figures_are_those_of_the_archive(phase, tmp_path, extension, inline):
    archive = copied_phase(tmp_path, "archive")
    jobs = write_jobs(phase, tmp_path / "jobs", extension, inline)
    assert figures(phase, jobs) == figures(archive, SUBMISSION)
