"""Fields of label maps: archives, algorithms, faults, rehearsal."""

import numpy as np
import pytest

import evaluation
from evaluation.challenges.declared.label_maps import Dice
from evaluation.challenges.declared.maps import LabelMapField
from evaluation.io.volume_header import DEPTH, geometry_columns
from test.challenges.declared.images import geometry_of_values, write_images
from test.challenges.declared.phases import declared_phase
from test.examples.awkward import Scored, awkward_maps, write_maps

FIELD = """\
[fields.map]
kind = "label_map"
labels = { 1 = "cup", 2 = "disc" }
"""
TASK = '\n[tasks.scans]\nmetrics = ["dice"]\n'
TWO = f"{FIELD}dimensions = 2\n{TASK}"
VALUES = np.zeros((1, 4, 5), np.uint8)
VALUES[0, 1:3, 1:4] = [[1, 2, 2], [2, 1, 0]]


def image_phase(folder, tables=TWO, submission="archive", **columns):
    cases = {"name": ["eye1", "eye2"], "width": [5, 5], "height": [4, 4], **columns}
    phase = declared_phase(folder / "phase", tables, cases, submission=submission)
    write_images(phase / "map", {"eye1": VALUES, "eye2": VALUES[:, ::-1]}, ".png", 2)
    evaluation.seal(phase)
    return phase


def test_volumes_of_3d_slicer_are_read_where_a_field_lists_them(tmp_path):
    columns = geometry_columns(geometry_of_values(VALUES), DEPTH)
    cases = {"name": ["scan"], **{column: [cell] for column, cell in columns.items()}}
    phase = declared_phase(tmp_path / "phase", FIELD + 'extensions = [".nrrd"]\n' + TASK, cases)
    write_images(phase / "map", {"scan": VALUES}, ".nrrd")
    evaluation.seal(phase)
    write_images(tmp_path / "submission/map", {"scan": VALUES}, ".nrrd")
    result = evaluation.evaluate(phase, tmp_path / "submission", workers=1).to_dict()
    assert result["aggregates"]["scans"]["dice"]["value"] == 1
    write_images(tmp_path / "other/map", {"scan": VALUES}, ".mha")
    with pytest.raises(evaluation.SubmissionRejected):
        evaluation.evaluate(phase, tmp_path / "other", workers=1)


def test_areas_have_the_unit_of_the_spacing(tmp_path):
    tables = TWO.replace("dimensions = 2", "dimensions = 2\nhas_spacing = true")
    tables = tables.replace('["dice"]', '["volume_difference"]')
    phase = image_phase(tmp_path, tables, spacing_mm=["0.5 0.25", "0.5 0.25"])
    write_images(tmp_path / "submission/map", {"eye1": VALUES * 0, "eye2": VALUES[:, ::-1]}, ".png", 2)
    result = evaluation.evaluate(phase, tmp_path / "submission", workers=0).to_dict()
    figures = result["aggregates"]["scans"]
    # Two pixels of the cup and three of the disc, in one of two images.
    assert figures["volume_difference_cup"]["value"] == pytest.approx(2 * 0.125 / 2)
    assert figures["volume_difference_disc"]["value"] == pytest.approx(3 * 0.125 / 2, abs=5e-5)


@pytest.mark.parametrize(
    ("regions", "structures"),
    [
        ({}, {"dice": (), "dice_cup": ("cup",), "dice_disc": ("disc",)}),
        ({"both": [1, 2]}, {"dice": ("cup", "disc")}),
        (
            {"both": [1, 2], "outer": [2]},
            {"dice": (), "dice_both": ("cup", "disc"), "dice_outer": ("disc",)},
        ),
    ],
)
def test_a_figure_says_whose_labels_it_measures(regions, structures):
    """Pictures and sizes of reports stand beside the labels of a figure."""
    field = LabelMapField(kind="label_map", labels={"1": "cup", "2": "disc"}, regions=regions)
    metrics = Dice(metric="dice").measure("dice", "map", field).metrics
    assert {metric.name: metric.structures for metric in metrics} == structures
    assert {metric.field for metric in metrics} == {"map"}


MASKED = """\
name = "masked"
missing = "worst"
value_digits = 9
[fields.map]
kind = "label_map"
labels = { 1 = "one", 2 = "two", 3 = "three" }
mask_folder = "annotated"
[tasks.scans.metrics]
dice = {}
pooled = { metric = "dice", over_cases = "pooled", absent = "exclude" }
hausdorff_distance = {}
lesion_f1 = { matching = "optimal" }
false_negative_volume = {}
centreline_dice = {}
"""


def test_voxels_outside_of_the_mask_count_for_nothing(tmp_path):
    """Figures are those of maps that are background there on both sides, also of a case without a result."""
    maps = awkward_maps([1, 2, 3])
    mask = np.zeros((9, 14, 16), np.uint8)
    mask[1:, 2:12, :11] = 1
    masks = {name: mask if number else np.ones_like(mask) for number, name in enumerate(maps)}
    inside = {name: tuple(of * masks[name] for of in pair) for name, pair in maps.items()}
    found = {}
    for folder, given in ((tmp_path / "masked", maps), (tmp_path / "cut", inside)):
        write_maps(folder, "annotated", {name: (of, of) for name, of in masks.items()})
        write_maps(folder, "map", given)
        (folder / "submission" / "map" / "joined.nii.gz").unlink()
        for path in (folder / "submission" / "annotated").iterdir():
            path.unlink()
        (folder / "submission" / "annotated").rmdir()
        (folder / "own.toml").write_text(MASKED if folder.name == "masked" else MASKED.replace("mask_", "#"))
        found[folder.name] = Scored(folder, folder / "own.toml")
    assert found["masked"].figures == found["cut"].figures
    assert found["masked"].cases == found["cut"].cases
    shifted = [of == 1 for of in inside["missed"]]
    by_hand = 2 * (shifted[0] & shifted[1]).sum() / sum(of.sum() for of in shifted)
    assert found["masked"].cases["missed"]["dice_one"] == pytest.approx(by_hand)
    assert by_hand != 2 * (maps["missed"][0] & maps["missed"][1] > 0).sum() / sum(
        np.count_nonzero(of) for of in maps["missed"]
    )
