"""Lesions through a phase, against components that SimpleITK finds."""

import math

import numpy as np
import pytest
import SimpleITK

from evaluation.challenges.declared.lesions import DetectedLesions, most_lesions
from evaluation.challenges.declared.maps import LabelMapField
from evaluation.core.field import Variant
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.challenges.declared.images import figures_of, volume_phase
from test.oracles import checked

VOXEL_MM3 = 0.25
SHAPE = (4, 7, 8)
METRICS = (
    "detected_lesions",
    "missed_lesions",
    "false_lesions",
    "lesion_f1",
    "lesion_count_difference",
    "panoptic_quality",
    "segmentation_quality",
    "recognition_quality",
    "false_positive_volume",
    "false_negative_volume",
)


def tables(labels='{ 1 = "lesion" }', options=""):
    metrics = "".join(f"[tasks.scans.metrics.{metric}]\n{options}\n" for metric in METRICS)
    ranking = '[ranking]\nmetrics = ["scans.lesion_f1"]\n'
    return f'[fields.map]\nkind = "label_map"\nlabels = {labels}\n\n{metrics}{ranking}'


def scans(seed, count=5, values=(0, 0, 0, 0, 1)):
    random = np.random.default_rng(seed)
    return {f"scan{n}": random.choice(np.array(values, np.uint8), SHAPE) for n in range(count)}


def components(mask, diagonal):
    image = SimpleITK.ConnectedComponent(SimpleITK.GetImageFromArray(mask.astype(np.uint8)), diagonal)
    found = SimpleITK.GetArrayFromImage(image)
    return [found == number for number in range(1, found.max() + 1)]


def intersection_over_union(one, other):
    overlap = SimpleITK.LabelOverlapMeasuresImageFilter()
    overlap.Execute(*(SimpleITK.GetImageFromArray(mask.astype(np.uint8)) for mask in (one, other)))
    return overlap.GetJaccardCoefficient()


def expected_of(prediction, reference, diagonal):
    predicted, true = components(prediction, diagonal), components(reference, diagonal)
    hits = sum((lesion & reference).any() for lesion in predicted)
    detected = sum((lesion & prediction).any() for lesion in true)
    ious = [intersection_over_union(one, other) for one in predicted for other in true if (one & other).any()]
    matched = [iou for iou in ious if iou > 0.5]
    recognition = 2 * len(matched) / (len(predicted) + len(true))
    segmentation = float(np.mean(matched)) if matched else 0.0
    recall, precision = detected / len(true), hits / len(predicted)
    return {
        "detected_lesions": recall,
        "missed_lesions": len(true) - detected,
        "false_lesions": len(predicted) - hits,
        "lesion_f1": 2 * recall * precision / (recall + precision) if recall + precision else 0.0,
        "lesion_count_difference": abs(len(predicted) - len(true)),
        "panoptic_quality": recognition * segmentation,
        "segmentation_quality": segmentation,
        "recognition_quality": recognition,
        "false_positive_volume": VOXEL_MM3
        * sum(lesion.sum() for lesion in predicted if not (lesion & reference).any()),
        "false_negative_volume": VOXEL_MM3
        * sum(lesion.sum() for lesion in true if not (lesion & prediction).any()),
    }


@pytest.mark.parametrize("neighbours", ["all", "faces"])
@checked(
    detected_lesions="SimpleITK.ConnectedComponent",
    missed_lesions="SimpleITK.ConnectedComponent",
    false_lesions="SimpleITK.ConnectedComponent",
    lesion_f1="SimpleITK.ConnectedComponent",
    lesion_count_difference="SimpleITK.ConnectedComponent",
    panoptic_quality=("SimpleITK.ConnectedComponent", "SimpleITK.LabelOverlapMeasuresImageFilter"),
    segmentation_quality=("SimpleITK.ConnectedComponent", "SimpleITK.LabelOverlapMeasuresImageFilter"),
    recognition_quality=("SimpleITK.ConnectedComponent", "SimpleITK.LabelOverlapMeasuresImageFilter"),
    false_positive_volume="SimpleITK.ConnectedComponent",
    false_negative_volume="SimpleITK.ConnectedComponent",
)
def test_figures_of_one_label(tmp_path, neighbours):
    # Of two random masks few components match, of one and nearly the same many do.
    references, others = scans(1), scans(2)
    predictions = {
        name: np.where(others[name][0] & others[name], 0, values).astype(np.uint8)
        for name, values in references.items()
    }
    predictions["scan0"] = others["scan0"]
    phase = volume_phase(tmp_path, tables(options=f'neighbours = "{neighbours}"'), references)
    cases = [
        expected_of(predictions[name] > 0, references[name] > 0, neighbours == "all") for name in references
    ]
    expected = {metric: np.mean([case[metric] for case in cases]) for metric in METRICS}
    assert 0 < expected["segmentation_quality"] < 1
    assert figures_of(phase, tmp_path, predictions) == pytest.approx(expected, abs=5e-5)


def test_lesions_of_two_labels_do_not_join(tmp_path):
    values = np.zeros(SHAPE, np.uint8)
    values[1, 2, 2:6] = [1, 1, 2, 2]
    two = '{ 1 = "core", 2 = "rim" }'
    found = figures_of(
        volume_phase(tmp_path, tables(two), {"scan": values}), tmp_path, {"scan": values[:, ::-1]}
    )
    # Mirrored, the row lies elsewhere: each label has a false and a missed lesion of two voxels.
    for metric, label in (
        ("false_lesions", 1),
        ("false_positive_volume", 0.5),
        ("false_negative_volume", 0.5),
    ):
        assert [found[f"{metric}{part}"] for part in ("", "_core", "_rim")] == [label] * 3


EMPTY = {"scan": np.zeros(SHAPE, np.uint8)}
ONE = {"scan": np.pad(np.ones((1, 1, 2), np.uint8), ((1, 2), (2, 4), (3, 3)))}
# Without diagonal neighbours, every second voxel can be a lesion.
FIT, FIT_BY_FACES = 2 * 4 * 4, 4 * 7 * 8 // 2


@pytest.mark.parametrize(
    ("reference", "prediction", "expected"),
    [
        (
            EMPTY,
            EMPTY,
            {"lesion_f1": 1, "panoptic_quality": 1, "false_lesions": 0, "lesion_count_difference": 0},
        ),
        (
            EMPTY,
            ONE,
            {"lesion_f1": 0, "panoptic_quality": 0, "false_lesions": 1, "false_positive_volume": 0.5},
        ),
        (
            ONE,
            EMPTY,
            {"lesion_f1": 0, "detected_lesions": 0, "false_negative_volume": 0.5, "false_lesions": 0},
        ),
        (
            ONE,
            {},
            {
                "detected_lesions": 0,
                "missed_lesions": 1,
                "lesion_f1": 0,
                "panoptic_quality": 0,
                "false_lesions": FIT,
                "lesion_count_difference": FIT,
                "false_positive_volume": 224 * VOXEL_MM3,
                "false_negative_volume": 2 * VOXEL_MM3,
            },
        ),
    ],
)
def test_empty_maps_and_missing_ones(tmp_path, reference, prediction, expected):
    phase = volume_phase(tmp_path, tables(), reference, keys='missing = "worst"')
    found = figures_of(phase, tmp_path, prediction)
    assert {metric: found[metric] for metric in expected} == pytest.approx(expected)
    assert ("detected_lesions" in found) == (reference is ONE)


def test_a_stated_worst_is_never_exceeded(tmp_path):
    many = scans(3, count=1)
    one_metric = (
        '[fields.map]\nkind = "label_map"\nlabels = { 1 = "lesion" }\n\n'
        "[tasks.scans.metrics.false_lesions]\nworst = 3\n"
    )
    phase = volume_phase(tmp_path, one_metric, {"scan0": EMPTY["scan"]}, keys='missing = "worst"')
    assert figures_of(phase, tmp_path, many) == {"false_lesions": 3}
    assert figures_of(phase, tmp_path / "missing", {}) == {"false_lesions": 3}


# A scan with a lesion that is found, a missed one and two false ones; and a scan without lesions.
ROW = np.zeros((2, 2, 9), np.uint8)
ROW[0, 0] = [1, 1, 0, 0, 1, 0, 0, 0, 0]
FOUND = np.zeros((2, 2, 9), np.uint8)
FOUND[0, 0] = [1, 0, 0, 0, 0, 0, 1, 0, 1]
NONE = np.zeros((2, 2, 9), np.uint8)


def test_readings_of_an_f1_differ_where_several_lesions_touch_one(tmp_path):
    reference, prediction = np.zeros((2, 2, 2, 9), np.uint8)
    reference[0, 0] = [1, 1, 1, 1, 1, 0, 1, 0, 0]
    prediction[0, 0] = [1, 0, 1, 0, 1, 0, 0, 0, 1]
    metrics = (
        '[fields.map]\nkind = "label_map"\nlabels = { 1 = "lesion" }\n[tasks.scans.metrics]\nlesion_f1 = {}\n'
        'counts = { metric = "lesion_f1", reading = "counts" }\n'
    )
    phase = volume_phase(tmp_path, metrics, {"scan": reference})
    found = figures_of(phase, tmp_path, {"scan": prediction})
    # One of two lesions is touched, by three of four predicted ones.
    shares, counts = 2 * 0.5 * 0.75 / (0.5 + 0.75), 1 / (1 + (1 + 1) / 2)
    assert found == pytest.approx({"lesion_f1": shares, "counts": counts}, abs=5e-5)


@pytest.mark.parametrize("reading", ["number", "share", "pooled_share"])
def test_lesions_of_several_annotators_cannot_be_pooled(reading):
    field = LabelMapField(kind="label_map", labels={"1": "lesion"}, annotators=["A", "B"])
    table = DetectedLesions(metric="detected_lesions", reading=reading)
    if reading == "pooled_share":
        with pytest.raises(ValueError, match="reading"):
            table.measure("figure", "map", field)
    else:
        assert len(table.measure("figure", "map", field).metrics) == 1


@pytest.mark.parametrize(
    ("metric", "reading", "expected", "one_missing"),
    [
        ("detected_lesions", "number", 1 / 2, 0),
        ("detected_lesions", "share", 1 / 2, 0),
        ("detected_lesions", "pooled_share", 1 / 2, 0),
        ("missed_lesions", "number", 1 / 2, 1),
        ("missed_lesions", "share", 1 / 2, 1),
        ("missed_lesions", "pooled_share", 1 / 2, 1),
        # Five by one by one voxels of the scan can be lesions that do not touch.
        ("false_lesions", "number", (2 + 1) / 2, (5 + 1) / 2),
        ("false_lesions", "share", (2 / 3 + 1) / 2, 1),
        ("false_lesions", "pooled_share", 3 / 4, 1),
    ],
)
def test_readings_of_numbers_of_lesions(tmp_path, metric, reading, expected, one_missing):
    one_metric = (
        '[fields.map]\nkind = "label_map"\nlabels = { 1 = "lesion" }\n'
        f'[tasks.scans.metrics]\ndice = {{}}\nfigure = {{ metric = "{metric}", reading = "{reading}" }}\n'
    )
    scans = {"scan0": ROW, "scan1": NONE}
    phase = volume_phase(tmp_path, one_metric, scans, keys='missing = "worst"')
    false = NONE.copy()
    false[1, 1, 4] = 1
    found = figures_of(phase, tmp_path, {"scan0": FOUND, "scan1": false})
    assert found["figure"] == pytest.approx(expected, abs=5e-5)
    without = figures_of(phase, tmp_path / "missing", {"scan1": false})["figure"]
    assert without == pytest.approx(one_missing, abs=5e-5)
    assert rehearse(load_phase(phase)).problems == ()


def test_lesions_that_share_an_edge_are_one_for_autopet(tmp_path):
    reference = np.zeros(SHAPE, np.uint8)
    reference[0, 0, 0] = reference[1, 1, 0] = reference[2, 2, 1] = 1
    prediction = np.zeros(SHAPE, np.uint8)
    prediction[0, 0, 0] = 1
    missed = {}
    for neighbours in ("all", "edges", "faces"):
        one_metric = (
            '[fields.map]\nkind = "label_map"\nlabels = { 1 = "lesion" }\n'
            f'[tasks.scans.metrics.false_negative_volume]\nneighbours = "{neighbours}"\nunit = "ml"\n'
        )
        phase = volume_phase(tmp_path / neighbours, one_metric, {"scan": reference})
        (missed[neighbours],) = figures_of(phase, tmp_path / neighbours, {"scan": prediction}).values()
    # Voxels of ¼ mm³ that touch the found one by an edge, and that one by a corner.
    assert missed == pytest.approx({"all": 0, "edges": 0.25e-3, "faces": 0.5e-3}, abs=5e-5)


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 4, 5), (3, 3, 3), (2, 4, 3)])
def test_so_many_lesions_fit(shape):
    z, y, x = np.indices(shape)
    apart = (z % 2 == 0) & (y % 2 == 0) & (x % 2 == 0)
    board = (z + y + x) % 2 == 0
    between = (z % 2 == 1) & (y % 2 == 1) & (x % 2 == 1)
    assert most_lesions(shape, "edges") == (apart | between).sum()
    assert most_lesions(shape, "all") == len(components(apart, diagonal=True))
    assert most_lesions(shape, "faces") == len(components(board, diagonal=False))


def test_a_phase_is_rehearsed(tmp_path):
    rehearsal = rehearse(load_phase(volume_phase(tmp_path, tables(), scans(4))))
    assert rehearsal.problems == ()
    assert set(rehearsal.figures["scans.false_lesions"]) > set(Variant)
    assert math.isfinite(rehearsal.figures["scans.false_lesions"]["missing"])
