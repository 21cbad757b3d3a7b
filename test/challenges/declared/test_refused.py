"""Keys of a kind and options of a metric that do not fit are refused with their place and what was found."""

import pytest

from evaluation.core.fault import PhaseError
from evaluation.phase.registry import read_configuration
from test.challenges.declared.phases import declared_phase
from test.faults import faulted

GRADES = 'classes = ["none", "mild", "severe"]'
PRESENT = 'reference_column = "class"\npositive = ["RG"]\nnegative = ["NRG"]'
SCORE = f"minimum = 0\nmaximum = 1\n{PRESENT}"
MAP = 'labels = { 1 = "cup", 2 = "disc" }'
TWICE = f'{MAP}\nannotators = ["A", "B"]'
BESIDE = f'{TWICE}\n[fields.o]\nkind = "probability_map"\nbackground = [2]\nreference_folder = "f/B"'
CELLS = 'dimensions = 2\nunit = "pixels"\nclasses = ["cell", "other"]\nprobability = true'

# The keys of a field f by its kind, and what is told of the fault: its place, and what was found.
KEYS = {
    "label_map": {
        'labels = { one = "cup" }': ("f.labels", "'one'"),
        'labels = { 1 = "the.cup" }': ("f.labels.1", "'the.cup'"),
        'labels = { 1 = "a-b", 2 = "a b" }': ("f.labels", "'2': 'a b'"),
        'labels = { 0 = "cup" }': ("f", "{'0': 'cup'}"),
        'labels = { 70000 = "cup" }': ("f",),
        f"{MAP}\ndimensions = 4": ("f.dimensions", "4"),
        f"{MAP}\nregions = {{ all = [1, 7] }}": ("f: regions.all", "7"),
        f"{MAP}\nregions = {{ cup = [1, 2] }}": ("f: regions.cup",),
        f"{MAP}\nregions = {{ all = [1, 1] }}": ("f: regions.all", "[1, 1]"),
        f'{MAP}\nannotators = ["A-1", "A 1"]': ("f", "['A-1', 'A 1']"),
    },
    "instance_map": {
        MAP: ("f",),
        f"{MAP}\nclass_plane = true": ("f: class_plane",),
        f"{MAP}\nranges = {{ 1 = [1, 9], 2 = [9, 20] }}": ("f: ranges",),
    },
    "probability_map": {
        "foreground = [1]\nbackground = [1]": ("f",),
        "background = [0]": ("f",),
        "background = [70000]": ("f",),
    },
    "flags": {'classes = ["a", "b"]\nreference_columns = ["x"]': ("f: reference_columns",)},
    "class": {
        'classes = ["none", "None"]': ("f: classes",),
        f'{GRADES}\nexcluded = ["mild"]': ("f: excluded", "'mild'"),
        f"{GRADES}\nboolean = true": ("f: boolean", "3"),
    },
    "class_probabilities": {
        f'{GRADES}\ncolumns = ["p"]': ("f: columns",),
        'classes = ["a", "nan"]': ("f: classes", "'nan'"),
    },
    "number": {
        'negative = ["NRG"]': ("f",),
        f'{PRESENT}\nexcluded = ["RG"]': ("f",),
        f"minimum = 0\nmaximum = 0\n{PRESENT}": ("f", "0 and 0"),
        'stacked = "name"': ("f.stacked", "'name'"),
    },
    "boxes": {'dimensions = 3\nstacked = "third_coordinate"': ("f: stacked", "'third_coordinate'")},
    "survival": {"minimum = 1\nmaximum = 0": ("f", "1 and 0")},
    "points": {
        'dimensions = 2\nunit = "pixels"\nclasses = ["cell", "cell"]\nprobability = true': (
            "f.classes",
            "'cell'",
        ),
        f'{CELLS}\ncolumns = ["x", "y"]': ("f: columns", "2"),
        "excluded_lesions = [2]": ("f: excluded_lesions", "none"),
        "lesions = [1]\nexcluded_lesions = [1]": ("f: lesions", "[1]"),
        "lesions = [0]": ("f: lesions, excluded_lesions", "'lesions': [0]"),
        'lesions = [1]\nclasses = ["a", "b"]': ("f: lesions", "['a', 'b']"),
    },
    "displacement_field": {
        "stacked = true": ("f: stacked",),
        "dimensions = 2": ("f",),
        'moving_landmarks = "m.csv"': ("f: fixed_landmarks, moving_landmarks",),
    },
    "image": {"minimum = 0\nmaximum = 0": ("f",)},
}  # The kind and the keys of a field f, a metric, and what is told of the fault.
OPTIONS = {
    ("label_map", MAP): {
        'dice = { labels = ["cap"] }': ("labels", "cap"),
        "surface_dice = { tolerance_mm = { cup = 1 } }": ("tolerance_mm",),
        'surface_dice = { tolerance_mm = { cup = 1, disc = 1 }, labels = ["cup"] }': ("tolerance_mm",),
        'hausdorff_distance = { percentile_method = "linear" }': ("percentile", "'linear'"),
        "volume_difference = { relative = true }": ("volume_difference: worst",),
        'dice = { over_cases = "middle" }': ("over_cases", "'middle'"),
        "dice = { over_cases = { quantile = 1.5 } }": ("over_cases", "1.5"),
        'centreline_dice = { over_cases = "pooled" }': ("over_cases",),
    },
    ("label_map", f"{MAP}\nregions = {{ all = [1, 2], disc = [2] }}"): {
        "surface_dice = { tolerance_mm = { cup = 1, disc = 1 } }": ("tolerance_mm",)
    },
    ("label_map", TWICE): {
        'hausdorff_distance = { over_annotators = "consensus" }': ("over_annotators", "'consensus'"),
        'volume_crps = { probabilities = { cup = "f" } }': ("probabilities.cup", "'f'"),
        'volume_crps = { probabilities = { bone = "f" } }': ("probabilities", "bone"),
    },
    ("label_map", BESIDE): {
        'volume_crps = { field = "f", probabilities = { cup = "o" }, labels = ["disc"] }': ("labels", "disc"),
        'voxel_calibration_error = { field = "f", probabilities = { cup = "o" } }': ("probabilities",),
    },
    ("displacement_field", ""): {"target_registration_error = { worst = 9 }": ("target_registration_error",)},
    ("image", "minimum = 0\nmaximum = 1"): {
        "image_mean_absolute_error = { clip = [1, 0] }": ("image_mean_absolute_error: clip",),
        "structural_similarity = { clip = [1, 1] }": ("structural_similarity: clip",),
    },
    ("image", ""): {
        "peak_signal_to_noise_ratio = {}": ("clip",),
        "structural_similarity = {}": ("clip",),
    },
    ("class", GRADES): {
        "f1 = {}": ("f1: of", "none"),
        'f1 = { of = "Mild" }': ("f1: of", "Mild"),
        "sensitivity = {}": ("sensitivity: of", "none"),
        'specificity = { of = "Mild" }': ("specificity: of", "Mild"),
        "accuracy = { threshold = 1 }": ("accuracy: threshold",),
        "accuracy = { above = 1 }": ("accuracy: above",),
        "expected_cost = { costs = [[0, 1], [2, 0]] }": ("costs",),
    },
    ("class", 'classes = ["a", "b"]'): {
        "expected_cost = { costs = [[1, 1], [1, 0]] }": ("expected_cost: costs",),
        "expected_cost = { costs = [[0, 0], [0, 0]] }": ("expected_cost: costs",),
    },
    ("number", SCORE): {
        "accuracy = {}": ("threshold", "none"),
        "accuracy = { threshold = 0.5, above = 0.5 }": ("threshold", "both"),
        "accuracy = { threshold = 0 }": ("threshold",),
        "accuracy = { above = 1 }": ("above",),
        "partial_auc = { min_specificity = 0.8, max_specificity = 0.8 }": ("partial_auc",),
        "pearson_correlation = {}": ("pearson_correlation",),
    },
    ("number", PRESENT): {"accuracy = { threshold = 0.5 }": ("threshold",)},
    ("number", f"minimum = 0\nmaximum = 2\n{PRESENT}"): {"brier_score = {}": ("brier_score",)},
    ("number", "minimum = 0\nmaximum = 9"): {"auc = {}": ("auc",)},
    ("number", "minimum = 0"): {"bias = {}": ("bias: worst",)},
    ("number", ""): {"bias = { worst = 0 }": ("bias.worst", "0")},
    ("class_probabilities", GRADES): {"auc = {}": ("'f'", "class_probabilities")},
    ("points", CELLS): {
        'point_f1 = { matching = "by_confidence" }': ("point_f1: radius",),
        "froc = { radius = 5 }": ("froc",),
        "froc = { radius = 5, false_positives_per_case = [0.0] }": ("false_positives_per_case.0", "0.0"),
    },
    ("points", 'dimensions = 2\nunit = "pixels"\nclasses = ["cell", "other"]\n'): {
        'point_f1 = { radius = 5, matching = "by_confidence" }': ("point_f1: matching", "'by_confidence'")
    },
    ("points", "lesions = [1]"): {"point_f1 = { radius = 1 }": ("matching", "'nearest'")},
    ("boxes", ""): {
        "box_f1 = {}": ("box_f1: matching",),
        'box_froc = { matching = "optimal" }': ("box_froc",),
        "box_average_precision = {}": ("box_average_precision",),
    },
}


@pytest.mark.parametrize(
    ("kind", "keys", "place", "found"),
    [(kind, keys, place, found) for kind, rows in KEYS.items() for keys, (place, *found) in rows.items()],
)
def test_keys_of_a_kind_that_do_not_fit(tmp_path, kind, keys, place, found):
    tables = f'[fields.f]\nkind = "{kind}"\n{keys}\n[tasks.t.metrics]\nauc = {{}}\n'
    with faulted(PhaseError, f"fields.{place}", *found):
        read_configuration(declared_phase(tmp_path, tables, {}))


@pytest.mark.parametrize(
    ("kind", "keys", "metric", "told"),
    [(*field, metric, told) for field, rows in OPTIONS.items() for metric, told in rows.items()],
)
def test_options_of_a_metric_that_do_not_fit(tmp_path, kind, keys, metric, told):
    tables = f'[fields.f]\nkind = "{kind}"\n{keys}\n[tasks.t.metrics]\n{metric}\n'
    with faulted(PhaseError, f"tasks.t.metrics.{metric.partition(' ')[0]}", *told):
        read_configuration(declared_phase(tmp_path, tables, {}))
