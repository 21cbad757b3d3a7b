"""The samples of templates: predictions are of ordinary quality, graded, and the same each time."""

import csv

import numpy as np
import pytest

import evaluation
from evaluation.cli.main import main
from evaluation.core.form import CaseForm
from evaluation.io.kinds.boxes import BoxesInSpace
from evaluation.io.kinds.label_map import LabelMap
from evaluation.io.kinds.number import Number
from evaluation.io.kinds.objects import Attributes, Space
from evaluation.io.kinds.survival import ObservedTime, SurvivalPrediction
from evaluation.organiser.starter.predictions import POOR, Predictor
from evaluation.organiser.starter.repository import KINDS

FIGURES = {
    "segmentation": {"dice": (0.80, 0.93), "dice_cup": (0.75, 0.93)},
    "ct-segmentation": {"dice": (0.80, 0.93), "dice_pancreas": (0.80, 0.93), "surface_dice": (0.8, 0.995)},
    "instances": {"panoptic_quality": (0.55, 0.8), "count_determination": (0.3, 0.95)},
    "classification": {"auc": (0.84, 0.90), "sensitivity": (0.3, 0.7)},
    "multiclass": {"kappa": (0.75, 0.95), "macro_f1": (0.7, 0.9)},
    "regression": {"mean_absolute_error": (3, 9), "pearson_correlation": (0.9, 0.99), "bias": (-3, 3)},
    "detection": {"f1": (0.6, 0.9), "map": (0.3, 0.7)},
    "points": {"f1": (0.6, 0.9), "froc": (0.5, 0.9)},
    "survival": {"concordance_index": (0.65, 0.85)},
}
"""The range of figures of each template, in its only task."""
GRADED = {"classification": "likelihood", "detection": "probability", "points": "probability"}
"""Columns of scores in the templates that have one."""


def test_every_template_has_ranges():
    assert FIGURES.keys() == set(KINDS)


@pytest.mark.parametrize("like", FIGURES)
def test_the_figures_of_a_sample_are_ordinary(tmp_path, like):
    folder = tmp_path / "mine"
    assert main(["new", str(folder), "--like", like]) == 0
    assert main(["seal", str(folder / "phase")]) == 0
    result = evaluation.evaluate(folder / "phase", folder / "submission", workers=0)
    (figures,) = result.to_dict()["aggregates"].values()
    found = {name: figures[name]["value"] for name in FIGURES[like]}
    assert all(low <= found[name] <= high for name, (low, high) in FIGURES[like].items()), found
    if like.endswith("segmentation"):
        dice = sorted(case["tasks"]["segmentation"]["dice"] for case in result.records["cases"])
        assert 0.45 < dice[0] < 0.75
        assert dice[1] > 0.80
        assert dice[-1] < 0.96
    if like in GRADED:
        (table,) = (folder / "submission").glob("*.csv")
        with table.open(encoding="utf-8", newline="") as file:
            scores = [float(row[GRADED[like]]) for row in csv.DictReader(file)]
        assert len(set(scores)) > 0.85 * len(scores)
        assert min(scores) < 0.4
        assert max(scores) > 0.8


CASE = CaseForm("A", 64, 48)


def predictions_of(kind, reference, deviation, count=40):
    random = np.random.default_rng(0)
    return [Predictor(CASE, random, deviation).predicted(kind, reference) for _ in range(count)]


def errors_of_maps(deviation):
    kind = LabelMap({1: "one", 2: "two"}, 0, 2)
    reference = kind.example(CASE, np.random.default_rng(1))
    found = predictions_of(kind, reference, deviation, 10)
    return [np.mean(value.whole != reference.whole) for value in found]


def errors_of_boxes(deviation):
    kind = BoxesInSpace(Space(2, "pixels"), Attributes(("a", "b"), with_probability=True))
    reference = kind.example(CASE, np.random.default_rng(1))
    found = predictions_of(kind, reference, deviation)
    return [abs(len(value.rows) - len(reference.rows)) + (value.rows[:, 1] < 0.5).sum() for value in found]


def errors_of_numbers(deviation):
    return [abs(found - 30) for found in predictions_of(Number(0, 120), 30.0, deviation)]


def errors_of_times(deviation):
    found = predictions_of(SurvivalPrediction(minimum=0), ObservedTime(30.0, 1), deviation)
    return [abs(np.log(time / 30)) for time in found]


@pytest.mark.parametrize("errors", [errors_of_maps, errors_of_boxes, errors_of_numbers, errors_of_times])
def test_a_larger_deviation_is_a_worse_prediction(errors):
    perfect, ordinary, poor = (np.mean(errors(deviation)) for deviation in (0, 1, POOR))
    assert perfect < 1e-6 + 0.02 * ordinary
    assert ordinary < 0.75 * poor
