"""Notes of `check` on submissions that are allowed and surely not meant so."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import SimpleITK
import tifffile
from PIL import Image

from evaluation.io.grey_images import write_grey
from test.repository import REPOSITORY
from test.started import run

PHASE = """\
name = "notes"
title = "Notes"
submission = "archive"
missing = "worst"
[fields.organs]
kind = "label_map"
dimensions = 2
labels = { 1 = "cup", 2 = "disc" }
[fields.finds]
kind = "boxes"
probability = true
table = "finds.csv"
[fields.age]
kind = "number"
minimum = 0
maximum = 120
[tasks.a.metrics.dice]
field = "organs"
[tasks.b.metrics.box_average_precision]
field = "finds"
[tasks.c.metrics.mean_absolute_error]
field = "age"
"""
CASES = ("p", "q", "r")


def good() -> np.ndarray:
    mask = np.zeros((20, 30), np.uint8)
    mask[4:16, 5:20] = 2
    mask[7:10, 8:12] = 1
    return mask


def write(folder: Path, mask, box: str, cases=CASES, ages=CASES) -> Path:
    (folder / "organs").mkdir(parents=True, exist_ok=True)
    for case in cases:
        (folder / "organs" / f"{case}.png").write_bytes(write_grey(mask, ".png"))
    columns = "case,x1,y1,x2,y2,probability" if box.count(",") > 3 or not box else "case,x1,y1,x2,y2"
    (folder / "finds.csv").write_text(columns + "\n" + "".join(f"{case},{box}\n" for case in CASES if box))
    rows = "".join(f"{case},50\n" for case in ages)
    (folder / "predictions.csv").write_text(f"case,age\n{rows}")
    return folder


@pytest.fixture(scope="module")
def form(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("notes")
    phase = write(folder / "phase", good(), "4,4,12,9")
    (phase / "predictions.csv").unlink()
    rows = "".join(f"{case},30,20,50\n" for case in CASES)
    (phase / "cases.csv").write_text(f"name,width,height,age\n{rows}")
    (phase / "phase.toml").write_text(PHASE)
    sealed = run("seal", phase)
    assert sealed.returncode == 0, sealed.stderr
    assert run("form", phase, "--output", folder / "form.json").returncode == 0
    return folder / "form.json"


def notes(form: Path, submission: Path, workers: int = 2) -> list[str]:
    done = run("check", "--form", form, submission, "--workers", workers)
    assert done.returncode == 0, done.stdout
    return [line.removeprefix("Note: ") for line in done.stdout.splitlines() if line.startswith("Note: ")]


BOX = "4,4,12,9,0.9"


@pytest.mark.parametrize("workers", [0, 2])
def test_nothing_is_noted_of_a_good_submission(form, tmp_path, workers):
    assert notes(form, write(tmp_path / "s", good(), BOX), workers) == []


@pytest.mark.parametrize(
    ("mask", "box", "noted"),
    [
        (np.zeros((20, 30), np.uint8), BOX, "Organs: of all 3 images, nothing is labelled"),
        (
            np.where(good() == 0, 1, 0).astype(np.uint8),
            BOX,
            "Organs: of all 3 images, all corners of the image",
        ),
        (np.minimum(good(), 1), BOX, "Organs: of all 3 images, no label but cup occurs"),
        (good(), "", "Finds: of all 3 images, there is no box"),
        (
            good(),
            "0.1,0.2,0.4,0.45,0.9",
            "Finds: of all 3 images, all positions lie within one pixel",
        ),
        (good(), "4,4,4,9,0.9", "Finds: of all 3 images, no box has an area"),
    ],
)
def test_what_looks_wrong_in_all_images_is_noted_once(form, tmp_path, mask, box, noted):
    submission = write(tmp_path / "s", mask, box)
    (found,) = notes(form, submission)
    assert found.startswith(noted)
    assert notes(form, submission, workers=0) == [found]
    # In some images it may be right.
    text = (submission / "finds.csv").read_text() + f"p,{BOX}\n"
    write(submission, good(), BOX, cases=CASES[:1])
    (submission / "finds.csv").write_text(text)
    assert notes(form, submission) == []


def test_missing_values_are_counted_where_they_take_the_worst(form, tmp_path):
    submission = write(tmp_path / "s", good(), BOX, cases=CASES[1:], ages=CASES[:1])
    assert notes(form, submission) == [
        "Organs: 1 of 3 images have no value and take the worst one",
        "Age: 2 of 3 images have no value and take the worst one",
    ]


def test_files_of_this_phases_images_in_another_folder_are_told_with_the_one_that_is_meant(form, tmp_path):
    submission = write(tmp_path / "s", good(), BOX)
    (submission / "results").mkdir()
    (submission / "organs").rename(submission / "results" / "organs")
    done = run("check", "--form", form, submission)
    assert done.returncode == 0, done.stdout
    assert "results/organs/: 3 files are named like images of this phase and not read" in done.stdout
    assert "(are they meant for organs/?)" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("No faults, but ")


def test_missing_jobs_and_null_values_of_an_algorithm_are_counted(tmp_path):
    phase = shutil.copytree(REPOSITORY / "ground-truth" / "justraigs-phase1", tmp_path / "phase")
    assert run("seal", phase).returncode == 0
    assert run("form", phase, "--output", tmp_path / "form.json").returncode == 0
    submission = shutil.copytree(REPOSITORY / "test" / "input" / "justraigs-phase1", tmp_path / "s")
    assert notes(tmp_path / "form.json", submission) == []
    jobs = json.loads((submission / "predictions.json").read_text())
    (submission / "predictions.json").write_text(json.dumps(jobs[1:]))
    found = notes(tmp_path / "form.json", submission)
    assert found
    assert all("images have no value and take the worst one" in note for note in found)


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        (np.zeros_like, "nothing is labelled"),
        (np.logical_not, "all corners of the image are labelled (inverted?)"),
    ],
)
@pytest.mark.parametrize("phase", ["cysts", "edd2020"])
def test_masks_of_other_kinds_are_noted_too(tmp_path, phase, change, clause):
    form, submission = tmp_path / "form.json", tmp_path / "submission"
    shutil.copytree(REPOSITORY / "test/input" / phase, submission)
    assert run("form", phase, "--output", form).returncode == 0
    assert notes(form, submission) == []
    for path in submission.rglob("*.mha"):
        volume = SimpleITK.ReadImage(path)
        array = change(SimpleITK.GetArrayFromImage(volume)).astype(np.uint8)
        changed = SimpleITK.GetImageFromArray(array)
        changed.CopyInformation(volume)
        SimpleITK.WriteImage(changed, path)
    for path in submission.rglob("*.tif"):
        array = change(tifffile.imread(path)) * np.uint8(255)
        tifffile.imwrite(path, array, photometric="minisblack")
    (found,) = notes(form, submission)
    assert found.endswith(f"images, {clause}")


def test_cup_and_disc_that_are_exchanged_are_noted(tmp_path):
    form, submission = tmp_path / "form.json", tmp_path / "submission"
    shutil.copytree(REPOSITORY / "test/input/refuge-onsite", submission)
    assert run("form", "refuge-onsite", "--output", form).returncode == 0
    for path in (submission / "segmentation").iterdir():
        mask = np.array(Image.open(path))
        Image.fromarray(np.where(mask == 255, 255, 128 - np.minimum(mask, 128)).astype(np.uint8)).save(path)
    (found,) = notes(form, submission)
    assert found.endswith("surrounds optic disc (exchanged?)")


@pytest.mark.parametrize("nulls", [True, False])
def test_flags_that_are_missing_are_counted(tmp_path, nulls):
    form, submission = tmp_path / "form.json", tmp_path / "submission"
    shutil.copytree(REPOSITORY / "test/input/justraigs-phase1", submission)
    assert run("form", "justraigs-phase1", "--output", form).returncode == 0
    assert notes(form, submission) == []
    (path,) = submission.glob("*/output/stacked-referable-glaucomatous-features.json")
    values = json.loads(path.read_text())
    del values[0]["large cup"]
    values[1] = dict.fromkeys(values[1]) if nulls else None
    path.write_text(json.dumps(values))
    title = "Glaucomatous features"
    lack = "images lack some of their values, which count as wrong"
    assert notes(form, submission) == (
        [f"{title}: 2 of 61 {lack}"]
        if nulls
        else [f"{title}: 1 of 61 images have no value and take the worst one", f"{title}: 1 of 60 {lack}"]
    )


@pytest.mark.parametrize("kind", ["probability_map", "detection_map"])
def test_maps_without_any_probability_are_noted(tmp_path, kind):
    masks = "".join(f"{case},30,20,{int(case != 'p')}\n" for case in CASES)
    field = f'[fields.finds]\nkind = "{kind}"\ndimensions = 2\nextensions = [".tif"]\n'
    metric = {"probability_map": "voxel_brier_score", "detection_map": "case_auc"}[kind]
    head = 'name = "maps"\ntitle = "Maps"\nsubmission = "archive"\n'
    phase, submission = tmp_path / "phase", tmp_path / "submission"
    for folder in (phase / "finds", submission / "finds"):
        folder.mkdir(parents=True)
    for case in CASES:
        mask = np.minimum(good(), 1) * (case != "p")
        tifffile.imwrite(phase / "finds" / f"{case}.tif", mask.astype(np.uint8))
        tifffile.imwrite(submission / "finds" / f"{case}.tif", mask.astype(np.float32))
    (phase / "cases.csv").write_text(f"name,width,height,any\n{masks}")
    (phase / "phase.toml").write_text(f"{head}{field}[tasks.a.metrics.{metric}]\n")
    sealed = run("seal", phase)
    assert sealed.returncode == 0, sealed.stderr
    assert run("form", phase, "--output", tmp_path / "form.json").returncode == 0
    assert notes(tmp_path / "form.json", submission) == []
    for path in (submission / "finds").iterdir():
        tifffile.imwrite(path, np.zeros((20, 30), np.float32))
    (found,) = notes(tmp_path / "form.json", submission)
    assert found.endswith("of all 3 images, every value is 0")
