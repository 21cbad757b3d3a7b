"""Values of every kind combined: by hand, against SimpleITK, and whatever the order."""

import csv
import itertools
import math

import numpy as np
import pytest
import SimpleITK

from evaluation.core.fault import PhaseError
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.boxes import Boxes, BoxesInSpace, BoxList
from evaluation.io.kinds.classes import LABEL, ClassLabel, ClassProbabilities, FlagSet
from evaluation.io.kinds.label_map import LabelMap
from evaluation.io.kinds.objects import Attributes, Space
from evaluation.io.kinds.points import PointInImage, point_at
from evaluation.io.kinds.volume import ConfidenceVolume, MultilabelMask
from evaluation.io.volume_header import UPRIGHT, Geometry, geometry_columns
from evaluation.metrics.crops import Crop
from evaluation.organiser.annotators.annotations import open_annotators
from evaluation.organiser.annotators.combine import CombinationRules, combine, is_combinable, majority_vote
from evaluation.organiser.annotators.ensemble import write_ensemble
from evaluation.organiser.annotators.reference import fuse_annotators
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import declared_phase, write_table
from test.faults import faulted
from test.io.memory import read_image

CASE = CaseForm("V01", 4, 3)
FOREGROUND = CombinationRules(tie="foreground")


def test_labels():
    assert combine(LABEL, [1, 1, 0], CASE, CombinationRules()) == 1
    assert combine(LABEL, [1, 0], CASE, CombinationRules()) == 0
    assert combine(LABEL, [1, 0], CASE, FOREGROUND) == 1


def test_flags_are_voted_by_those_who_give_them():
    given = [(True, True, None, None), (True, False, None, False), (False, None, True, None)]
    kind = FlagSet(("a", "b", "c", "d"))
    assert combine(kind, given, CASE, CombinationRules()) == (True, False, True, False)
    assert combine(kind, given, CASE, FOREGROUND) == (True, True, True, False)
    assert combine(kind, [(None,) * 4], CASE, CombinationRules()) == (None,) * 4


def test_classes_that_overlap_are_voted_one_by_one():
    kind = MultilabelMask(("one", "two"))
    square, dot = np.ones((2, 2), bool), np.ones((1, 1), bool)
    nothing = Crop(np.zeros((0, 0), bool), (0, 0))
    annotators = [
        (Crop(square, (0, 0)), Crop(dot, (2, 3))),
        (Crop(dot, (1, 1)), Crop(dot, (2, 3))),
        (nothing, nothing),
    ]
    found = combine(kind, annotators, CASE, CombinationRules())
    expected = np.zeros((2, 3, 4), bool)
    expected[0, 1, 1] = expected[1, 2, 3] = True
    np.testing.assert_array_equal(kind.writable(found, CASE), expected)


def test_confidences_are_averaged_voxel_by_voxel():
    geometry = Geometry((2, 3, 4), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), UPRIGHT)
    case = CaseForm("V01", 4, 3, geometry_columns(geometry))
    first, second = np.zeros((2, 3, 4), np.float32), np.zeros((2, 3, 4), np.float32)
    first[0, 0, 0], second[0, 2, 3], second[0, 0, 0] = 0.25, 1.0, 0.75
    kind, given = ConfidenceVolume(), [tuple(Crop(plane, (0, 0)) for plane in one) for one in (first, second)]
    for order in (given, given[::-1]):
        found = kind.writable(combine(kind, order, case, CombinationRules()), case)
        np.testing.assert_allclose(found.values, (first + second) / 2)
        assert found.geometry == geometry


class Unknown(Kind):
    """A kind of which nothing is known here."""

    def read(self, source, case, files):
        return None

    def describe(self):
        return ""


def test_a_kind_that_is_not_registered_is_not_combined():
    assert not is_combinable(Unknown())
    with pytest.raises(TypeError, match="Unknown cannot be combined"):
        combine(Unknown(), [None], CASE, CombinationRules())


ALWAYS, MAY_BE_INVISIBLE = PointInImage(), PointInImage(may_be_invisible=True)


@pytest.mark.parametrize(
    ("kind", "given_points", "rules", "expected"),
    [
        (ALWAYS, [(0, 0), (20, 40)], CombinationRules(), (10, 20)),
        # Two of three see it: the mean of these two.
        (MAY_BE_INVISIBLE, [(10, 20), (0, 0), (20, 40)], CombinationRules(), (15, 30)),
        (MAY_BE_INVISIBLE, [(10, 20), (0, 0), (0, 0)], CombinationRules(), (0, 0)),
        (MAY_BE_INVISIBLE, [(10, 20), (0, 0)], CombinationRules(), (0, 0)),
        (MAY_BE_INVISIBLE, [(10, 20), (0, 0)], FOREGROUND, (10, 20)),
        (MAY_BE_INVISIBLE, [(0, 0), (0, 0)], FOREGROUND, (0, 0)),
        # On the left border, and visible.
        (MAY_BE_INVISIBLE, [(0, 7), (0, 9)], CombinationRules(), (0, 8)),
    ],
)
def test_points(kind, given_points, rules, expected):
    found = combine(kind, [point_at(*point) for point in given_points], CASE, rules)
    assert tuple(found.positions[0]) == expected


NESTED = LabelMap({0: "cup", 128: "disc"}, 255, dimensions=2, nested="column_count")
APART = LabelMap({1: "one", 2: "two"}, 0, dimensions=2)


def combine_label_masks(kind, masks, case, rules):
    values = [read_image(kind, mask) for mask in masks]
    return kind.writable(combine(kind, values, case, rules), case).values[0]


SMALL, DOT = CaseForm("V1", 5, 4), CaseForm("V1", 1, 1)


@pytest.mark.parametrize("annotators", [1, 3, 5, 7])
def test_majority_is_simpleitks_label_voting(annotators):
    votes = np.random.default_rng(annotators).random((annotators, 4, 30)) < 0.5
    images = [SimpleITK.GetImageFromArray(vote.astype(np.uint8)) for vote in votes]
    expected = SimpleITK.GetArrayFromImage(SimpleITK.LabelVoting(images, 255))
    np.testing.assert_array_equal(majority_vote(votes), expected.astype(bool))


def test_of_regions_that_exclude_each_other_the_last_has_a_tied_pixel():
    masks = [np.array([[value]], np.uint8) for value in (1, 2)]
    assert combine_label_masks(APART, masks, DOT, CombinationRules()).tolist() == [[0]]
    assert combine_label_masks(APART, masks, DOT, FOREGROUND).tolist() == [[2]]


@pytest.mark.parametrize("annotators", [1, 2, 3, 4])
def test_equal_annotators_are_reproduced(annotators):
    (image,) = drawn(annotators, 1)
    found = combine_label_masks(NESTED, [image] * annotators, SMALL, CombinationRules())
    np.testing.assert_array_equal(found, image)


@pytest.mark.parametrize("annotators", [2, 3, 4])
@pytest.mark.parametrize("rules", [CombinationRules(), FOREGROUND], ids=["background", "foreground"])
def test_regions_are_the_votes_in_any_order(annotators, rules):
    images = drawn(annotators, annotators)
    found = combine_label_masks(NESTED, images, SMALL, rules)
    for region in ([0], [0, 128]):
        votes = majority_vote(np.isin(images, region), rules.tie_is_foreground)
        np.testing.assert_array_equal(np.isin(found, region), votes)
    for order in itertools.permutations(images):
        np.testing.assert_array_equal(combine_label_masks(NESTED, order, SMALL, rules), found)


def drawn(seed, images):
    return np.random.default_rng(seed).choice([0, 128, 255], (images, 4, 5)).astype(np.uint8)


SQUARE = CaseForm("E1", 100, 100)
LESIONS = ("BE", "polyp")
SCORED = Attributes(LESIONS, with_probability=True)
DETECTED = BoxList(attributes=SCORED, inclusive_corners=False)
ANNOTATED = BoxList(attributes=Attributes(LESIONS), inclusive_corners=False)


def boxes(*rows):
    return Boxes(np.array(rows, dtype=np.float64).reshape(-1, 6))


def combined(kind, *given, **rules):
    return combine(kind, [boxes(*rows) for rows in given], SQUARE, CombinationRules(**rules)).rows.tolist()


def test_submissions_are_fused_class_by_class():
    found = combined(
        DETECTED,
        [(0, 0.9, 0, 0, 10, 10), (1, 0.6, 0, 0, 10, 10)],
        [(0, 0.3, 0, 0, 10, 14)],
        [(0, 0.6, 50, 50, 60, 60)],
    )
    assert found == [
        # 0.6 · 2 of 3, height (0.9 · 10 + 0.3 · 14) / 1.2; then 0.6 · 1 of 3 twice, by class.
        [0, pytest.approx(0.4), 0, 0, 10, 11],
        [0, pytest.approx(0.2), 50, 50, 60, 60],
        [1, pytest.approx(0.2), 0, 0, 10, 10],
    ]
    assert combined(DETECTED, [], []) == []
    assert combined(ANNOTATED, [], []) == []


def test_suppression_keeps_confidences_and_the_box_on_which_most_agree():
    low, high, other = (0, 0.9, 0, 0, 10, 10), (0, 0.3, 0, 0, 10, 14), (1, 0.2, 0, 0, 10, 14)
    assert combined(DETECTED, [low], [high, other], boxes="nms") == [list(low), list(other)]
    assert len(combined(DETECTED, [low], [high], boxes="nms", box_iou=0.8)) == 2
    narrow, middle, wide = ((0, 1, 0, 0, 10, height) for height in (10, 12, 15))
    # Overlaps: narrow and middle 10/12, middle and wide 12/15, narrow and wide 10/15.
    assert combined(ANNOTATED, [wide], [narrow], [middle], boxes="nms") == [list(middle)]


def test_both_corners_count_where_the_phase_says_so():
    given = [(0, 0.5, 0, 0, 1, 0)], [(0, 0.5, 1, 0, 2, 0)]  # 1 pixel of 3
    both = BoxList(attributes=SCORED)
    assert len(combined(both, *given, box_iou=0.3)) == 1
    assert len(combined(DETECTED, *given, box_iou=0.3)) == 2


def test_annotators_vote_on_a_box():
    three = [
        [(0, 1, 0, 0, 10, 10), (1, 1, 40, 40, 50, 50)],
        [(0, 1, 0, 0, 10, 13)],
        [(0, 1, 50, 50, 60, 60)],
    ]
    assert combined(ANNOTATED, *three) == [[0, 1, 0, 0, 10, 11.5]]
    # One of two is no majority, unless ties are foreground.
    assert combined(ANNOTATED, *three[::2]) == []
    assert len(combined(ANNOTATED, *three[::2], tie="foreground")) == 3
    # They overlap by 10/14, and each is closest to that of the others.
    small, large = (0, 1, 0, 0, 10, 10), (0, 1, 0, 0, 10, 14)
    larger = (0, 1, 0, 0, 10, 15)
    found = combined(ANNOTATED, [small, large], [larger, small], [small])
    assert sorted(found) == [list(small), [0, 1, 0, 0, 10, 14.5]]
    # One annotator is no majority of three, however often the object was drawn.
    assert combined(ANNOTATED, [small, large, larger], [], []) == []


def test_no_more_boxes_than_a_submission_may_have():
    kind = BoxList(attributes=SCORED, most=2)
    rows = [(0, confidence, place, 0, place + 5, 5) for confidence, place in ((0.1, 0), (0.9, 20), (0.5, 40))]
    assert [row[1] for row in combined(kind, rows, rows)] == [0.9, 0.5]


def test_boxes_with_three_axes_and_single_boxes():
    space = Space(axes=3, unit="pixels")
    given = [np.array([[0, 0.5, 0, 0, 0, 2, 2, height]], dtype=np.float64) for height in (2, 3)]
    with_probability = BoxesInSpace(space, Attributes(with_probability=True))
    found = combine(with_probability, [Boxes(rows) for rows in given], SQUARE, CombinationRules())
    assert found.rows.tolist() == [[0, 0.5, 0, 0, 0, 2, 2, 2.5]]
    # Far apart, but there is exactly one box in every case.
    single = BoxesInSpace(Space(axes=2, unit="pixels"), single=True)
    apart = [boxes((0, 1, 0, 0, 10, 10)), boxes((0, 1, 40, 50, 60, 70))]
    assert combine(single, apart, SQUARE, CombinationRules()).rows.tolist() == [[0, 1, 20, 25, 35, 40]]


@pytest.mark.parametrize("method", ["wbf", "nms"])
@pytest.mark.parametrize("kind", [DETECTED, ANNOTATED], ids=["detected", "annotated"])
def test_the_order_does_not_matter_and_the_result_is_read_back(kind, method):
    rng = np.random.default_rng(3)

    class Files:
        def read(self, path, limit_bytes, may_be_empty=False):
            return memoryview(text)

    for _ in range(10):
        (x1, x2), (y1, y2) = (np.sort(rng.integers(0, 20, (2, 3, 4)), axis=0) for _ in range(2))
        confidence = rng.choice([0.3, 0.7], (3, 4)) if kind is DETECTED else np.ones((3, 4))
        given = np.stack([rng.integers(0, 2, (3, 4)), confidence, x1, y1, x2, y2], axis=-1).tolist()
        found = combined(kind, *given, boxes=method)
        assert combined(kind, *given[::-1], boxes=method) == found
        text = kind.write_file(boxes(*found), ".txt")
        assert kind.read(FileSource("e.txt"), SQUARE, Files()).rows.tolist() == found


SEVERITY = ClassLabel(("none", "mild", "severe"))
CASES, NAMED = ({key: ["a", "b", "c"]} for key in ("name", "case"))
GRADE = """\
[fields.grade]
kind = "class"
classes = ["none", "mild", "severe"]
excluded = ["ungradable"]

[tasks.grading]
metrics = ["accuracy"]
"""
PROBABILITIES = """\
[fields.grade]
kind = "class_probabilities"
classes = ["none", "mild", "severe"]

[tasks.grading]
metrics = ["macro_auc"]
"""


@pytest.mark.parametrize(
    ("votes", "first", "last"),
    [
        ([2, 1, 2], 2, 2),
        ([0, 1, 2, 1], 1, 1),
        ([0, 2], 0, 2),
        ([1], 1, 1),
        # Excluded only if more say so than name any class.
        ([math.nan, 1], 1, 1),
        ([math.nan, math.nan, 0, 1], math.nan, math.nan),
        ([math.nan], math.nan, math.nan),
    ],
)
def test_the_most_frequent_class(votes, first, last):
    for tie, expected in (("background", first), ("foreground", last)):
        rules = CombinationRules(tie=tie)
        found = combine(SEVERITY, votes, CASE, rules)
        assert found == expected or (math.isnan(found) and math.isnan(expected))
        assert repr(combine(SEVERITY, votes[::-1], CASE, rules)) == repr(found)


def mean_of(given):
    return combine(ClassProbabilities(("none", "mild", "severe")), given, CASE, CombinationRules())


def test_mean_probabilities():
    assert mean_of([(0.5, 0.25, 0.25), (0.0, 1.0, 0.0)]) == (0.25, 0.625, 0.125)
    third = (1 / 3, 1 / 3, 1 / 3)
    assert sum(mean_of([third] * 7)) == pytest.approx(1)
    assert mean_of([(1.0, 0.0)] * 3) == (1.0, 0.0)


def rows_of(path):
    with path.open(newline="") as file:
        return {row.pop("case", None) or row.pop("name"): row for row in csv.DictReader(file)}


def test_an_ensemble_averages_probabilities(tmp_path):
    cases = CASES | {"grade": ["none", "mild", "severe"]}
    folder = declared_phase(tmp_path / "phase", PROBABILITIES, cases)
    phase = load_phase(folder, scan(folder))
    for name, none in (("x", [1, 0.5, 0]), ("y", [0, 0.5, 0])):
        of_classes = {"none": none, "mild": [1 - share for share in none], "severe": [0, 0, 0]}
        write_table(tmp_path / name / "predictions.csv", NAMED | of_classes)
    folders = {name: tmp_path / name for name in "xy"}
    write_ensemble(phase.form, phase.tasks, folders, tmp_path / "ensemble", CombinationRules())
    (table,) = (tmp_path / "ensemble").iterdir()
    found = {name: (float(row["none"]), float(row["mild"])) for name, row in rows_of(table).items()}
    assert found == {"a": (0.5, 0.5), "b": (0.5, 0.5), "c": (0, 1)}


def test_annotators_vote_on_classes_and_on_leaving_a_case_out(tmp_path):
    folder = declared_phase(tmp_path / "annotations", GRADE, CASES)
    given = {
        "x": ["mild", "ungradable", "severe"],
        "y": ["mild", "ungradable", "none"],
        "z": ["none", "mild", "none"],
    }
    for name, grades in given.items():
        write_table(folder / "readers" / name / "predictions.csv", NAMED | {"grade": grades})
    fused = fuse_annotators(open_annotators(folder), tmp_path / "fused", CombinationRules(), workers=0)
    grades = {name: row["grade"] for name, row in rows_of(tmp_path / "fused" / "cases.csv").items()}
    assert grades == {"a": "mild", "b": "ungradable", "c": "none"}
    accuracy = {score.annotator: score.value for score in fused.scores if score.metric == "accuracy"}
    # Of the cases that enter and that the annotator did not leave out.
    assert accuracy == {"x": 0.5, "y": 1.0, "z": 0.5}
    kappas = {(a.measure, a.first, a.second): a.cases for a in fused.agreement}
    assert kappas["Cohen's kappa", "x", "y"] == 3


def test_probabilities_are_no_annotations(tmp_path):
    folder = declared_phase(tmp_path / "annotations", PROBABILITIES, CASES)
    (folder / "readers" / "x").mkdir(parents=True)
    with faulted(PhaseError, "Grade"):
        open_annotators(folder)
