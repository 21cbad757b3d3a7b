"""Notes of `check` on submissions that are allowed and surely not meant so."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import SimpleITK
import tifffile
from PIL import Image

from evaluation.core.form import Form
from evaluation.evaluate import check
from evaluation.phase.manifest import scan
from evaluation.phase.named import named_phase
from evaluation.phase.phase import load_phase
from test.io.images import write_grey
from test.repository import REPOSITORY

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
def form(tmp_path_factory) -> Form:
    phase = write(tmp_path_factory.mktemp("notes") / "phase", good(), "4,4,12,9")
    (phase / "predictions.csv").unlink()
    rows = "".join(f"{case},30,20,50\n" for case in CASES)
    (phase / "cases.csv").write_text(f"name,width,height,age\n{rows}")
    (phase / "phase.toml").write_text(PHASE)
    return load_phase(phase, scan(phase)).form


def notes(form: Form, submission: Path, workers: int = 0) -> list[str]:
    """Return what `check` notes of a submission without a fault."""
    checked = check(form, submission, workers)
    assert list(checked.faults) == []
    return list(checked.notices)


def copied(phase: str, folder: Path) -> Path:
    """Return a copy of the good submission to a bundled phase."""
    return Path(shutil.copytree(REPOSITORY / "test" / "input" / phase, folder / "submission"))


BOX = "4,4,12,9,0.9"


@pytest.mark.parametrize("workers", [0, 2])
def test_nothing_is_noted_of_a_good_submission(form, tmp_path, workers):
    assert notes(form, write(tmp_path / "s", good(), BOX), workers) == []


@pytest.mark.parametrize(
    ("mask", "box", "noted"),
    [
        (np.zeros((20, 30), np.uint8), BOX, "Organs: of all 3 images, nothing is labelled"),
        (1 - np.minimum(good(), 1), BOX, "Organs: of all 3 images, all corners of the image"),
        (np.minimum(good(), 1), BOX, "Organs: of all 3 images, no label but cup occurs"),
        (good(), "", "Finds: of all 3 images, there is no box"),
        (good(), "0.1,0.2,0.4,0.45,0.9", "Finds: of all 3 images, all positions lie within one pixel"),
        (good(), "4,4,4,9,0.9", "Finds: of all 3 images, no box has an area"),
    ],
)
def test_what_looks_wrong_in_all_images_is_noted_once(form, tmp_path, mask, box, noted):
    submission = write(tmp_path / "s", mask, box)
    (found,) = notes(form, submission)
    assert found.startswith(noted)
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
    (told,) = [note for note in notes(form, submission) if note.startswith("results/organs/: 3 files ")]
    assert told.endswith("(are they meant for organs/?)")


def test_what_nnu_net_writes_beside_its_masks_is_noted(form, tmp_path):
    submission = write(tmp_path / "s", good(), BOX)
    beside = ("organs/dataset.json", "organs/plans.json", f"organs/{CASES[0]}.npz", f"organs/{CASES[0]}.pkl")
    for name in beside:
        (submission / name).write_bytes(b"{}")
    told = notes(form, submission)
    assert [note.partition(" is not")[0] for note in told] == sorted(beside)


@pytest.mark.parametrize(
    ("phase", "change", "clause"),
    [("cysts", np.zeros_like, "nothing is labelled"), ("edd2020", np.logical_not, "(inverted?)")],
)
def test_masks_of_other_kinds_are_noted_too(tmp_path, phase, change, clause):
    form, submission = named_phase(phase).form, copied(phase, tmp_path)
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
    assert found.endswith(clause)


def test_cup_and_disc_that_are_exchanged_are_noted(tmp_path):
    form, submission = named_phase("refuge-onsite").form, copied("refuge-onsite", tmp_path)
    for path in (submission / "segmentation").iterdir():
        mask = np.array(Image.open(path))
        Image.fromarray(np.where(mask == 255, 255, 128 - np.minimum(mask, 128)).astype(np.uint8)).save(path)
    (found,) = notes(form, submission)
    assert found.endswith("(exchanged?)")


@pytest.mark.parametrize("nulls", [True, False])
def test_flags_and_jobs_that_are_missing_are_counted(tmp_path, nulls):
    form, submission = named_phase("justraigs-phase1").form, copied("justraigs-phase1", tmp_path)
    assert notes(form, submission) == []
    (path,) = submission.glob("*/output/stacked-referable-glaucomatous-features.json")
    values = json.loads(path.read_text())
    del values[0]["large cup"]
    values[1] = dict.fromkeys(values[1]) if nulls else None
    path.write_text(json.dumps(values))
    counts = [note.partition(": ")[2].partition(" images")[0] for note in notes(form, submission)]
    assert counts == (["2 of 61"] if nulls else ["1 of 61", "1 of 60"])
    (submission / "predictions.json").write_text("[]")
    titles, told = zip(*(note.split(": ") for note in notes(form, submission)), strict=True)
    assert len({*titles}) == 3
    assert all(note.startswith("61 of 61 images have no value") for note in told)


@pytest.mark.parametrize(
    ("kind", "metric"), [("probability_map", "dice_at_threshold"), ("detection_map", "case_auc")]
)
def test_maps_without_any_probability_are_noted(tmp_path, kind, metric):
    phase, submission = tmp_path / "phase", tmp_path / "submission"
    for folder in (phase / "finds", submission / "finds"):
        folder.mkdir(parents=True)
    for case in CASES:
        mask = np.minimum(good(), 1) * (case != "p")
        tifffile.imwrite(phase / "finds" / f"{case}.tif", mask.astype(np.uint8))
        tifffile.imwrite(submission / "finds" / f"{case}.tif", mask.astype(np.float32))
    rows = "".join(f"{case},30,20,{int(case != 'p')}\n" for case in CASES)
    (phase / "cases.csv").write_text(f"name,width,height,any\n{rows}")
    head = 'name = "maps"\ntitle = "Maps"\nsubmission = "archive"\n'
    field = f'[fields.finds]\nkind = "{kind}"\ndimensions = 2\nextensions = [".tif"]\n'
    (phase / "phase.toml").write_text(f"{head}{field}[tasks.a.metrics.{metric}]\n")
    form = load_phase(phase, scan(phase)).form
    assert notes(form, submission) == []
    for path in (submission / "finds").iterdir():
        tifffile.imwrite(path, np.zeros((20, 30), np.float32))
    (found,) = notes(form, submission)
    assert found.endswith("of all 3 images, every value is 0")
