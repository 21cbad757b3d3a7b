"""The metrics of the catalogue as they are declared: each for every kind of field that it scores."""

import json

from evaluation.challenges.declared.declarable import FIELDS, name_of

CLASSES, LABELS = {"classes": ["a", "b"]}, {"labels": {"1": "liver"}}
# The keys of a kind, where `kind` alone does not declare a field.
FIELD = {
    "boxes": {"probability": True},
    "class": CLASSES,
    "class_probabilities": CLASSES,
    "label_map": LABELS,
    "points": {"probability": True},
    "keypoints": {"classes": ["a"]},
    "displacement_field": LABELS | {"fixed_landmarks": "fixed.csv", "moving_landmarks": "moving.csv"},
    "presence_probabilities": {"classes": ["a", "b"]},
    "flags": {"classes": ["a", "b"]},
    "image": {"minimum": 0, "maximum": 1},
    "number": {"minimum": 0, "maximum": 1, "reference_column": "class", "positive": ["b"], "negative": ["a"]},
}
PROBABILITIES = {"probabilities": {"liver": "probability"}}
# The options of a metric, where its field alone does not declare it.
OPTIONS = {
    "betti_error": {"worst": 9},
    "consensus_confidence": PROBABILITIES,
    "expected_cost": {"costs": [[0, 1], [2, 0]]},
    "f_beta": {"beta": 2},
    "false_lesions": {"worst": 9},
    "froc": {"radius": 2},
    "mean_radial_error": {"worst": 9},
    "partial_auc": {"min_specificity": 0.9},
    "point_f1": {"radius": 2},
    "point_precision": {"radius": 2},
    "point_recall": {"radius": 2},
    "sensitivity_at_specificity": {"specificity": 0.9},
    "specificity_at_sensitivity": {"sensitivity": 0.9},
    "success_detection_rate": {"radius": 2},
    "target_registration_error": {"worst": 9},
    "symmetric_relative_score": {"epsilon": 1},
    "surface_dice": {"tolerance_mm": 1},
    "volume_crps": PROBABILITIES,
    "voxel_calibration_error": PROBABILITIES,
}
SEVERAL = {"number": {"minimum": 0, "maximum": 1}, "label_map": LABELS | {"annotators": ["one", "two"]}}


def in_toml(value):
    """Return a value of JSON in TOML, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {in_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(in_toml, value)) + "]"
    return json.dumps(value)


def keys_in_toml(keys):
    """Return the keys of a table in TOML, one after the other."""
    return [f"{key} = {in_toml(value)}" for key, value in keys.items()]


def measures_of(table, called=None, **further):
    """Yield each field's table, and the measure of a class of the catalogue with further options for it.

    ``called``: the name of the figures, by default the metric's.
    """
    name = name_of(table)
    for field in (field for field in FIELDS if issubclass(field, table.kinds)):
        kind = name_of(field)
        for given in filter(None, (FIELD.get(kind, {"title": "a"}), SEVERAL.get(kind))):
            for more in ({}, {"of": "b"}, {"threshold": 0.5}, {"threshold": 0.5, "of": "b"}, {"worst": 9}):
                try:
                    of_field = field.model_validate({"kind": kind, **given})
                    options = {"metric": name, **OPTIONS.get(name, {}), **more, **further}
                    yield of_field, table.model_validate(options).measure(called or name, "field", of_field)
                    break
                except ValueError:
                    continue
