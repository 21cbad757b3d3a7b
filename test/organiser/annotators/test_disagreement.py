"""Cases on which annotators disagree, by hand."""

import csv

import numpy as np
import pytest

from evaluation.core.fault import PhaseError
from evaluation.io.grey_images import read_grey
from evaluation.io.kinds.boxes import Boxes, BoxList
from evaluation.io.kinds.masks import LabelMask
from evaluation.io.kinds.number import Label, Number
from evaluation.io.kinds.points import Point, PointInImage
from evaluation.io.tables import write_csv
from evaluation.metrics.crops import crop
from evaluation.organiser.annotators.agreement import FieldAgreement, most_disputed
from evaluation.organiser.annotators.annotations import open_annotators
from evaluation.organiser.annotators.combine import CombinationRules
from evaluation.organiser.annotators.reference import fuse_annotators, write_reference_report
from test.faults import faulted
from test.organiser.annotators.people import seven_graders

MASK = LabelMask({0: "optic cup", 128: "optic disc"}, 255, nested="column_count")


def mask(*rows: str):
    signs = {".": 255, "d": 128, "c": 0}
    return crop(np.array([[signs[sign] for sign in row] for row in rows], dtype=np.uint8), 255)


def distances(kind, first, second):
    found = FieldAgreement("field", kind).add("A", {"x": first, "y": second})
    return {one.measure: one.mean for one in found}


def test_distances_by_kind():
    # Disc: 3 and 4 pixels, 3 shared; cup: 1 and none.
    assert distances(MASK, mask("dcd."), mask("dddd")) == {
        "1 − optic disc Dice": pytest.approx(1 - 6 / 7),
        "1 − optic cup Dice": 1.0,
        "optic disc present": 0.0,
        "optic cup present": 1.0,
    }
    # One of two boxes of each is shared, by 8 of 10 rows; the others are apart.
    boxes = BoxList(("polyp",), with_confidence=False, inclusive_corners=False)
    one, other = (
        Boxes(np.array([[0, 1, 0, 0, 10, height], [0, 1, place, 50, 60, 60]], dtype=float))
        for height, place in ((10, 40), (8, 55))
    )
    assert distances(boxes, one, other) == {
        "1 − boxes F1": 0.5,
        "1 − boxes IoU": pytest.approx(0.2),
        "polyp present": 0.0,
    }
    assert distances(Label(), 0, 1) == {"label": 1.0}
    assert distances(Number(), 0.25, 1.0) == {"difference": 0.75}
    assert distances(PointInImage(), Point(0, 0), Point(3, 4)) == {"distance in pixels": 5.0}


def test_the_most_disputed_case_comes_first_with_who_said_what():
    collected = FieldAgreement("risk", Label())
    found = collected.add("A", {"x": 1, "y": 1, "z": 1})
    found += collected.add("B", {"x": 1, "y": 0, "z": 1})
    found += collected.add("C", {"x": 1, "y": 0})
    first, second = most_disputed(found)  # all agree on A
    assert (first.case, first.mean, first.values, first.farthest) == ("C", 1.0, 2, "")
    assert first.votes == "0: y; 1: x"
    # Two of three pairs differ; y differs from both others, x and z from one.
    assert (second.case, second.mean, second.largest) == ("B", pytest.approx(2 / 3), 1.0)
    assert (second.farthest, second.votes) == ("y", "1: x z; 0: y")
    points = {"x": Point(0, 0), "y": Point(0, 1), "z": Point(0, 9)}
    (one,) = FieldAgreement("fovea", PointInImage()).add("A", points)
    assert (one.mean, one.largest, one.farthest) == (pytest.approx((1 + 9 + 8) / 3), 9.0, "z")


def test_the_adjudication_list_of_a_reference(tmp_path):
    given = seven_graders(tmp_path / "in", graders=("a", "b", "c"))
    fused = fuse_annotators(open_annotators(given.folder), tmp_path / "phase", CombinationRules(), workers=0)
    write_reference_report(tmp_path / "report", fused, CombinationRules())
    with (tmp_path / "report" / "adjudication.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    labelled = {row["case"] for row in rows if row["field"] == "glaucoma_risk"}
    said = {
        name: {values["glaucoma_risk"] for values in of_graders.values()}
        for name, of_graders in given.said.items()
    }
    assert labelled == {name for name, labels in said.items() if len(labels) == 2}
    discs = [float(row["mean"]) for row in rows if row["measure"] == "1 − optic disc Dice"]
    assert len(discs) == len(given.cases)
    assert discs == sorted(discs, reverse=True)


def dropping(tmp_path, *rows: tuple[str, ...]):
    given = seven_graders(tmp_path / "in", graders=("a", "b", "c"))
    write_csv(
        given.folder / "dropped.csv", ["reader", "name", "field", "region"], [list(row) for row in rows]
    )
    return given


def test_one_region_of_a_mask_is_dropped(tmp_path):
    given = dropping(tmp_path, ("c", "V0001", "segmentation", "optic cup"))
    fused = fuse_annotators(open_annotators(given.folder), tmp_path / "phase", CombinationRules(), workers=0)
    data = (tmp_path / "phase" / "masks" / "V0001.png").read_bytes()
    image = read_grey(memoryview(data), "V0001.png", None)
    masks = {grader: values["segmentation"] for grader, values in given.said["V0001"].items()}
    disc = np.sum([one != 255 for one in masks.values()], axis=0) >= 2
    # Two graders vote for the cup: both must agree, a tie being background.
    cup = (masks["a"] == 0) & (masks["b"] == 0)
    assert not np.array_equal(cup, np.sum([one == 0 for one in masks.values()], axis=0) >= 2)
    np.testing.assert_array_equal(image, np.where(cup, 0, np.where(disc, 128, 255)))
    agreement = {(a.measure, a.first, a.second): a.cases for a in fused.agreement}
    cases = len(given.cases)
    assert agreement["mean optic cup Dice", "a", "c"] == cases - 1
    assert agreement["mean optic disc Dice", "a", "c"] == cases
    assert agreement["mean optic cup Dice", "a", "b"] == cases
    # The annotator's mask of that image is incomplete, and is not scored.
    scored = {(s.annotator, s.metric): s.cases for s in fused.scores}
    assert (scored["c", "dice_disc"], scored["a", "dice_disc"]) == (cases - 1, cases)
    assert fused.dropped == 1


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("a", "V0001", "segmentation", "macula")], ("dropped.csv", "'macula'")),
        ([("a", "V0001", "fovea", "optic cup")], ("dropped.csv", "'optic cup'")),
        ([("a", "V0001", "", "optic cup")], ("dropped.csv", "nothing")),
        (
            [(grader, "V0001", "segmentation", "optic cup") for grader in "abc"],
            ("V0001, segmentation, optic cup", "none"),
        ),
    ],
)
def test_faults_of_dropped_regions(tmp_path, rows, told):
    given = dropping(tmp_path, *rows)
    with faulted(PhaseError, *told):
        fuse_annotators(open_annotators(given.folder), tmp_path / "phase", CombinationRules(), workers=0)
