"""The format of a submission in words."""

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import evaluation
from evaluation.cli.main import main
from evaluation.core.challenge import fields_of
from evaluation.core.field import Files
from evaluation.phase.form_file import format_in_words
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from test.rooms import needs

from ..phases import loaded_phase
from ..repository import REPOSITORY
from .test_form_file import PHASES


def test_refuge(tmp_path):
    words = format_in_words(loaded_phase(tmp_path / "phase").form)
    assert "One zip archive, for the 4 images of the test set:" in words
    assert (
        "## Likelihood of glaucoma\n\n"
        "- File: `classification_results.csv`\n"
        "- Columns: `FileName`, `Glaucoma Risk`; one row for each image\n"
        "- `FileName`: the image, `V0001`, `V0002`, …, with or without its extension\n"
        "- Value: a finite number\n"
    ) in words
    assert (
        "- Files: one for each image, `segmentation/V0001.bmp`, `segmentation/V0002.bmp`, …\n"
        "- Extension: any of `.bmp`, `.png`, `.tif`\n"
    ) in words
    assert "an incomplete submission is rejected" in words
    assert "may be left out as a whole: Localisation of the fovea." in words


def test_a_missing_result_that_takes_the_worst_value(tmp_path):
    keys = {"missing": "worst", "tasks": ["classification"]}
    words = format_in_words(loaded_phase(tmp_path / "phase", keys=keys).form)
    assert "takes the worst value of each metric" in words
    assert "One csv file, or a zip archive with it" in words
    assert "left out as a whole" not in words


@pytest.mark.parametrize("path", PHASES, ids=lambda path: path.parent.name)
def test_every_field_is_described(path):
    phase = load_phase(path.parent, scan(path.parent))
    words = format_in_words(phase.form)
    for field in fields_of(phase.tasks):
        assert f"## {field.title}\n" in words
        in_json = phase.form.submission == "algorithm" and not field.socket.is_image
        assert (field.kind.describe_json() if in_json else field.kind.describe()) in words
        if phase.form.submission == "algorithm":
            assert f"`{phase.form.sockets.get(field.name, field.socket.slug)}`" in words
        elif isinstance(field.archive, Files):
            assert f"`{field.archive.folder}/" in words
        else:
            assert all(f"`{column}`" in words for column in field.archive.columns)


def bundled(name):
    path = next(path for path in PHASES if path.parent.name == name)
    return load_phase(path.parent, scan(path.parent)).form


def test_an_algorithm_that_is_run_on_stacks():
    form = bundled("justraigs-phase2")
    stacks = Counter(case.columns["stack_name"] for case in form.cases)
    words = format_in_words(form)
    assert f"An algorithm is run once for each of {len(stacks)} stacks with 600 images in all.\n" in words
    assert (
        "## Input\n\n"
        "- Input: the socket `stacked-color-fundus-images`, a stack of images, "
        f"at most {max(stacks.values())}\n"
        "- Provided with each image: the age of the person, in years\n"
    ) in words
    assert (
        "- Output: the socket `multiple-referable-glaucoma-binary-decisions`, "
        "`/output/multiple-referable-glaucoma-binary-decisions.json`, "
        "a JSON list with one value for each image, in their order\n- Value: true or false\n"
    ) in words
    assert "an object with true, false or null for each of: appearance neuroretinal rim" in words
    assert "Letter case" not in words


def test_a_single_stack():
    assert "An algorithm is run once, on a stack of 61 images.\n" in format_in_words(
        bundled("justraigs-phase1")
    )


@pytest.mark.parametrize(
    ("sockets", "expected"),
    [
        ((), "- Input: an image or a file, named like the image of the test set\n"),
        (("oct", "cfp"), "- Input: the socket `oct` or `cfp`, named like the image of the test set\n"),
    ],
)
def test_an_algorithm_that_is_run_on_single_images(tmp_path, sockets, expected):
    form = replace(loaded_phase(tmp_path / "phase").form, submission="algorithm", input_sockets=sockets)
    words = format_in_words(form)
    assert "An algorithm is run once for each of 4 images.\n" in words
    assert expected in words
    assert "Provided" not in words
    (one, *_) = form.cases
    assert "An algorithm is run once, on one image.\n" in format_in_words(replace(form, cases=(one,)))


def test_what_is_provided_can_be_said_by_the_phase(tmp_path):
    keys = {"provided": ["sex", "refraction, in dioptres"]}
    words = format_in_words(loaded_phase(tmp_path / "phase", keys=keys).form)
    listed = "- Provided with each image: sex\n- Provided with each image: refraction, in dioptres\n"
    assert f"## Provided\n\n{listed}" in words
    eyes = Path(shutil.copytree(REPOSITORY / "ground-truth" / "justraigs-phase1", tmp_path / "eyes"))
    (eyes / "manifest.json").unlink(missing_ok=True)
    (eyes / "phase.toml").write_text("provided = []\n" + (eyes / "phase.toml").read_text())
    assert "Provided" not in format_in_words(load_phase(eyes, scan(eyes)).form)


KINDS = """
[fields.cells]
kind = "boxes"
table = "cells.csv"
classes = ["cell"]
probability = true
[fields.skull]
kind = "keypoints"
table = "skull.csv"
names = ["sella", "nasion"]
[tasks.cells.metrics.box_average_precision]
field = "cells"
[tasks.skull.metrics.mean_radial_error]
field = "skull"
worst = 100
"""


def test_only_what_may_be_nothing_needs_no_row(tmp_path):
    (tmp_path / "phase.toml").write_text(f'name = "two"\ntitle = "Two"\nsubmission = "archive"\n{KINDS}')
    (tmp_path / "cases.csv").write_text("name,width,height\na,20,20\n")
    (tmp_path / "cells.csv").write_text("case,x1,y1,x2,y2,class\na,1,1,5,5,cell\n")
    (tmp_path / "skull.csv").write_text("case,x,y,name\na,1,2,sella\na,3,4,nasion\n")
    words = format_in_words(load_phase(tmp_path, scan(tmp_path)).form)
    cells, skull = words.partition("## skull")[::2] if "## skull" in words else words.split("## Skull")
    assert "any number of rows" in cells
    assert "any number of rows" not in skull.partition("## What is missing")[0]
    assert "z is not read" not in words  # a table has the columns that are named


def test_an_algorithm_is_told_the_paths_of_its_outputs(tmp_path):
    form = loaded_phase(tmp_path / "phase", keys={"submission": "algorithm"}).form
    words = format_in_words(replace(form, sockets={"fovea": "macula"}))
    assert "`/output/images/optic-disc-and-cup-segmentation/*.mha`" in words
    assert "`/output/glaucoma-risk.json`" in words
    assert "`/output/macula.json`" in words


@needs("starter")
def test_a_table_of_objects_has_no_rows_that_are_needed(tmp_path):
    assert main(["new", str(tmp_path / "cells"), "--like", "points"]) == 0
    evaluation.seal(tmp_path / "cells" / "phase")
    words = format_in_words(load_phase(tmp_path / "cells" / "phase").form)
    told = "- Every table is needed, also one without a row.\n- An image without a row has a result, too"
    assert told in words
    assert "an incomplete submission" not in words
