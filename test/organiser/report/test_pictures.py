"""Pictures of cases: what is read, which are shown, how good they are, and which pixel has which colour."""

import base64
import io
import math
from dataclasses import replace

import numpy as np
import pytest
import SimpleITK
from PIL import Image, ImageColor

import evaluation
from evaluation.challenges.refuge import CHALLENGE, RefugeOptions
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import fields_of, references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field, Files, Reference
from evaluation.core.form import CaseForm
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.metrics.crops import Crop
from evaluation.organiser.report.case_images import Photographs, Request, read_cases
from evaluation.organiser.report.objects import Drawn, DrawnObjects, object_panels, objects_of
from evaluation.organiser.report.overlays import (
    AGREEMENT,
    BACKGROUND,
    FALSE,
    LEFT_OUT,
    MISSED,
    ComparedNumber,
    ComparedStructure,
    measurements,
    region_panels,
    regions_in,
    sizes,
    solid_panels,
    structures,
)
from evaluation.organiser.report.page import Gallery
from evaluation.organiser.report.pictures import (
    MOST_PICTURES,
    chosen_cases,
    classified_cases,
    figure_of_cases,
    galleries,
)
from evaluation.organiser.report.results import results_of
from evaluation.organiser.report_library import submission_page
from evaluation.phase.phase import load_phase
from evaluation.phase.reference import OpenReference, ReferenceValues
from evaluation.platform.submission import index_submission
from evaluation.workers.submission_reader import CaseReader
from test.challenges.declared.images import volume_phase, write_images
from test.faults import faulted
from test.organiser.report.declared import declared
from test.phases import refuge_phase, refuge_submission


def read_all(bundled, **changes):
    chosen = chosen_cases(bundled.results)
    pictures = {task: tuple(cases) for task, cases in chosen.items()}
    arguments = {"pictures": pictures, "images": None, "workers": 0, **changes}
    return chosen, read_cases(Request(bundled.phase, bundled.submission, **arguments), lambda done: None)


def scored(results, task, column):
    return dict(zip(results.tables[task].names, results.tables[task][column].tolist(), strict=True))


def test_measurements_give_the_errors_that_were_scored(bundled_phase):
    bundled = bundled_phase("refuge-onsite")
    ratios = scored(bundled.results, "segmentation", "vertical_cup_to_disc_ratio_error")
    for value in read_all(bundled)[1]:
        (ratio,) = value.measurements
        assert abs(ratio.predicted - ratio.reference) == pytest.approx(ratios[value.name])
    bundled = bundled_phase("cysts")
    volumes = scored(bundled.results, "cysts", "volume_error_mm3")
    for value in read_all(bundled)[1]:
        found = [abs(size.predicted - size.reference) for size in value.sizes]
        assert found == pytest.approx([volumes[value.name]] if found else [], abs=1e-9)
    bundled = bundled_phase("adam-onsite")
    distances = scored(bundled.results, "fovea", "distance")
    found = {value.name: value.locations["fovea"] for value in read_all(bundled)[1] if value.locations}
    assert 30 < len(found) < len(bundled.results.cases)
    for name, at in found.items():
        assert math.dist(at.predicted, at.reference) == pytest.approx(distances[name])


@pytest.mark.parametrize("name", ["refuge-onsite", "cysts", "edd2020"])
def test_every_chosen_case_has_a_picture(bundled_phase, name):
    chosen, values = read_all(bundled_phase(name))
    pictures = {value.name: value.pictures for value in values}
    drawn = [(task, case) for task, cases in chosen.items() for case in cases if task in pictures[case]]
    assert len(drawn) >= 4
    for task, case in drawn:
        head, _, data = pictures[case][task].source.partition(",")
        assert head == "data:image/png;base64"
        with Image.open(io.BytesIO(base64.b64decode(data))) as picture:
            assert 50 < picture.width < 1000


def test_several_processes_read_the_same(bundled_phase):
    bundled = bundled_phase("refuge-onsite")
    assert read_all(bundled, workers=2) == read_all(bundled)


def test_another_submission_is_a_fault(tmp_path):
    phase = refuge_phase(tmp_path / "phase", 4)
    submission = refuge_submission(tmp_path / "submission", 4)
    (submission / "segmentation" / "V0001.png").unlink()
    request = Request(phase, submission, {}, None, 0)
    with faulted(PhaseError, "segmentation/V0001.bmp", "none"):
        read_cases(request, lambda done: None)


def test_an_image_is_found_by_its_name_and_scaled(tmp_path):
    (tmp_path / "nested").mkdir()
    Image.new("RGB", (20, 10), (9, 8, 7)).save(tmp_path / "nested" / "v0001.PNG")
    found = Photographs(tmp_path).of(CaseForm("V0001.jpg", 20, 10))
    assert found.shape == (10, 20, 3)
    assert np.unique(found.reshape(-1, 3), axis=0).tolist() == [[9, 8, 7]]
    Image.new("L", (40, 20), 5).save(tmp_path / "a.png")
    assert Photographs(tmp_path).of(CaseForm("a", 20, 10)).shape == (10, 20, 3)
    assert Photographs(tmp_path).of(CaseForm("b", 20, 10)) is None
    assert Photographs(None).of(CaseForm("a", 20, 10)) is None


def volume(path, values, kind=np.int16):
    SimpleITK.WriteImage(SimpleITK.GetImageFromArray(np.asarray(values, kind)), str(path))


def test_a_volume_is_drawn_from_black_to_white(tmp_path):
    values = np.arange(-500, 500).reshape(10, 10, 10)
    volume(tmp_path / "a.nii.gz", values)
    found = Photographs(tmp_path).volume_of(CaseForm("a"), (10, 10, 10))
    # Percentiles 0.5 and 99.5 are 4.995 from the ends of 999.
    assert found[0, 0, :5].tolist() == [0] * 5
    assert found[-1, -1, -5:].tolist() == [255] * 5
    assert found[5, 0, 0] == round(255 * (500 - 4.995) / (999 - 2 * 4.995))
    assert Photographs(tmp_path).volume_of(CaseForm("b"), (10, 10, 10)) is None


def test_what_is_no_image_or_another_one_is_a_fault(tmp_path):
    with faulted(PhaseError, "nothing"):
        Photographs(tmp_path / "nothing")
    for name in ("a.png", "b.mha"):
        (tmp_path / name).write_bytes(b"none")
    with faulted(PhaseError, "a.png"):
        Photographs(tmp_path).of(CaseForm("a", 20, 10))
    with faulted(PhaseError, "b.mha"):
        Photographs(tmp_path).volume_of(CaseForm("b"), (2, 3, 4))
    volume(tmp_path / "c.mha", np.zeros((2, 3, 4)))
    with faulted(PhaseError, "c.mha", "4 × 3 × 2"):
        Photographs(tmp_path).volume_of(CaseForm("c"), (2, 3, 5))


def test_the_worst_and_the_best_are_those_of_the_task(bundled_phase):
    results = bundled_phase("refuge-onsite").results
    assert 0 < sum(map(len, chosen_cases(results).values())) <= MOST_PICTURES
    table = results.tables["fovea"]
    by_rank = {rank.partition(" by ")[0]: name for name, rank in chosen_cases(results)["fovea"].items()}
    assert by_rank["worst"] == table.names[int(np.argmax(table["distance"]))]
    assert by_rank["best"] == table.names[int(np.argmin(table["distance"]))]
    two = {name: CaseTable(table.names[:2], table.rows[:2]) for name, table in results.tables.items()}
    for of_task in chosen_cases(replace(results, tables=two)).values():
        assert [rank.partition(" by ")[0] for rank in of_task.values()] == ["worst", "best"]


def test_cases_of_another_set_are_not_shown_for_a_task(bundled_phase):
    results = bundled_phase("edd2020").results
    table = results.tables["generalisation"]
    outside = {name for name, out in zip(table.names, table["out_of_sample"], strict=True) if out}
    chosen = chosen_cases(results)["generalisation"]
    assert len(chosen) > 1
    assert set(chosen) <= outside < set(table.names)


@pytest.fixture(scope="module")
def of_declared(tmp_path_factory):
    return declared(tmp_path_factory.mktemp("declared"))


def test_pictures_say_what_their_colours_and_numbers_mean(of_declared):
    chosen = chosen_cases(of_declared.results)
    wanted = {task: tuple(cases) for task, cases in chosen.items()}
    request = Request(of_declared.phase, of_declared.submission, wanted, None, 0)
    values = read_cases(request, lambda done: None)
    shown = {block.title: block for block in galleries(of_declared.results, chosen, values)}
    assert len(shown) == 7
    assert "metric “FROC score”" in shown["Nodules"].note
    assert shown["Polyps"].note.startswith("A predicted box hits from an intersection over union of 0.5")
    assert "Numbers: 1 sella, 2 nasion." in shown["Skull"].pictures[0].caption
    assert "seen along z, seen along y, seen along x." in shown["Tumours"].pictures[0].alternative


def test_photographs_of_the_extremes_of_a_classification(bundled_phase, tmp_path):
    bundled = bundled_phase("refuge-onsite")
    table = bundled.results.tables["classification"]
    chosen = classified_cases(bundled.results)["classification"]
    score = dict(zip(table.names, table["likelihood"], strict=True))
    label = dict(zip(table.names, table["glaucoma"], strict=True))
    ill, healthy = ([name for name in score if label[name] == of] for of in (1, 0))
    assert {rank.partition(" (")[0]: name for name, rank in chosen.items()} == {
        "true positive": max(ill, key=score.get),
        "false negative": min(ill, key=score.get),
        "false positive": max(healthy, key=score.get),
        "true negative": min(healthy, key=score.get),
    }
    for case in bundled.results.phase.cases.forms:
        Image.new("RGB", (case.width, case.height), (90, 40, 10)).save(tmp_path / f"{case.name}.png")
    page = submission_page(bundled.results, bundled.submission, tmp_path, 0)
    blocks = [block for section in page.sections for block in section.blocks if isinstance(block, Gallery)]
    (gallery,) = (block for block in blocks if len(block.legend) == 0)
    assert [picture.case for picture in gallery.pictures] == list(chosen)


def test_the_goodness_of_a_case_is_that_of_the_main_metric(bundled_phase):
    results = bundled_phase("refuge-onsite").results
    task = next(task for task in results.tasks if task.name == "segmentation")
    row = {"dice_cup": 0.5, "dice_disc": 0.9, "vertical_cup_to_disc_ratio_error": 0.2}
    changed = replace(results, tables={"segmentation": CaseTable(["a"], [row])})
    figure = figure_of_cases(changed, task)
    assert (figure.title, figure.values.tolist()) == ("Dice of the cup", [0.5])


def test_the_goodness_of_boxes_is_their_f1(bundled_phase):
    results = bundled_phase("edd2020").results
    task = next(task for task in results.tasks if task.name == "detection")
    box, other = [0.0, 1.0, 0.0, 0.0, 10.0, 10.0], [1.0, 0.9, 50.0, 50.0, 60.0, 60.0]
    none = np.empty((0, 6))
    # One hit and one false one; one missed; nothing.
    sides = ((np.array([box, other]), np.array([box])), (none, np.array([box])), (none, none))
    rows = [{"predicted": predicted, "reference": reference, "missing": 0} for predicted, reference in sides]
    changed = replace(results, tables={"detection": CaseTable(list("abc"), rows)})
    np.testing.assert_allclose(figure_of_cases(changed, task).goodness, [2 / 3, 0, np.nan])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # By hand: "a" has a hit, a false and a missed cell; "b" a hit; "c" neither.
        ("cells", [2 / 4, 1, np.nan]),
        # "a" has a hit, a false one and a missed one; that near an ignored object does not count.
        ("nodules", [2 / 4, 1, np.nan]),
        # Of both classes, at the first threshold.
        ("polyps", [2 / 4, np.nan, 1]),
        ("tumours", [2 / 3, 0, np.nan]),
    ],
)
def test_the_goodness_of_declared_detections_is_their_f1(of_declared, name, expected):
    (task,) = [one for one in of_declared.results.tasks if one.name == name]
    np.testing.assert_allclose(figure_of_cases(of_declared.results, task).goodness, expected)


INSTANCES = """\
[fields.cells]
kind = "instance_map"
dimensions = 3
labels = { 1 = "cell" }
ranges = { 1 = [1, 99] }

[tasks.cells.metrics]
panoptic_quality = { threshold = 0.5 }
"""


def test_instances_are_hits_or_misses_by_the_first_metric_that_matches_them(tmp_path):
    true = np.zeros((2, 40, 40), np.uint16)
    true[0, 2:12, 2:12], true[0, 2:12, 22:32] = 1, 2
    made = np.zeros_like(true)
    # An IoU of 8/12 is a hit; the second one is missed, and another one false.
    made[0, 2:12, 4:14], made[0, 22:32, 2:12] = 7, 8
    phase = volume_phase(tmp_path, INSTANCES, {"a": true, "b": true}, name="cells")
    write_images(tmp_path / "submission" / "cells", {"a": made, "b": true})
    scored = evaluation.evaluate(phase, tmp_path / "submission", workers=0)
    results = results_of(load_phase(phase), scored.to_dict(), scored.records)
    chosen = chosen_cases(results)
    assert {rank.partition(" by ")[0]: name for name, rank in chosen["cells"].items()} == {
        "worst": "a",
        "best": "b",
    }
    request = Request(phase, tmp_path / "submission", {"cells": ("a", "b")}, None, 0)
    values = read_cases(request, lambda done: None)
    (gallery,) = galleries(results, chosen, values)
    assert gallery.note.startswith("Hits and misses are those of the metric “Panoptic quality”")
    assert gallery.pictures[0].caption.startswith("Worst by Panoptic quality 0.")
    seen = {}
    for value in values:
        image = value.pictures["cells"].source.partition(",")[2]
        with Image.open(io.BytesIO(base64.b64decode(image))) as picture:
            colours = {tuple(colour) for _, colour in picture.convert("RGB").getcolors(1 << 20)}
        kinds = {"hit": AGREEMENT, "missed": MISSED, "false": FALSE}
        seen[value.name] = {name for name, of in kinds.items() if ImageColor.getrgb(of) in colours}
    assert seen == {"a": {"hit", "missed", "false"}, "b": {"hit"}}


LEFT_AND_FALSE = (("cross", LEFT_OUT), ("cross", FALSE))


def drawn_of(of_declared, task_name, case_name):
    """Return what is drawn of a case in the only field of a task."""
    phase = of_declared.results.phase
    (task,) = [task for task in phase.tasks if task.name == task_name]
    position = [case.name for case in phase.cases.forms].index(case_name)
    case = phase.cases.forms[position]
    index = index_submission(of_declared.submission, phase.form, phase.tasks)
    sources = {task_name: index.sources[position][task_name]}
    predicted, _ = CaseReader(index.root, phase.tasks, phase.missing).read(case, sources)
    reference = OpenReference(phase.reference, references_of(phase.tasks))
    references = ReferenceValues(reference, case, phase.rows[position])
    return objects_of(phase.options, task, task.fields[0], predicted[task_name], references)


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("cells", {("ring", AGREEMENT), ("cross", AGREEMENT), ("ring", MISSED), ("cross", FALSE)}),
        ("nodules", {("ring", AGREEMENT), ("cross", AGREEMENT), ("ring", MISSED), *LEFT_AND_FALSE}),
        ("polyps", {("box", AGREEMENT), ("box", MISSED), ("box", FALSE)}),
        ("tumours", {("box", AGREEMENT), ("box", FALSE)}),
        ("organ", {("box", AGREEMENT), ("box", FALSE)}),
        ("apex", {("ring", AGREEMENT), ("cross", FALSE)}),
    ],
)
def test_hits_misses_and_false_ones_have_their_colours(of_declared, task, expected):
    """Each is drawn once."""
    found = [(one.shape, one.colour) for one in drawn_of(of_declared, task, "a").drawn]
    assert sorted(found) == sorted(expected)


def test_sizes_numbers_and_joins_of_what_is_drawn(of_declared):
    rings = [one for one in drawn_of(of_declared, "nodules", "a").drawn if one.shape == "ring"]
    (ring,) = (one for one in rings if one.colour == AGREEMENT)
    assert (ring.lower, ring.upper) == ((-4, -4, -4), (4, 4, 4))
    found = drawn_of(of_declared, "skull", "c")
    assert [(one.shape, one.colour) for one in found.drawn] == [("ring", AGREEMENT)] * 2 + [
        ("cross", FALSE)
    ] * 2
    assert [one.label for one in found.drawn] == ["1", "2", "", ""]
    assert found.joined == (((30, 32), (30, 30)), ((70, 32), (70, 30)))
    assert (found.surroundings, found.in_pixels, found.axes) == (True, True, 2)
    assert drawn_of(of_declared, "apex", "a").axes == 3
    assert not drawn_of(of_declared, "apex", "a").in_pixels
    assert drawn_of(of_declared, "cells", "c") is None


def places(picture, colour):
    """Return the extent of a colour in a picture: left, right, top, bottom; None without it."""
    rows, columns = np.nonzero((np.asarray(picture) == ImageColor.getrgb(colour)).all(axis=2))
    return (columns.min(), columns.max(), rows.min(), rows.max()) if len(rows) else None


def point(shape, colour, *at, label=""):
    return Drawn(shape, at, at, colour, label)


def test_boxes_stand_in_the_whole_image():
    boxes = (Drawn("box", (10, 20), (30, 40), MISSED), Drawn("box", (-50, 60), (20, 90), FALSE))
    picture = object_panels(DrawnObjects(boxes), (100, 150), None)
    assert picture.size == (300, 200)  # two pixels for one
    assert places(picture, MISSED) == (20, 60, 40, 80)
    assert places(picture, FALSE)[0:2] == (0, 40)  # cut off at the image's border


def test_a_landmark_is_shown_with_its_surroundings():
    found = DrawnObjects(
        (point("ring", AGREEMENT, 50.0, 40.0), point("cross", FALSE, 60.0, 40.0)),
        (((60.0, 40.0), (50.0, 40.0)),),
        surroundings=True,
    )
    picture = object_panels(found, (100, 100), None)
    # Eight pixels around the points are shown: columns 42 to 69.
    left, right, *_ = places(picture, FALSE)
    assert (left + right) / 2 == 300 * (60 - 42) / 27
    assert places(picture, "#ffffff") is not None


def test_photographs_and_numbers():
    photograph = np.full((100, 100, 3), (200, 100, 50), np.uint8)
    picture = object_panels(DrawnObjects((point("cross", FALSE, 5.0, 5.0),)), (100, 100), photograph)
    assert picture.getpixel((150, 150)) == (200, 100, 50)
    one = DrawnObjects((point("ring", AGREEMENT, 50, 50),))
    numbered = DrawnObjects((point("ring", AGREEMENT, 50, 50, label="1"),))
    first, second = (np.asarray(object_panels(found, (100, 100), None)) for found in (one, numbered))
    rows, columns = np.nonzero((first != second).any(axis=2))
    assert columns.min() > 150
    assert columns.max() < 180
    assert rows.max() < 170


def test_positions_in_millimetres_need_no_image():
    found = DrawnObjects(
        (point("ring", MISSED, -500.0, 3.0), point("cross", FALSE, 500.0, 3.0)), in_pixels=False
    )
    picture = object_panels(found, (0, 0), None)
    assert picture.size == (300, 300)
    assert picture.getpixel((0, 0)) == BACKGROUND
    assert places(picture, MISSED)[1] < 60 < 240 < places(picture, FALSE)[0]


def test_three_axes_are_seen_along_each_and_z_points_up():
    found = DrawnObjects(
        (point("ring", AGREEMENT, 0, 0, 0), point("cross", FALSE, 0, 0, 10)), in_pixels=False
    )
    picture = object_panels(found, (0, 0), None)
    assert picture.size == (3 * 300 + 2 * 6, 300)
    along_z, along_y, along_x = (picture.crop((at, 0, at + 300, 300)) for at in (0, 306, 612))
    assert places(along_z, FALSE)[2] > 130  # both in the middle
    for view in (along_y, along_x):
        assert places(view, FALSE)[3] < places(view, AGREEMENT)[2]


EMPTY = Crop(np.zeros((0, 0, 0), bool), (0, 0, 0))


def colours(picture):
    """Return the colours of a picture and how many pixels each has."""
    values, counts = np.unique(np.asarray(picture).reshape(-1, 3), axis=0, return_counts=True)
    return {tuple(value): count for value, count in zip(values.tolist(), counts.tolist(), strict=True)}


def rgb(colour):
    return ImageColor.getrgb(colour)


def block(top, left, size=8):
    return Crop(np.ones((1, size, size), bool), (0, top, left))


@pytest.mark.parametrize(
    ("predicted", "reference", "shown"),
    [
        (block(10, 14), block(10, 10), {AGREEMENT, MISSED, FALSE}),
        (block(10, 10), block(10, 10), {AGREEMENT}),
        (EMPTY, block(10, 10), {MISSED}),
    ],
    ids=["both", "perfect", "missed"],
)
def test_agreement_missed_and_false_have_their_colours(predicted, reference, shown):
    found = colours(region_panels([ComparedStructure("cup", predicted, reference, (1, 60, 60))], None))
    assert {rgb(AGREEMENT), rgb(MISSED), rgb(FALSE)} & set(found) == set(map(rgb, shown))
    # Missed and false parts are as wide as each other, where there are both.
    assert FALSE not in shown or found[rgb(MISSED)] == found[rgb(FALSE)]


def test_a_photograph_is_seen_around_and_through_the_regions():
    photograph = np.full((60, 60, 3), (200, 100, 50), np.uint8)
    cup = ComparedStructure("cup", block(10, 10), block(10, 10), (1, 60, 60))
    found = colours(region_panels([cup], photograph))
    assert (200, 100, 50) in found
    mixed = tuple(
        round(0.45 * own + 0.55 * over) for own, over in zip((200, 100, 50), rgb(AGREEMENT), strict=True)
    )
    assert mixed in found


def solid(predicted, reference, spacing=None):
    masks = (Crop(mask, (0, 0, 0)) for mask in (predicted, reference))
    return ComparedStructure("cyst", *masks, reference.shape, spacing)


def test_a_volume_is_cut_where_it_differs_most_on_the_original():
    reference = np.zeros((10, 20, 30), bool)
    reference[:, 5:15, 5:25] = True
    predicted = reference.copy()
    predicted[4, 5:15, 5:25] = False  # one plane is missed
    picture = solid_panels(solid(predicted, reference, (0.2, 0.1, 0.1)))
    found = colours(picture.crop((0, 0, 300, 200)))  # the plane of the scan
    assert rgb(MISSED) in found
    assert rgb(AGREEMENT) not in found
    # Planes across y are 10 · 0.2 mm high and 30 · 0.1 mm wide.
    assert picture.width == 300 + 6 + 300 + 6 + 300
    reference[3:6, 5:15, 5:25] = True
    original = np.full(reference.shape, 77, np.uint8)
    found = colours(solid_panels(solid(reference, reference), original))
    assert (77, 77, 77) in found
    assert rgb(AGREEMENT) in found  # where nothing differs, the planes go through the structure


def field_of_masks(**options):
    fields = fields_of(CHALLENGE.tasks(RefugeOptions(**options)))
    return next(field for field in fields if field.name == "segmentation")


def mask(rows_of_cup, rows_of_disc):
    positions = np.zeros((1, 12, 10), np.uint8)
    positions[0, 2 : 2 + rows_of_disc, 2:6] = 2
    positions[0, 3 : 3 + rows_of_cup, 3:5] = 1
    return LabelMapValue(Crop(positions, (0, 0, 0)), positions.shape, None)


PREDICTED, REFERENCE = mask(2, 6), mask(4, 8)


def test_sizes_and_ratios_of_prediction_and_reference():
    found = list(sizes(field_of_masks(), CaseForm("a", 10, 12), PREDICTED, REFERENCE))
    assert found == [
        ComparedNumber("optic cup", 4, 8, "pixels"),
        ComparedNumber("optic disc", 24, 32, "pixels"),
    ]
    (found,) = measurements(field_of_masks(vertical_diameter="extent"), PREDICTED, REFERENCE)
    assert found == ComparedNumber("Vertical ratio of optic cup to optic disc", 2 / 6, 4 / 8)


def labelled(dimensions):
    """Return a field of label maps with two labels."""
    kind = LabelMap({1: "liver", 2: "tumour"}, dimensions=dimensions)
    files = Files("maps", (".nii.gz",))
    return Field("maps", "Maps", kind, files, Reference(kind, files))


def value(positions, corner, shape, spacing=None):
    return LabelMapValue(Crop(np.array(positions, np.uint8), corner), shape, spacing)


@pytest.mark.parametrize(
    ("dimensions", "columns", "unit", "voxel"),
    [(2, {}, "pixels", 1), (3, {"depth": "4", "spacing_mm": "0.5 0.5 3"}, "mm³", 0.75)],
)
def test_each_label_is_a_region_with_its_size(dimensions, columns, unit, voxel):
    shape = (4, 5, 6) if dimensions == 3 else (1, 5, 6)
    predicted = value([[[1, 2]]], (0, 2, 3), shape)
    reference = value([[[1, 2], [2, 2]]], (0, 2, 3), shape)
    field, case = labelled(dimensions), CaseForm("a", 6, 5, columns)
    assert regions_in(field).dimensions == dimensions
    assert list(sizes(field, case, predicted, reference)) == [
        ComparedNumber("liver", voxel, voxel, unit),
        ComparedNumber("tumour", voxel, 3 * voxel, unit),
    ]
    for one in structures(field, case, predicted, reference):
        assert [mask.shape for mask in one.whole] == [shape] * 2
