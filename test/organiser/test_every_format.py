"""Each kind of image, in each format and number of axes: through every command, or refused by `seal`."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import SimpleITK
import tifffile
from PIL import Image

import evaluation
from evaluation.core.fault import PhaseError
from test.challenges.declared.phases import declared_phase
from test.faults import faulted
from test.started import run

SHAPE = (4, 20, 30)
LABELS = np.zeros(SHAPE, np.uint8)
LABELS[:, 3:12, 5:14], LABELS[1:, 8:15, 20:27] = 1, 2
# More than 8 bits hold.
OBJECTS = np.array([0, 7, 300], np.uint16)[LABELS]
NUMBERS = (np.arange(LABELS.size).reshape(SHAPE) / 7 - 100).astype(np.float32)
MASK = np.minimum(LABELS, 1)
NAMES = ("a", "b")

FIELDS = {
    "label_map": ('labels = { 1 = "a", 2 = "b" }', LABELS, "dice"),
    "instance_map": ('labels = { 1 = "cell" }', OBJECTS, "panoptic_quality"),
    "image": ("minimum = -200\nmaximum = 400", NUMBERS, "image_mean_absolute_error"),
    "probability_map": ("", MASK, "dice_at_threshold"),
    "detection_map": ("", MASK, "lesion_average_precision"),
}
ALL, WITH_16_BITS = tuple(FIELDS), ("label_map", "instance_map")
READ = {
    (2, ".png"): WITH_16_BITS,
    (2, ".bmp"): ("label_map",),
    **{(2, extension): ALL for extension in (".tif", ".mha")},
    **{(3, extension): ALL for extension in (".tif", ".mha", ".nii", ".nii.gz", ".nrrd")},
}
REFUSED = [
    *((2, ".png", kind) for kind in ALL if kind not in READ[2, ".png"]),
    *((2, ".bmp", kind) for kind in ALL if kind not in READ[2, ".bmp"]),
    *((dimensions, ".npz", kind) for dimensions in (2, 3) for kind in ALL),
    *((2, extension, "label_map") for extension in (".nii.gz", ".nrrd")),
    *((3, extension, "label_map") for extension in (".png", ".bmp")),
]


def written(path: Path, values: np.ndarray, dimensions: int) -> None:
    """Write an image as the usual library of its format does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    values = values if dimensions == 3 else values[1]
    if path.suffix == ".tif":
        tifffile.imwrite(path, values, photometric="minisblack", compression="zlib")
    elif path.suffix in (".png", ".bmp"):
        Image.fromarray(values).save(path)
    else:
        image = SimpleITK.GetImageFromArray(values)
        image.SetSpacing((0.5, 0.5, 2.0)[:dimensions])
        SimpleITK.WriteImage(image, path, useCompression=True)


def tables_of(kinds, dimensions, extension):
    head = f'dimensions = {dimensions}\nextensions = ["{extension}"]'
    text = ""
    for kind in kinds:
        keys, _, metric = FIELDS[kind]
        text += f'[fields.{kind}]\nkind = "{kind}"\n{head}\n{keys}\n\n'
        text += f'[tasks.of_{kind}.metrics]\nfigure = {{ metric = "{metric}", field = "{kind}" }}\n\n'
    return text


def run_well(*arguments):
    finished = run(*arguments)
    assert finished.returncode == 0, (arguments, finished.stderr, finished.stdout)
    return finished.stdout


@pytest.mark.parametrize(("dimensions", "extension"), READ, ids=lambda value: str(value).strip("."))
def test_what_is_read_goes_through_every_command(dimensions, extension, tmp_path):
    kinds = READ[dimensions, extension]
    phase, submission = tmp_path / "phase", tmp_path / "submission"
    # A TIFF stack has no spacing.
    spacing = {"spacing_mm": ["0.5 0.5 2"] * len(NAMES)} if (dimensions, extension) == (3, ".tif") else {}
    declared_phase(phase, tables_of(kinds, dimensions, extension), {"name": NAMES, **spacing})
    for kind in kinds:
        for name in NAMES:
            for folder in (phase, submission):
                written(folder / kind / f"{name}{extension}", FIELDS[kind][1], dimensions)
    run_well("cases", phase)
    run_well("seal", phase)
    run_well("rehearse", phase)
    run_well("form", phase, "--output", tmp_path / "form.json")
    run_well("check", "--form", tmp_path / "form.json", submission)
    output = tmp_path / "output"
    run_well("evaluate", "--ground-truth", phase, "--input", submission, "--output", output)
    found = json.loads((output / "metrics.json").read_text())["aggregates"]
    assert {kind: found[f"of_{kind}"]["figure"]["value"] for kind in kinds} == {
        kind: 0 if kind == "image" else 1 for kind in kinds
    }
    page = tmp_path / "report.html"
    run_well("report", "submission", "--ground-truth", phase, "--input", submission, "--output", page)
    assert page.stat().st_size


@pytest.mark.parametrize(("dimensions", "extension", "kind"), REFUSED)
def test_what_is_not_read_is_refused_by_seal(dimensions, extension, kind, tmp_path):
    declared_phase(
        tmp_path,
        tables_of([kind], dimensions, extension),
        {"name": NAMES, "width": [30] * 2, "height": [20] * 2},
    )
    with faulted(PhaseError, extension):
        evaluation.seal(tmp_path)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("instance_map", np.float32(2**32)), *((kind, np.float16(np.inf)) for kind in ALL)],
)
def test_what_is_beyond_the_bounds_is_one_fault_of_check_and_evaluate_and_refused_by_seal(
    kind, value, tmp_path
):
    """A number that the type of the file, or single precision, does not tell from the bound."""
    phase, submission = tmp_path / "phase", tmp_path / "submission"
    cases = {"name": NAMES, "width": [30, 30], "height": [20, 20]}
    declared_phase(phase, tables_of([kind], 2, ".tif"), cases)
    bad = FIELDS[kind][1].astype(value.dtype)
    bad[1, 5, 6] = value
    for name in NAMES:
        written(phase / kind / f"{name}.tif", FIELDS[kind][1], 2)
        written(submission / kind / f"{name}.tif", bad, 2)
    run_well("seal", phase)
    run_well("form", phase, "--output", tmp_path / "form.json")
    place = ("--input", submission, "--output", tmp_path / "output")
    checked = run("check", "--form", tmp_path / "form.json", submission)
    evaluated = run("evaluate", "--ground-truth", phase, *place)
    faults = [line for line in checked.stdout.splitlines() if f"{kind}/" in line]
    assert len(faults) == len(NAMES)
    assert faults == [line for line in evaluated.stdout.splitlines() if line.startswith(f"  {kind}/")]
    shutil.rmtree(phase / kind)
    (submission / kind).rename(phase / kind)
    with faulted(PhaseError, f"{kind}/a.tif"):
        evaluation.seal(phase)
