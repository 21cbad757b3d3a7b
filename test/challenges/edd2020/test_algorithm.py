"""EDD2020 as an algorithm phase: the platform's boxes and an image with a plane for each class."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

import evaluation
from evaluation.core.challenge import fields_of
from evaluation.organiser.rehearsal import rehearse
from evaluation.organiser.submission_writer import AlgorithmWriter, InputImage
from evaluation.phase.form_file import format_in_words, read_form, write_form
from evaluation.phase.phase import load_phase
from evaluation.platform.archive import index_archive
from evaluation.workers.case_reader import CaseReader
from test.repository import REPOSITORY

GOOD = REPOSITORY / "test" / "input" / "edd2020"
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
    index = index_archive(GOOD, archive, loaded.tasks)
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


@pytest.fixture(scope="module")
def submission(phase, tmp_path_factory):
    return write_jobs(phase, tmp_path_factory.mktemp("jobs"), ".mha")


def figures(phase, submission):
    return evaluation.evaluate(phase, submission, workers=0).to_dict()["aggregates"]


@pytest.mark.parametrize(("extension", "inline"), [(".mha", False), (".tif", True)])
def test_the_figures_are_those_of_the_archive(phase, tmp_path, extension, inline):
    archive = copied_phase(tmp_path, "archive")
    jobs = write_jobs(phase, tmp_path / "jobs", extension, inline)
    assert figures(phase, jobs) == figures(archive, GOOD)


def test_check_words_and_rehearsal(phase, submission, tmp_path):
    form = load_phase(phase).form
    (tmp_path / "form.json").write_bytes(write_form(form))
    assert read_form(tmp_path / "form.json") == form
    assert evaluation.check(tmp_path / "form.json", submission, workers=0).passed
    words = format_in_words(form)
    assert f"- Output: the socket `{SOCKET}`, `/output/{SOCKET}.json`, JSON" in words
    assert "the type `Multiple 2D bounding boxes`, boxes parallel to the axes; `name` is the class" in words
    assert "the planes of a MetaImage or the pages of a TIFF" in words
    assert rehearse(load_phase(phase)).problems == ()


def first_output(submission, folder, change):
    """Copy a submission and change the boxes of its first job."""
    copy = shutil.copytree(submission, folder / "jobs")
    path = sorted(copy.glob(f"*/output/{SOCKET}.json"))[0]
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return copy


BOX = {"corners": [[1, 1, 0], [9, 1, 0], [9, 5, 0], [1, 5, 0]], "name": "BE", "probability": 0.5}
TURNED = [[1, 1, 0], [9, 2, 0], [8, 5, 0], [0, 4, 0]]
OUTSIDE = [[-1, 1, 0], [9, 1, 0], [9, 5, 0], [-1, 5, 0]]
FAULTS = {
    "a box that is turned": (
        {**BOX, "corners": TURNED},
        "boxes[0]: expected corners of an axis-parallel box in one plane, found others",
    ),
    "a box outside": (
        {**BOX, "corners": OUTSIDE},
        "boxes[0]: expected x1 from 0 to 160, found -1",
    ),
    "no class": (
        {key: BOX[key] for key in ("corners", "probability")},
        "boxes[0]: expected as name a class (BE, suspicious, HGD, cancer, polyp), found none",
    ),
    "another class": (
        {**BOX, "name": "ulcer"},
        "boxes[0]: expected as name a class (BE, suspicious, HGD, cancer, polyp), found the text 'ulcer'",
    ),
    "no probability": (
        {key: BOX[key] for key in ("corners", "name")},
        "boxes[0]: expected the key 'probability', found none",
    ),
    "another key": (
        {**BOX, "score": 1},
        "boxes[0]: expected only the keys corners, name, type, probability, found the key 'score'",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_boxes(phase, submission, tmp_path, name):
    box, expected = FAULTS[name]
    spoilt = first_output(submission, tmp_path, lambda content: content.update(boxes=[box]))
    (fault,) = evaluation.check(phase, spoilt, workers=0).to_dict()["faults"]
    told = f"{fault['field']}: expected {fault['expected']}, found {fault['found']}"
    assert told == expected
    assert SOCKET in fault["file"]


def test_unknown_fields_of_sockets_are_errors(tmp_path):
    with pytest.raises(evaluation.PhaseError) as error:
        copied_phase(tmp_path, "algorithm", 'sockets = { boxes = "x" }')
    assert error.value.problems == (
        "phase.toml: sockets: 'boxes' is not a field of this phase; known are detection_boxes, masks, "
        "generalisation_boxes",
    )
