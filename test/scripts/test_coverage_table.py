"""The simulated coverage has a row for every metric of the catalogue with an interval, with its estimator."""

import pytest

from benchmarks.coverage import COVERS, populations
from evaluation.challenges.declared.rules import FIELDS, METRICS, name_of
from evaluation.core.intervals import default_method

CLASSES, LABELS = {"classes": ["a", "b"]}, {"labels": {"1": "organ"}}
FIELD = {
    "boxes": {"probability": True},
    "class": CLASSES,
    "class_probabilities": CLASSES,
    "label_map": LABELS,
    "points": {"probability": True},
    "keypoints": {"names": ["a"]},
    "flags": {"names": ["a", "b"]},
    "number": {"minimum": 0, "maximum": 1, "reference": "class", "positive": ["b"], "negative": ["a"]},
}
PROBABILITIES = {"probabilities": {"organ": "folder"}}
OPTIONS = {
    "betti_error": {"worst": 9},
    "consensus_confidence": PROBABILITIES,
    "expected_cost": {"costs": [[0, 1], [2, 0]]},
    "f_beta": {"beta": 2},
    "false_lesions": {"worst": 9},
    "froc": {"radius": 2},
    "mean_radial_error": {"worst": 9},
    "net_benefit": {"threshold": 0.1},
    "partial_auc": {"min_specificity": 0.9},
    "point_f1": {"radius": 2},
    "point_precision": {"radius": 2},
    "point_recall": {"radius": 2},
    "sensitivity_at_precision": {"precision": 0.9},
    "sensitivity_at_specificity": {"specificity": 0.9},
    "specificity_at_sensitivity": {"sensitivity": 0.9},
    "success_detection_rate": {"radius": 2},
    "surface_dice": {"tolerance_mm": 1},
    "volume_crps": PROBABILITIES,
    "voxel_calibration_error": PROBABILITIES,
}
SEVERAL = {"number": {"minimum": 0, "maximum": 1}, "label_map": LABELS | {"annotators": ["one", "two"]}}
# Rows that stand for these metrics, though the benchmark makes their aggregate from its own columns.
OWN_COLUMNS = {"box_average_precision", "box_average_recall"}
ROWS = {population.metric.title: population.metric for population in populations()}
ROW_OF = {name: title for title, names in COVERS.items() for name in names.split()}


def metrics_of(table):
    """Return the first metric of a class of the catalogue for each kind of field that it scores."""
    name = name_of(table)
    for field in (field for field in FIELDS if issubclass(field, table.kinds)):
        kind = name_of(field)
        for given in filter(None, (FIELD.get(kind, {"title": "a"}), SEVERAL.get(kind))):
            for more in ({}, {"of": "b"}, {"threshold": 0.5}, {"threshold": 0.5, "of": "b"}, {"worst": 9}):
                try:
                    of_field = field.model_validate({"kind": kind, **given})
                    chosen = table.model_validate({"metric": name, **OPTIONS.get(name, {}), **more})
                    yield chosen.measure(name, "field", of_field).metrics[0]
                    break
                except ValueError:
                    continue


def estimator(metric):
    """Return the kind of the estimator, and the default method of its interval."""
    return type(metric.estimator), default_method(metric, False)


@pytest.mark.parametrize("table", METRICS, ids=name_of)
def test_every_metric_with_an_interval_has_a_row(table):
    name, found = name_of(table), list(metrics_of(table))
    assert found
    with_interval = [metric for metric in found if metric.no_interval is None]
    assert bool(with_interval) == (name in ROW_OF)
    for metric in with_interval:
        row = ROWS[ROW_OF[name]]
        assert default_method(metric, False) == default_method(row, False)
        if name not in OWN_COLUMNS:
            assert estimator(metric) == estimator(row)
