"""Instance maps by declared metrics, against loops over objects, and through a whole phase."""

import math

import numpy as np
import pytest
from scipy import ndimage
from sklearn.metrics import f1_score, r2_score

from evaluation.challenges.declared import instances
from evaluation.challenges.declared.instance_maps import InstanceMapField
from evaluation.challenges.declared.maps import LabelMapField
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.io.kinds.instance_map import InstanceMapValue
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.crops import Crop
from evaluation.metrics.matching import in_order
from test.challenges.declared.images import figures_of, volume_phase, write_images
from test.oracles import checked

LABELS = {"1": "a", "2": "b"}
FIELD = InstanceMapField(
    kind="instance_map", labels=LABELS, ranges={"1": [1, 99], "2": [100, 999]}, dimensions=2
)


def value_of(numbers):
    objects, listed = in_order(numbers[np.newaxis])
    classes = np.where(listed < 100, 1, 2).astype(np.uint8)
    positions = np.append(np.uint8(0), classes)[objects]
    return InstanceMapValue(
        Crop(positions, (0, 0, 0)), objects.shape, None, objects, listed.astype(np.uint32), classes
    )


def drawn(seed):
    """Return a reference, and a prediction that is moved, lacks some objects and has others."""
    random = np.random.default_rng(seed)
    true = np.zeros((40, 44), np.uint32)
    for number in (1, 2, 3, 4, 5, 100, 101, 102):
        y, x = random.integers(0, 36, 2)
        true[y : y + random.integers(3, 7), x : x + random.integers(3, 7)] = number
    made = np.roll(true, 1, int(random.integers(0, 2)))
    made[made == 2] = 0
    made[random.integers(0, 30) :, -3:][:4] = 103
    return made, true


def row_of(table, made, true, field=FIELD):
    comparison = FieldComparison("map", value_of(made), {"map": value_of(true)})
    return table.measure("figure", "map", field).row(comparison)


def masks(numbers, low, high):
    return [numbers == number for number in np.unique(numbers) if low <= number < high and number]


def quality(made, true, threshold=0.5):
    """Return TP, FP, FN and the sum of IoU of a class."""
    ious = [(one & other).sum() / (one | other).sum() for one in made for other in true]
    matched = [iou for iou in ious if iou > threshold]
    return len(matched), len(made) - len(matched), len(true) - len(matched), sum(matched)


@pytest.mark.parametrize(("neighbours", "objects"), [("all", 1), ("faces", 2)])
def test_which_neighbours_join_the_objects_of_a_label_map(neighbours, objects):
    field = LabelMapField(kind="label_map", labels={"1": "a"})
    both, one = np.zeros((2, 3, 6, 6), np.uint8)
    both[1, 2, 2] = both[1, 3, 3] = one[1, 2, 2] = 1
    made, true = (LabelMapValue(Crop(of, (0, 0, 0)), of.shape, (1.0, 1.0, 1.0)) for of in (one, both))
    comparison = FieldComparison("map", made, {"map": true})
    counts = instances.CountDetermination(metric="count_determination", neighbours=neighbours)
    row = counts.measure("figure", "map", field).row(comparison)
    assert sorted(row.values()) == sorted([1, objects])
    # Of two objects one is found exactly, of one object a half.
    table = instances.MatchedSurfaceDistance(
        metric="matched_surface_distance", neighbours=neighbours, worst=9.0, missed="exclude"
    )
    (found,) = table.measure("figure", "map", field).row(comparison).values()
    assert (found == 0) == (objects == 2)


ANNOTATED = """\
[fields.map]
kind = "instance_map"
labels = { 1 = "cell" }
annotators = ["A", "B"]
[tasks.scans.metrics]
recognition_quality = {}
best = { metric = "recognition_quality", over_annotators = "best" }
aggregated_jaccard = {}
"""


def test_figures_of_instances_are_over_all_annotators(tmp_path):
    true = np.zeros((3, 12, 12), np.uint16)
    true[:, 1:4, 1:4], true[:, 6:9, 6:9] = 1, 2
    other = np.where(true == 1, 7, 0).astype(np.uint16)
    write_images(tmp_path / "phase" / "map" / "B", {"a": other})
    phase = volume_phase(tmp_path, ANNOTATED, {"a": true}, name="map/A")
    # All that A marked is found; of it B marked one of two, equally large.
    found = figures_of(phase, tmp_path, {"a": true})
    assert found == pytest.approx(
        {"recognition_quality": (1 + 2 / 3) / 2, "best": 1, "aggregated_jaccard": (1 + 1 / 2) / 2}, abs=1e-4
    )


@checked(aggregated_jaccard="by hand", matched_dice="sklearn.metrics.f1_score")
@pytest.mark.parametrize("seed", range(5))
def test_unions_and_matched_dice_by_sets_of_voxels(seed):
    made, true = drawn(seed)
    made[made >= 100], true[true >= 100] = 0, 0
    both, either, used, dices = 0, 0, set(), []
    found = masks(made, 1, 100)
    for other in masks(true, 1, 100):
        ious = [(one & other).sum() / (one | other).sum() for one in found]
        best = int(np.argmax(ious))
        if ious[best] > 0:
            used.add(best)
            both += (found[best] & other).sum()
            either += (found[best] | other).sum()
            dices.append(f1_score(other.ravel(), found[best].ravel()))
        else:
            either += other.sum()
            dices.append(0.0)
    either += sum(one.sum() for number, one in enumerate(found) if number not in used)
    row = row_of(instances.AggregatedJaccardIndex(metric="aggregated_jaccard"), made, true)
    assert row["figure_a"] == pytest.approx(both / either)
    assert row["figure_b"] == 1
    row = row_of(instances.MatchedDice(metric="matched_dice"), made, true)
    assert row["figure_a"] == pytest.approx(np.mean(dices))
    assert math.isnan(row["figure_b"])
    left = [dice for dice in dices if dice]
    row = row_of(instances.MatchedDice(metric="matched_dice", missed="exclude"), made, true)
    assert row["figure_a"] == pytest.approx(np.mean(left))


@checked(matched_surface_distance="scipy.ndimage.distance_transform_edt")
def test_surfaces_of_instances_and_of_components_alike():
    true = np.zeros((30, 30), np.uint32)
    true[3:9, 4:10], true[15:25, 15:22] = 1, 2
    made = np.roll(true, 2, 1)
    apart = []
    for number in (1, 2):
        outlines = [one & ~ndimage.binary_erosion(one) for one in (made == number, true == number)]
        distances = [ndimage.distance_transform_edt(~outline) for outline in outlines]
        apart += [np.concatenate([distances[1][outlines[0]], distances[0][outlines[1]]]).mean()]
    table = instances.MatchedSurfaceDistance(metric="matched_surface_distance")
    assert row_of(table, made, true)["figure_a"] == pytest.approx(np.mean(apart))
    field = LabelMapField(kind="label_map", labels={"1": "a"}, dimensions=2)
    values = [
        LabelMapValue(Crop((numbers[np.newaxis] > 0).view(np.uint8), (0, 0, 0)), (1, 30, 30), None)
        for numbers in (made, true)
    ]
    comparison = FieldComparison("map", values[0], {"map": values[1]})
    assert table.measure("figure", "map", field).row(comparison)["figure"] == pytest.approx(np.mean(apart))


@pytest.mark.parametrize(("worst", "figure"), [(9.0, (2 + 9) / 2), (1.5, 1.5)])
def test_an_object_that_matches_nothing_has_the_worst_distance_and_no_other_has_more(worst, figure):
    """A column is two pixels away from its prediction, which overlaps it by its ends alone; one is missed."""
    made, true = np.zeros((2, 30, 30), np.uint32)
    true[4:10, 4:7], true[20:24, 20:24] = 1, 2
    made[2:8, 4:7] = 1
    table = instances.MatchedSurfaceDistance(metric="matched_surface_distance", worst=worst, percentile=100)
    assert row_of(table, made, true)["figure_a"] == pytest.approx(figure)
    left = table.model_copy(update={"missed": "exclude"})
    assert row_of(left, made, true)["figure_a"] == pytest.approx(min(2, worst))


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize(("away", "counts"), [(1, False), (2, True)])
def test_objects_within_the_border_of_a_side_do_not_count(turn, away, counts):
    """The image is no square."""
    image = np.zeros((12, 16), np.uint32) if turn % 2 == 0 else np.zeros((16, 12), np.uint32)
    image[away : away + 3, 5:8] = 1
    image[6:8, 6:8] = 2
    field = FIELD.model_copy(update={"border": 2})
    measure = instances.CountDetermination(metric="count_determination").measure("figure", "map", field)
    value = value_of(np.ascontiguousarray(np.rot90(image, turn)))
    row = measure.row(FieldComparison("map", value, {"map": value}))
    assert row["figure_a_true"] == row["figure_a_predicted"] == 1 + counts


@checked(count_determination="sklearn.metrics.r2_score")
def test_counts_over_cases():
    rows, made, true = [], [], []
    for seed in range(6):
        random = np.random.default_rng(seed)
        maps = [np.zeros((1, 40), np.uint32) for _ in range(2)]
        for one, counts in zip(maps, (made, true), strict=True):
            count = int(random.integers(1, 9))
            counts.append(count)
            one[0, : 2 * count : 2] = np.arange(1, count + 1)
        rows.append(row_of(instances.CountDetermination(metric="count_determination"), *maps))
    measure = instances.CountDetermination(metric="count_determination").measure("figure", "map", FIELD)
    cases = WeightedCases(CaseTable(list("abcdef"), rows), np.ones((1, 6)))
    assert measure.metrics[1].estimator.values(cases) == pytest.approx(r2_score(true, made))
    # No case has an object of the other class, so that its numbers do not differ.
    assert measure.metrics[0].estimator.values(cases) == pytest.approx(r2_score(true, made))
    worst = measure.worst({"map": value_of(np.array([[1, 0, 2, 0, 3]], np.uint32))})
    assert (worst["figure_a_predicted"], worst["figure_a_true"]) == (7, 3)
    assert (worst["figure_b_predicted"], worst["figure_b_true"]) == (1, 0)
