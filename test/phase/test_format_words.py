"""The format of a submission in words."""

from collections import Counter
from dataclasses import replace

import pytest

from evaluation.core.form import RunTime
from evaluation.phase.form_file import format_in_words
from evaluation.phase.manifest import scan
from evaluation.phase.named import named_phase
from evaluation.phase.phase import load_phase
from test.phases import loaded_phase


def test_refuge(tmp_path):
    words = format_in_words(loaded_phase(tmp_path / "phase").form)
    assert "One zip archive, for the 4 images of the test set:" in words
    assert (
        "## Likelihood of glaucoma\n\n"
        "- File: `classification_results.csv`\n"
        "- Columns, named in the first row: `FileName`, `Glaucoma Risk`; one row for each image\n"
        "- `FileName`: the image, `V0001`, `V0002`, …, with or without its extension\n"
        "- Value: a finite number\n\n## "
    ) in words
    assert "one for each image, `segmentation/V0001.bmp`, `segmentation/V0002.bmp`, …\n" in words
    assert "- Extension: any of `.bmp`, `.png`, `.tif`\n" in words
    assert "is rejected" in words
    assert "left out as a whole: Localisation of the fovea." in words
    keys = {"missing": "worst", "tasks": ["classification"]}
    words = format_in_words(loaded_phase(tmp_path / "other", keys=keys).form)
    assert "takes the worst value" in words
    assert "One csv file, or a zip archive" in words
    assert "left out as a whole" not in words


def test_an_algorithm_that_is_run_on_stacks():
    form = named_phase("justraigs-phase2").form
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
    assert "Letter case" not in words
    assert "on a stack of 61 images.\n" in format_in_words(named_phase("justraigs-phase1").form)


@pytest.mark.parametrize(
    ("sockets", "expected"),
    [
        ((), "- Input: an image or a file, named like the image of the test set\n"),
        (("oct", "cfp"), "- Input: the socket `oct` or `cfp`, named like the image of the test set\n"),
    ],
)
def test_an_algorithm_that_is_run_on_single_images(tmp_path, sockets, expected):
    form = replace(loaded_phase(tmp_path / "phase").form, submission="algorithm", input_sockets=sockets)
    words = format_in_words(replace(form, sockets={"fovea": "macula"}))
    assert "An algorithm is run once for each of 4 images.\n" in words
    assert "## Likelihood of glaucoma\n" in words
    for path in ("images/optic-disc-and-cup-segmentation/*.mha", "glaucoma-risk.json", "macula.json"):
        assert f"`/output/{path}`" in words
    assert expected in words
    assert "Provided" not in words
    (one, *_) = form.cases
    assert "An algorithm is run once, on one image.\n" in format_in_words(replace(form, cases=(one,)))


@pytest.mark.parametrize(
    ("seconds", "lines"), [((90.0, None, 0.0), 1), ((90.0, 30.0, 0.0), 2), ((90.0, 30.0, 2.0), 3)]
)
def test_the_run_time_is_told_with_what_the_phase_says_of_it(tmp_path, seconds, lines):
    form = replace(loaded_phase(tmp_path / "phase").form, run_time=RunTime(*seconds))
    section = format_in_words(form).partition("## Run time\n\n")[2].partition("\n\n")[0]
    told = section.strip().splitlines()
    assert len(told) == lines
    assert all(f"{number:g}" in line for number, line in zip(seconds, told, strict=False))


def test_what_is_provided_can_be_said_by_the_phase(tmp_path):
    keys = {"provided": ["sex", "refraction, in dioptres"]}
    words = format_in_words(loaded_phase(tmp_path / "phase", keys=keys).form)
    listed = "- Provided with each image: sex\n- Provided with each image: refraction, in dioptres\n"
    assert f"## Provided\n\n{listed}" in words


KINDS = """
[fields.cells]
kind = "boxes"
table = "cells.csv"
classes = ["cell"]
probability = true
[fields.skull]
kind = "keypoints"
table = "skull.csv"
classes = ["sella", "nasion"]
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
