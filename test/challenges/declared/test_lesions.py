"""Lesions through a phase, against components that SimpleITK finds."""

import numpy as np
import pytest
import SimpleITK

from evaluation.challenges.declared.lesions import LesionF1, most_lesions
from test.challenges.declared.images import figures_of, volume_phase
from test.challenges.declared.scalars import rehearsed
from test.oracles import checked

VOXEL_MM3 = 0.25
SHAPE = (4, 7, 8)
QUALITIES = ("panoptic_quality", "segmentation_quality", "recognition_quality")
METRICS = (
    *("detected_lesions", "false_lesions", "lesion_f1", "lesion_count_difference"),
    *("false_positive_volume", "false_negative_volume", *QUALITIES),
)
COMPONENTS = "SimpleITK.ConnectedComponent"
ORACLES = dict.fromkeys(METRICS, COMPONENTS) | dict.fromkeys(
    QUALITIES, (COMPONENTS, "SimpleITK.LabelOverlapMeasuresImageFilter")
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
@checked(**ORACLES)
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
    assert rehearsed(phase).problems == ()


EMPTY = {"scan": np.zeros(SHAPE, np.uint8)}
ONE = {"scan": np.pad(np.ones((1, 1, 2), np.uint8), ((1, 2), (2, 4), (3, 3)))}
# Along each axis, every second voxel can be a lesion.
FIT = 2 * 4 * 4


def test_all_lesions_of_a_missing_scan_are_missed_and_as_many_false_as_fit(tmp_path):
    phase = volume_phase(tmp_path, tables(), ONE, keys='missing = "worst"')
    found = figures_of(phase, tmp_path, {})
    voxels = {"false_positive_volume": 224, "false_negative_volume": 2}
    assert {name: found[name] for name in METRICS} == pytest.approx(
        dict.fromkeys(METRICS, 0)
        | {"false_lesions": FIT, "lesion_count_difference": FIT}
        | {name: count * VOXEL_MM3 for name, count in voxels.items()}
    )
    # Without any lesion there is no share of detected ones.
    phase = volume_phase(tmp_path / "empty", tables(), EMPTY)
    nothing = figures_of(phase, tmp_path / "empty", EMPTY)
    assert nothing["lesion_f1"] == nothing["panoptic_quality"] == 1
    assert "detected_lesions" not in nothing


def test_detected_lesions_of_all_scans_together(tmp_path):
    """One of two lesions is found in a scan, and another has none; false ones are counted in both."""
    reference, found, none = np.zeros((3, 2, 2, 9), np.uint8)
    reference[0, 0], found[0, 0] = [1, 1, 0, 0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 1, 0, 1]
    false = none.copy()
    false[1, 1, 4] = 1
    metrics = (
        '[fields.map]\nkind = "label_map"\nlabels = { 1 = "lesion" }\n[tasks.scans.metrics]\n'
        'detected_lesions = { over_cases = "pooled" }\nfalse_lesions = {}\n'
    )
    phase = volume_phase(tmp_path, metrics, {"scan0": reference, "scan1": none}, keys='missing = "worst"')
    both = figures_of(phase, tmp_path, {"scan0": found, "scan1": false})
    assert both == {"detected_lesions": 0.5, "false_lesions": (2 + 1) / 2}
    # Five by one by one voxels of the scan can be lesions that do not touch.
    one = figures_of(phase, tmp_path / "missing", {"scan1": false})
    assert one == {"detected_lesions": 0, "false_lesions": (5 + 1) / 2}


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 4, 5), (3, 3, 3), (2, 4, 3)])
def test_so_many_lesions_fit(shape):
    z, y, x = np.indices(shape)
    apart = (z % 2 == 0) & (y % 2 == 0) & (x % 2 == 0)
    board = (z + y + x) % 2 == 0
    between = (z % 2 == 1) & (y % 2 == 1) & (x % 2 == 1)
    assert most_lesions(shape, "edges") == (apart | between).sum()
    assert most_lesions(shape, "all") == len(components(apart, diagonal=True))
    assert most_lesions(shape, "faces") == len(components(board, diagonal=False))


@pytest.mark.parametrize(
    ("keys", "told"),
    [({}, True), ({"matching": "optimal"}, False), ({"threshold": 0.1}, False)],
)
def test_the_caution_about_a_mask_of_the_whole_image_is_told_where_such_a_mask_has_the_best_f1(keys, told):
    caution = LesionF1.model_validate({"metric": "lesion_f1", **keys}).caution
    assert ("whole image" in caution) == told
