"""Whether a case enters a metric follows from its reference alone, whatever is predicted."""

import math
from itertools import product

import numpy as np
import pytest

from evaluation.challenges.declared.declarable import METRICS, name_of
from evaluation.challenges.declared.label_maps import StructureMetricTable
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.challenge import worst_row
from evaluation.core.form import CaseForm
from evaluation.io.kinds.boxes import Boxes
from evaluation.io.kinds.displacement import Displacement
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.io.kinds.points import PointSet
from evaluation.io.kinds.probability_map import DetectionMapValue, ProbabilityMapValue
from evaluation.io.kinds.survival import ObservedTime
from evaluation.metrics.components import components_of
from evaluation.metrics.crops import Crop
from test.catalogue import measures_of

SHAPE = (9, 10, 11)
EXTREME = 1e308


def region(*slices):
    mask = np.zeros(SHAPE, np.uint8)
    mask[slices or ...] = 1
    return mask


def regions():
    """Return masks that may undo a figure: their skeleton, surface, components or whole is special."""
    cut, checker = np.s_, np.indices(SHAPE).sum(axis=0) % 2
    rng = np.random.default_rng(5)
    return {
        "empty": region(0, 0, slice(0)),
        "full": region(),
        "one voxel": region(4, 4, 4),
        "voxel in a corner": region(0, 0, 0),
        "cube of 8": region(*cut[3:5, 3:5, 3:5]),
        "bar of 36": region(*cut[3:5, 3:5, 1:10]),
        "block of 128": region(*cut[3:7, 1:9, 3:7]),
        "line": region(4, 4),
        "plane": region(4),
        "shell": region(*cut[1:8, 1:8, 1:8]) - region(*cut[2:7, 2:7, 2:7]),
        "ring": region(4, *cut[2:7, 2:7]) - region(4, *cut[3:6, 3:6]),
        "checkerboard": checker.astype(np.uint8),
        "noise": (rng.random(SHAPE) < 0.2).astype(np.uint8),
        "cuboids": np.maximum.reduce(
            [region(*(slice(a, a + n) for a, n in rng.integers(0, 5, (3, 2)).tolist())) for _ in range(3)]
        ),
    }


REGIONS = regions()
LESIONS = [REGIONS[name] for name in ("empty", "one voxel", "cube of 8", "block of 128", "noise")]


def label_map(mask):
    kept = mask if mask.any() else mask[:0, :0, :0]
    return LabelMapValue(Crop(kept, (0, 0, 0)), SHAPE, (1.0, 1.0, 1.0))


def label_maps(field):
    for number, mask in enumerate(LESIONS):
        other = "cube of 8" if field.annotators and number % 2 else "empty"
        yield {"field": label_map(mask), "field_by_two": label_map(REGIONS[other])}


def probability_map(values):
    return ProbabilityMapValue(Crop(values, (0, 0, 0)), SHAPE, (1.0, 1.0, 1.0))


def probabilities():
    for level in (1, 0.5, np.float32(1e-45)):
        for mask in REGIONS.values():
            values = (mask * level).astype(np.float32)
            yield probability_map(values if mask.any() else values[:0])


def candidates():
    for confidence, mask in product((1.0, 1e-300), REGIONS.values()):
        found, count = components_of(mask > 0)
        kept = found.astype(np.uint16) if mask.any() else np.zeros((0, 0, 0), np.uint16)
        crop = Crop(kept, (0, 0, 0))
        yield DetectionMapValue(crop, SHAPE, (1.0, 1.0, 1.0), np.full(count, confidence))


def boxes(*corners, probability=1.0):
    rows = [[0, probability, *box] for box in corners]
    return Boxes(np.array(rows, np.float64).reshape(-1, 6))


BOX, POINT, FAR = (1, 1, 4, 4), (2, 2, 2, 2), (EXTREME / 2, 0, EXTREME, 1)


def points(*positions, probability=1.0, names=None):
    found = np.array(positions, np.float64).reshape(-1, 3)
    classes = np.zeros(len(found), np.int64) if names is None else np.array(names, np.int64)
    return PointSet(found, classes, np.full(len(found), probability), np.full(len(found), 2.0))


NUMBERS = [0.0, 1.0, 0.5, 5e-324, -0.0]
UNBOUNDED = [*NUMBERS, EXTREME, -EXTREME, 1e-308]


def values_of(field):
    """Return the references of cases, and the predictions that each may have."""
    kind = field.kind
    if kind == "label_map":
        return list(label_maps(field)), list(map(label_map, REGIONS.values()))
    if kind in ("probability_map", "detection_map"):
        predictions = list(probabilities() if kind == "probability_map" else candidates())
        return [{"field": label_map(mask)} for mask in LESIONS], predictions
    if kind == "boxes":
        few = [boxes(), boxes(BOX), boxes(BOX, BOX), boxes(POINT), boxes(*[BOX] * 9), boxes(BOX, FAR)]
        return [{"field": one} for one in few[:3]], [*few, boxes(BOX, POINT, probability=0.0)]
    if kind == "points":
        few = [points(), points((1, 1, 1)), points((1, 1, 1), (1, 1, 1)), points((2, 1, 0), (9, 9, 9))]
        wrong = [points(*[(1, 1, 1)] * 9), points((EXTREME, 0, 0)), points((1, 1, 1), probability=0.0)]
        return [{"field": one, "field_ignored": None} for one in few], [*few, *wrong]
    if kind in ("point", "keypoints"):
        place = {"names": [0]} if kind == "keypoints" else {}
        found = [
            points(at, **place) for at in ((1, 1, 1), (0, 0, 0), (EXTREME, -EXTREME, 0), (-EXTREME, 1, 1))
        ]
        return [{"field": found[0]}, {"field": found[1]}], found
    if kind == "box":
        found = [boxes(box) for box in (BOX, POINT, (0, 0, 9, 9), FAR)]
        return [{"field": found[0]}, {"field": found[2]}], found
    if kind == "number":
        if field.two_classes:
            return [{"field": label} for label in (0.0, 1.0, 1.0, 0.0, math.nan)], NUMBERS
        return [{"field": number} for number in (0.1, 0.4, 0.9, 0.0)], UNBOUNDED
    if kind in ("decision", "class"):
        return [{"field": label} for label in (0, 1, 1, 0, math.nan)], [0, 1]
    if kind == "class_probabilities":
        predictions = [(1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (5e-324, 1.0)]
        return [{"field": label} for label in (0, 1, 1, 0, math.nan)], predictions
    if kind == "flags":
        flags = [(1, 0), (0, 0), (1, 1), (None, 1), (None, None)]
        return [{"field": one} for one in flags], flags
    if kind == "presence_probabilities":
        flags = [(1, 0), (0, 0), (1, 1), (None, 1), (None, None)]
        return [{"field": one} for one in flags], [(1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (5e-324, 1.0)]
    if kind == "displacement_field":
        landmarks = {f"field_{side}_landmarks": points((1, 1, 1)) for side in ("fixed", "moving")}
        maps = [label_map(mask) for mask in REGIONS.values()]
        references = [
            {"field": None, "field_fixed_labels": fixed, "field_moving_labels": moving, **landmarks}
            for fixed, moving in zip(maps, maps[1:] + maps[:1], strict=True)
        ]
        moved = [np.full((3, *SHAPE), shift) for shift in (0.0, 1.0, -1e6, 0.4)]
        return references, [Displacement(field, (1.0, 1.0, 1.0)) for field in moved]
    if kind == "image":
        ramp = np.linspace(0, 1, math.prod(SHAPE), dtype=np.float32).reshape(SHAPE)
        found = [
            probability_map(values.astype(np.float32))
            for values in (np.zeros(SHAPE), np.full(SHAPE, 0.5), np.ones(SHAPE), ramp)
        ]
        return [{"field": one} for one in found], found
    if kind == "survival":
        observed = [(5.0, 1), (2.0, 0), (9.0, 1), (2.0, 1)]
        return [{"field": ObservedTime(*one)} for one in observed], UNBOUNDED
    made, rng = field.field("field").kind, np.random.default_rng(3)
    found = [made.example(CaseForm("a"), rng) for _ in range(5)]
    if made.numbers:
        found += [made.numbers.value([end] * len(made.numbers.names)) for end in made.numbers.bounds]
    return [{"field": one} for one in found], found


def submitted_of(field, value):
    """Return the values of a case by field; the map of the liver's probability is the liver itself."""
    if field.kind != "label_map":
        return {"field": value}
    mask = value.positions.astype(np.float32)
    return {"field": value, "probability": probability_map(mask)}


def rows_of(measure, field, references, predictions):
    """Yield the reference and the row of each case that these may be."""
    for reference in references:
        for value in predictions:
            comparison = FieldComparison("field", value, reference, submitted_of(field, value))
            yield reference, measure.row(comparison)


def value_of(metric, rows):
    """Return the figure of cases by their rows."""
    table = CaseTable([f"C{case}" for case in range(len(rows))], rows)
    return float(metric.estimator.values(WeightedCases(table, np.ones((1, len(rows)))))[0])


def options_of(table):
    yield {}
    if issubclass(table, StructureMetricTable):
        yield from ({"absent": "exclude"}, {"absent": "score_predicted"})


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


@pytest.mark.parametrize("table", [*METRICS], ids=name_of)
def test_no_prediction_takes_a_case_out_of_a_metric(table):
    for options in options_of(table):
        for field, measure in measures_of(table, **options):
            references, predictions = values_of(field)
            predictions = predictions[::3] if options else predictions  # the defaults see all of them
            worst = [worst_row(measure.metrics, measure.worst(one)) for one in references]
            rows = [
                [
                    measure.row(FieldComparison("field", value, one, submitted_of(field, value)))
                    for value in predictions
                ]
                for one in references
            ]
            for reference, known, of_case in zip(references, worst, rows, strict=True):
                free = measure.undefined(reference)
                for prediction, row in zip(predictions, of_case, strict=True):
                    place = (options, reference, prediction)
                    numbers = [name for name in known.keys() - set(free) if not is_nan(known[name])]
                    assert not [name for name in numbers if is_nan(row[name])], place
                    assert not [
                        name for name in row if isinstance(row[name], float) and math.isinf(row[name])
                    ], place
            _figures_exist_by_the_reference(measure, worst, rows, options)


def _figures_exist_by_the_reference(measure, worst, rows, options):
    """Compare which figures exist, and for which cases, of all cases with the same prediction."""
    if options.get("absent") == "score_predicted":
        return
    names, ones = [f"C{case}" for case in range(len(worst))], np.ones((1, len(worst)))
    expected = CaseTable(names, worst)
    for metric in measure.metrics:
        exists = np.isnan(metric.estimator.values(WeightedCases(expected, ones)))
        for of_cases in zip(*rows, strict=True):
            table = CaseTable(names, [dict(row) for row in of_cases])
            assert np.array_equal(metric.estimator.strata(table), metric.estimator.strata(expected))
            assert np.isnan(metric.estimator.values(WeightedCases(table, ones))) == exists, (
                metric.name,
                of_cases,
            )


# No number among the predictions is a true one, and limits are of more cases than a few.
OUT_OF_REACH = {
    ("intraclass_correlation", "best"),
    ("normalised_absolute_error", "best"),
    *((f"bias_{side}_limit", end) for side in ("lower", "upper") for end in ("best", "worst")),
}


@pytest.mark.parametrize("table", [*METRICS], ids=name_of)
def test_no_figure_leaves_the_range_of_its_metric_and_its_ends_are_reached(table):
    """Of single cases and of a few together, with and without results."""
    rng = np.random.default_rng(7)
    ends, reached = set(), set()
    switched = [{name: not of.default} for name, of in table.model_fields.items() if of.annotation is bool]
    for options in (*options_of(table), *switched):
        for field, measure in measures_of(table, **options):
            references, predictions = values_of(field)
            predictions = predictions[:: 2 if options and len(predictions) > 9 else 1]
            rows = [row for _, row in rows_of(measure, field, references, predictions)]
            missing = [worst_row(measure.metrics, measure.worst(one)) for one in references]
            number = len(rows) + len(missing)
            cases = CaseTable([f"C{case}" for case in range(number)], [*rows, *missing])
            places = [rng.integers(0, len(rows), size) for size in (2, 3, 4) * 10]
            few = np.array([np.bincount(of, minlength=number) for of in places])
            one_missing = few + (np.arange(number) == len(rows))
            samples = WeightedCases(cases, np.vstack([np.eye(number), few, one_missing]))
            for metric in measure.metrics:
                figures = metric.estimator.values(samples)
                found = figures[~np.isnan(figures)]
                low, high = sorted((metric.worst, metric.best))
                assert (low - 1e-9 <= found).all(), metric.name
                assert (found <= high + 1e-9).all(), metric.name
                # Of images that are smaller than a window there is no figure.
                for end in filter(math.isfinite, (low, high)) if found.size else ():
                    of_end = (metric.name, "best" if end == metric.best else "worst", *options)
                    ends.add(of_end)
                    reached |= {of_end} if (np.abs(found - end) < 1e-9).any() else set()
    assert ends - reached == ends & OUT_OF_REACH
