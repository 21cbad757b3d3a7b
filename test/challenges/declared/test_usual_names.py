"""Usual names of metrics are answered with the metric that is meant for the field and its keys."""

import re

import pytest

from evaluation.challenges.declared.aliases import USUAL_NAMES, meant_by
from evaluation.challenges.declared.declarable import FIELDS, METRICS, name_of
from test.challenges.declared.phases import declared_phase
from test.started import run

IMAGE = "minimum = 0\nmaximum = 255\ndimensions = 2"
CLASSES = 'classes = ["a", "b", "c"]'
OBJECTS = 'dimensions = 2\nunit = "pixels"\nclasses = ["a"]\nprobability = true'
NUMBER = 'minimum = 0\nmaximum = 1\nreference_column = "c"\npositive = ["1"]\nnegative = ["0"]'
# What each name means, by kind and keys of the field: as organisers know it from papers, not from the table.
WANTED = {
    ("label_map", 'labels = { 1 = "a" }'): {
        "dsc": "dice",
        "iou": "jaccard",
        "nsd": "surface_dice",
        "hd95": "hausdorff_distance",
        "HD": "hausdorff_distance",
        "assd": "average_surface_distance",
        "masd": "average_surface_distance",
        "clDice": "centreline_dice",
        "recall": "voxel_sensitivity",
        "ppv": "voxel_precision",
        "f1_score": "lesion_f1",
        "pq": "panoptic_quality",
        "rvd": "volume_difference",
    },
    ("boxes", 'classes = ["a"]\nprobability = true'): {
        "map": "box_average_precision",
        "ap": "box_average_precision",
        "recall": "box_recall",
        "f1_score": "box_f1",
    },
    ("points", OBJECTS): {"f1_score": "point_f1", "recall": "point_recall"},
    ("number", NUMBER): {
        "roc_auc": "auc",
        "auprc": "average_precision",
        "recall": "sensitivity",
        "ece": "calibration_error",
        "tpr": "sensitivity",
    },
    ("class", CLASSES): {
        "mcc": "matthews_correlation",
        "qwk": "cohen_kappa",
        "micro_f1": "accuracy",
        "F1-score": "f1",
    },
    ("image", IMAGE): {
        "ssim": "structural_similarity",
        "psnr": "peak_signal_to_noise_ratio",
        "mae": "image_mean_absolute_error",
    },
    ("detection_map", ""): {"ap": "lesion_average_precision"},
    ("presence_probabilities", CLASSES): {"mAP": "macro_average_precision"},
    ("survival", "minimum = 0\nmaximum = 9"): {"c_index": "concordance_index"},
}


@pytest.mark.parametrize(("field", "wanted"), WANTED.items(), ids=[kind for kind, _ in WANTED])
def test_seal_answers_with_the_metric_that_is_meant(tmp_path, field, wanted):
    kind, keys = field
    tables = f'[fields.f]\nkind = "{kind}"\n{keys}\n[tasks.t.metrics]\n'
    metrics = "".join(f'm{number} = {{ metric = "{name}" }}\n' for number, name in enumerate(wanted))
    phase = declared_phase(tmp_path / "phase", tables + metrics, {"name": ["a"]})
    done = run("seal", phase)
    assert done.returncode == 1
    lines = dict(re.findall(r"tasks\.t\.metrics\.m(\d+): (.*)", done.stderr))
    for number, (name, metric) in enumerate(wanted.items()):
        answer = lines[str(number)]
        assert re.findall(rf"'{name}' .*?(?:is|;).*?['\"]({metric})['\"]", answer), (name, answer)
        others = {one.metric for one in USUAL_NAMES[name.lower().replace("-", "_")]} - {metric}
        assert not [one for one in others if f"'{one}' here" in answer], answer


def test_every_answer_can_be_declared_as_it_is_written():
    """The metric's own table has the keys, and a field of each of its kinds gets the answer."""
    for name, meant in USUAL_NAMES.items():
        for one in meant:
            table = METRICS.named(one.metric)
            keys = dict(re.findall(r"(\w+) = (\S+)", one.keys))
            assert set(keys) <= set(table.model_fields), name
            for kind in (field for field in FIELDS if issubclass(field, table.kinds)):
                assert one in meant_by(name, name_of(kind)) or METRICS.named(name) is not None
