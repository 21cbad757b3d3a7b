"""A kind that a challenge made up, through the commands as organisers run them."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from evaluation.io.tables import write_csv
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.io.images import write_grey
from test.started import run

CHALLENGE = Path(__file__).parent / "challenges" / "bands.py"
CASES = 12
UNIT = 50
"""Rows of an image in which all distances are whole numbers."""
TOPS = [UNIT * (2 + case % 5) for case in range(CASES)]
PHASE = """\
challenge = "bands"
name = "bands"
title = "Bands"
submission = "archive"
tasks = [{tasks}]
{keys}
"""


def succeeded(*arguments):
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def names():
    return [f"B{case:02d}" for case in range(CASES)]


def lines(moved=0):
    """Return the first row and the end of every case's layer, moved downwards by a number of units."""
    return [(str(top + UNIT * moved), str(top + UNIT * (moved + 4))) for top in TOPS]


def bands(folder, moved):
    write_csv(
        folder / "layers.csv",
        ["case", "top", "bottom"],
        [[name, *found] for name, found in zip(names(), lines(moved), strict=True)],
    )
    return folder


def phase_of(folder, tasks='"layers"', reference=True, keys=""):
    folder.mkdir(parents=True)
    shutil.copy(CHALLENGE, folder / "challenge.py")
    (folder / "phase.toml").write_text(PHASE.format(tasks=tasks, keys=keys), encoding="utf-8")
    columns = ["name", "width", "height", *(["top", "bottom"] if reference else [])]
    found = lines() if reference else [()] * CASES
    rows = [[name, "8", str(16 * UNIT), *ends] for name, ends in zip(names(), found, strict=True)]
    write_csv(folder / "cases.csv", columns, rows)
    if "moods" in tasks or "shades" in tasks:
        write_csv(folder / "moods.csv", ["case", "mood"], [[name, "calm"] for name in names()])
    return folder


@pytest.fixture(scope="module")
def phase(tmp_path_factory):
    folder = phase_of(tmp_path_factory.mktemp("bands") / "phase")
    succeeded("seal", folder)
    return folder


def test_it_is_combined_and_compared_by_its_regions(phase, tmp_path):
    """Layers are moved by 0, 1 and 1 units: two of three vote for the second place."""
    teams = [bands(tmp_path / name, moved) for name, moved in (("x", 0), ("y", 1), ("z", 1))]
    succeeded("ensemble", *teams, "--ground-truth", phase, "--output", tmp_path / "together")
    expected = bands(tmp_path / "expected", 1).joinpath("layers.csv").read_text()
    assert (tmp_path / "together" / "layers.csv").read_text() == expected
    given = phase_of(tmp_path / "given", reference=False)
    for team in teams:
        shutil.copytree(team, given / "readers" / team.name)
    report = tmp_path / "report"
    succeeded("fuse", "annotators", given, "--output", tmp_path / "fused", "--report", report)
    lines = [line.split(",") for line in (report / "agreement.csv").read_text().splitlines()]
    dice = {tuple(line[2:4]): float(line[5]) for line in lines if line[1] == "mean layer Dice"}
    assert dice == {("x", "y"): 0.75, ("x", "z"): 0.75, ("y", "z"): 1.0}


def test_it_is_described_by_its_regions(tmp_path):
    """A layer of 200 × 8 pixels in an image of 800 × 8."""
    folder = phase_of(tmp_path / "phase")
    text = (folder / "challenge.py").read_text(encoding="utf-8")
    # The columns of the case table are described as they are: a table of its own is measured.
    in_a_table = text.replace(
        'CaseColumns(("top", "bottom"))', 'TableRows(("bands.csv",), "case", ("top", "bottom"))'
    )
    (folder / "challenge.py").write_text(in_a_table, encoding="utf-8")
    rows = [[name, *ends] for name, ends in zip(names(), lines(), strict=True)]
    write_csv(folder / "bands.csv", ["case", "top", "bottom"], rows)
    succeeded("describe", folder, "--output", tmp_path / "tables")
    found = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "tables").glob("*.csv"))
    (area,) = [line for line in found.splitlines() if line.startswith("area of layer,pixels")]
    assert {"1600", "1600.0"} & set(area.split(","))
    assert "share of the image that is layer" in found


def test_it_is_converted_by_what_it_writes(phase, tmp_path):
    submission = bands(tmp_path / "x", 1)
    succeeded("convert", submission, "--ground-truth", phase, "--output", tmp_path / "jobs")
    succeeded("convert", tmp_path / "jobs", "--ground-truth", phase, "--output", tmp_path / "again")
    assert (tmp_path / "again" / "layers.csv").read_text() == (submission / "layers.csv").read_text()


def test_it_is_rehearsed_with_a_cube_by_its_regions(phase):
    """The two rows in the middle, of two cases in five within a layer of 200 rows."""
    found = rehearse(load_phase(phase), workers=0)
    assert found.problems == ()
    inside = sum(top <= 8 * UNIT < top + 4 * UNIT for top in TOPS)
    assert found.figures["layers.dice"]["smallest"] == pytest.approx(inside / CASES * 4 / (2 + 4 * UNIT))


def outlines_phase(folder, submission):
    """Return a sealed phase whose images have two axes, which is known from their regions."""
    (folder / "outlines").mkdir(parents=True)
    shutil.copy(CHALLENGE.with_name("outlines.py"), folder / "challenge.py")
    keys = f'challenge = "outlines"\nname = "o"\ntitle = "O"\nsubmission = "{submission}"\n'
    keys += 'input_socket = "i"\n' if submission == "algorithm" else ""
    (folder / "phase.toml").write_text(keys, encoding="utf-8")
    rows = [[name, "9", "8", "s", str(place)] for place, name in enumerate("abc")]
    write_csv(folder / "cases.csv", ["name", "width", "height", "stack_name", "stack_index"], rows)
    for place, name in enumerate("abc"):
        image = np.zeros((8, 9), np.uint8)
        image[place:6, 2:5] = 1
        (folder / "outlines" / f"{name}.png").write_bytes(write_grey(image, ".png"))
    succeeded("seal", folder)
    return folder


def test_its_images_follow_each_other_in_one(tmp_path):
    phase = load_phase(outlines_phase(tmp_path / "phase", "algorithm"))
    figures = rehearse(phase, workers=0).figures["outlines.same"]
    assert (figures["perfect"], figures["empty"]) == (1, 0)


def test_a_kind_without_views_is_named(tmp_path):
    folder = phase_of(tmp_path / "phase", '"layers", "moods"')
    assert "mood: a Mood is not measured" in (done := run("describe", folder)).stdout + done.stderr
    teams = [bands(tmp_path / name, 0) for name in "xy"]
    for team in teams:
        write_csv(team / "moods.csv", ["case", "mood"], [[name, "calm"] for name in names()])
    done = run("ensemble", *teams, "--ground-truth", folder, "--output", tmp_path / "together")
    assert done.returncode != 0
    assert "The mood" in done.stderr


def test_what_cannot_be_compared_or_drawn_is_named(tmp_path):
    """Of a shade nothing but its pixels can be asked."""
    folder = phase_of(tmp_path / "phase", '"layers", "shades"')
    teams = [bands(tmp_path / name, 1) for name in "xy"]
    for place in (folder, *teams):
        write_csv(place / "moods.csv", ["case", "mood"], [[name, "0.5"] for name in names()])
    succeeded("seal", folder)
    page, places = tmp_path / "page.html", ("--ground-truth", folder, "--input", teams[0])
    succeeded("report", "submission", *places, "--output", page, "--workers", 0)
    reason = "since a Shade has no regions, objects, decisions or numbers"
    html = page.read_text(encoding="utf-8")
    assert f"shade: left out of pictures and sizes, {reason}" in html
    assert "data:image/png;base64" in html  # the layer is drawn
    annotations = phase_of(tmp_path / "annotations", '"layers", "shades"', reference=False)
    (annotations / "moods.csv").unlink()
    for team in teams:
        shutil.copytree(team, annotations / "readers" / team.name)
    fused = run("fuse", "annotators", annotations, "--output", tmp_path / "fused")
    assert fused.returncode == 0, fused.stderr
    assert f"Note: shade: left out of the agreement, {reason}" in fused.stderr
    # Layers are moved by 1 and 1 units.
    assert (tmp_path / "fused" / "cases.csv").read_text().splitlines()[1] == "B00,8,800,150,350"
