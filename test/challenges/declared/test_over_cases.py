"""How figures of cases become one: mean, median, quantile, pooled, by group, against NumPy and pandas."""

import math
from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import pytest

import evaluation
from evaluation.challenges.declared.declarable import METRICS, name_of
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.challenge import worst_row
from test.catalogue import measures_of
from test.challenges.declared.images import figures_of, volume_phase
from test.challenges.declared.phases import declared_phase
from test.challenges.declared.phases import figures_of as table_figures
from test.challenges.declared.test_entering import (
    REGIONS,
    label_map,
    rows_of,
    submitted_of,
    value_of,
    values_of,
)
from test.faults import faulted

CENTRES = ["A", "B", "A", "B", "A", "C", "C", ""]
LABELS = {1: "organ", 2: "tumour"}
FIELD = '[fields.map]\nkind = "label_map"\nlabels = { 1 = "organ", 2 = "tumour" }\n'
DICE = f"""\
{FIELD}
[tasks.scans.metrics]
mean_dice = {{ metric = "dice", over_cases = "mean" }}
median_dice = {{ metric = "dice", over_cases = "median" }}
low_dice = {{ metric = "dice", over_cases = {{ quantile = 0.3 }} }}
pooled_dice = {{ metric = "dice", over_cases = "pooled" }}
pooled_of_labels = {{ metric = "dice", over_cases = "pooled", mean = "of_labels" }}
pooled_of_present = {{ metric = "dice", over_cases = "pooled", absent = "exclude" }}
dice_of_centres = {{ metric = "dice", group = "centre" }}
pooled_of_centres = {{ metric = "dice", over_cases = "pooled", group = "centre" }}
median_of_labels = {{ metric = "dice", over_cases = "median", mean = "of_labels", absent = "exclude" }}
"""


def scans(seed):
    rng = np.random.default_rng(seed)
    return {f"scan{case}": (rng.random((3, 5, 6)) ** 2 * 3).astype(np.uint8) for case in range(len(CENTRES))}


REFERENCES, PREDICTIONS = scans(0), scans(1)
REFERENCES["scan2"][REFERENCES["scan2"] == 2] = 0


def dice_phase(folder, tables=DICE, keys=""):
    return volume_phase(folder, tables, REFERENCES, keys=keys, more={"centre": CENTRES})


def overlaps():
    """Return voxels of each label and scan: twice the overlap, and the sum of both maps."""
    rows = []
    for (name, true), centre in zip(REFERENCES.items(), CENTRES, strict=True):
        for label, of in LABELS.items():
            masks = true == label, PREDICTIONS[name] == label
            both, sizes = 2 * (masks[0] & masks[1]).sum(), masks[0].sum() + masks[1].sum()
            rows.append((name, of, centre, both, sizes, both / sizes, bool(masks[0].any())))
    return pd.DataFrame(rows, columns=["scan", "label", "centre", "both", "sizes", "dice", "present"])


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("over-cases")
    return figures_of(dice_phase(folder), folder, PREDICTIONS)


def test_dice_by_each_estimator(found):
    frame = overlaps()
    of_cases = frame.groupby("scan")["dice"].mean()
    of_labels = frame.groupby("label")
    centres = frame[frame.centre != ""].groupby("centre")
    pooled = of_labels["both"].sum() / of_labels["sizes"].sum()
    expected = {
        "mean_dice": of_cases.mean(),
        "median_dice": np.median(of_cases),
        "low_dice": np.quantile(of_cases, 0.3),
        "pooled_dice": frame["both"].sum() / frame["sizes"].sum(),
        "pooled_of_labels": pooled.mean(),
        "pooled_of_present": frame[frame.present]["both"].sum() / frame[frame.present]["sizes"].sum(),
        "dice_of_centres": centres["dice"].mean().mean(),
        "pooled_of_centres": (centres["both"].sum() / centres["sizes"].sum()).mean(),
        "median_of_labels": frame[frame.present].groupby("label")["dice"].median().mean(),
        "median_dice_tumour": frame[frame.label == "tumour"]["dice"].median(),
        "pooled_dice_organ": pooled["organ"],
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-4)


def test_a_group_is_a_column_of_the_case_table(tmp_path):
    with faulted(evaluation.PhaseError, "cases.csv", "nowhere"):
        dice_phase(tmp_path, f'{FIELD}[tasks.scans.metrics]\ndice = {{ group = "nowhere" }}\n')


# --- Over the whole catalogue ---


POOLED = [table for table in METRICS if any(measure.sums for _, measure in measures_of(table))]


@pytest.mark.parametrize("table", POOLED, ids=name_of)
def test_pooled_over_one_case_is_the_figure_of_the_case(table):
    for field, measure in measures_of(table):
        if measure.sums is None:
            continue
        references, predictions = values_of(field)
        pooled = measure.pooled()
        pairs = zip(
            rows_of(measure, field, references, predictions[:9]),
            rows_of(pooled, field, references, predictions[:9]),
            strict=True,
        )
        for (reference, of_case), (_, parts) in pairs:
            for metric, of_sums in zip(measure.metrics, pooled.metrics, strict=True):
                case = value_of(metric, [of_case])
                found = value_of(of_sums, [parts])
                assert found == pytest.approx(case, nan_ok=True), (metric.name, reference)
        for reference in references:
            missing = worst_row(pooled.metrics, pooled.worst(reference))
            for metric in pooled.metrics:
                values = [
                    value_of(metric, [row]) for _, row in rows_of(pooled, field, [reference], predictions[:1])
                ]
                of_missing = value_of(metric, [missing])
                if not math.isnan(of_missing):
                    sign = 1 if metric.better == "higher" else -1
                    assert all(sign * of_missing <= sign * value + 1e-9 for value in values)


@pytest.mark.parametrize("name", ["box_f1", "box_precision", "box_recall", "point_f1", "point_precision"])
def test_the_share_of_a_case_is_that_of_its_objects_alone(name):
    """Without any object a recall is none; the others are 0 once one is predicted, or the case is missing."""
    (table,) = (one for one in METRICS if name_of(one) == name)
    shares = set()
    for field, measure in measures_of(table):
        references, predictions = values_of(field)
        for reference in references:
            for value in predictions:
                comparison = FieldComparison("field", value, reference, submitted_of(field, value))
                objects, sums = measure.row(comparison), measure.of_cases.row(comparison)
                for metric in measure.metrics:
                    hits, false, missed = (
                        objects[f"{metric.name}_{part}"]
                        for part in ("true_positives", "false_positives", "false_negatives")
                    )
                    if hits + missed:
                        expected = value_of(metric, [objects])
                    else:
                        expected = math.nan if "recall" in name else 0.0 if false else 1.0
                    assert sums[metric.name] == pytest.approx(expected, nan_ok=True)
                    shares.add(sums[metric.name])
            missing = measure.of_cases.worst(reference)
            for metric in measure.metrics:
                nothing = (
                    not objects[f"{metric.name}_true_positives"] + objects[f"{metric.name}_false_negatives"]
                )
                expected = math.nan if nothing and "recall" in name else 0.0
                assert missing[metric.name] == pytest.approx(expected, nan_ok=True)
    assert len(shares) > 3


OF_VOXELS = [
    *("aggregated_jaccard", "detected_lesions", "dice", "jaccard", "lesion_wise_dice"),
    *("lesion_wise_hausdorff_distance", "panoptic_quality", "recognition_quality", "volume_similarity"),
    *("voxel_precision", "voxel_sensitivity"),
]


@pytest.mark.parametrize("table", list(map(METRICS.named, OF_VOXELS)), ids=name_of)
@pytest.mark.parametrize("pooled", [False, True])
def test_a_missing_scan_of_nothing_is_worth_that_of_one_false_voxel(table, pooled):
    full, empty, voxel = (label_map(REGIONS[name]) for name in ("block of 128", "empty", "voxel in a corner"))
    for field, measure in measures_of(table):
        if field.kind != "label_map" or field.annotators:
            continue
        of = measure.pooled() if pooled else measure
        right, false = (
            of.row(FieldComparison("field", made, {"field": true}))
            for made, true in ((full, full), (voxel, empty))
        )
        missing = worst_row(of.metrics, of.worst({"field": empty}))
        for metric in of.metrics:
            figure = value_of(metric, [right, missing])
            assert figure == pytest.approx(value_of(metric, [right, false])), metric.name


EMPTY, FULL = np.zeros((2, 3, 4), np.uint8), np.ones((2, 3, 4), np.uint8)
POOLED_SHARES = ("voxel_precision", "voxel_sensitivity", "segmentation_quality")


@pytest.mark.parametrize(
    ("true", "made", "expected"),
    [
        ((FULL, FULL), (EMPTY, EMPTY), (0, 0, 0)),
        ((EMPTY, EMPTY), (FULL, EMPTY), (0, 0, 0)),
        ((EMPTY, EMPTY), (EMPTY, EMPTY), (1, 1, 1)),
        ((FULL, EMPTY), (FULL, EMPTY), (1, 1, 1)),
    ],
)
def test_nobody_has_a_pooled_share_of_1_for_masks_without_any_voxel(tmp_path, true, made, expected):
    """Only where no scan has the label at all, which no submission can improve."""
    metrics = "".join(f'{name} = {{ over_cases = "pooled" }}\n' for name in POOLED_SHARES)
    phase = volume_phase(
        tmp_path, f"{FIELD}[tasks.scans.metrics]\n{metrics}", dict(zip("ab", true, strict=True))
    )
    found = figures_of(phase, tmp_path, dict(zip("ab", made, strict=True)))
    assert tuple(found[name] for name in POOLED_SHARES) == expected


@pytest.mark.parametrize("name", ["dice", "jaccard", "voxel_precision", "voxel_sensitivity"])
def test_a_missing_scan_is_worth_one_with_as_many_voxels_that_are_all_elsewhere(name):
    true, elsewhere = REGIONS["cube of 8"], np.roll(REGIONS["cube of 8"], 4, axis=1)
    assert not (elsewhere & true).any()
    for field, measure in measures_of(METRICS.named(name)):
        if field.kind == "label_map" and not field.annotators:
            of = measure.pooled()
            reference, made = (label_map(mask) for mask in (true, elsewhere))
            right, false = (
                of.row(FieldComparison("field", found, {"field": reference})) for found in (reference, made)
            )
            missing = worst_row(of.metrics, of.worst({"field": reference}))
            for metric in of.metrics:
                figure = value_of(metric, [right, missing])
                assert figure == pytest.approx(value_of(metric, [right, false])), metric.name


@pytest.mark.parametrize(
    ("worst", "length"),
    [
        (None, math.hypot(9, 20, 11)),
        ("diagonal", math.hypot(9, 20, 11)),
        ("shape_norm", math.hypot(9, 10, 11)),
        (50.0, 50),
    ],
)
@pytest.mark.parametrize(
    "name", ["hausdorff_distance", "average_surface_distance", "lesion_wise_hausdorff_distance"]
)
def test_a_missing_scan_has_the_length_that_is_named_as_worst(name, worst, length):
    """Rows of pixels are 2 mm apart: the sides of the volume are 9, 20 and 11 mm."""
    reference = replace(label_map(REGIONS["block of 128"]), spacing_mm=(1.0, 2.0, 1.0))
    table = METRICS.named(name)
    for field, measure in measures_of(table, worst=worst):
        if field.kind == "label_map" and not field.annotators:
            (missing,) = set(measure.worst({"field": reference}).values())
            assert missing == pytest.approx(length)


def readings_of(table):
    """Yield the defaults, and each other way to read a curve or to match objects by itself.

    Where equal confidences stand in an order, copies of a case stand between each other: not those.
    """
    fields = table.model_fields
    given = {"ties": "together"} if "ties" in fields else {}
    yield given
    for name in ("reading", "formula", "curve", "matching", "averaging"):
        for choice in get_args(fields[name].annotation) if name in fields else ():
            yield {**given, name: choice}


def tables_of(table):
    """Yield the metrics of each field and reading of a class with rows of ten cases, two without a result."""
    rng = np.random.default_rng(7)
    for field, measure in [one for further in readings_of(table) for one in measures_of(table, **further)]:
        references, predictions = values_of(field)
        pairs = [(one, value) for one in references for value in predictions]
        rows = [
            measure.row(FieldComparison("field", value, reference, submitted_of(field, value)))
            for reference, value in (pairs[place] for place in rng.permutation(len(pairs))[:8])
        ]
        rows += [worst_row(measure.metrics, measure.worst(reference)) for reference in references[:2]]
        yield measure.metrics, rows


@pytest.mark.parametrize("table", list(METRICS), ids=name_of)
def test_a_weight_is_a_number_of_copies(table):
    """A sample that is drawn by weights is worth what its cases are, each as often as it was drawn."""
    rng = np.random.default_rng(8)
    for metrics, rows in tables_of(table):
        whole = CaseTable([f"C{case}" for case in range(len(rows))], rows)
        weights = rng.integers(0, 4, (8, len(rows)))
        copies = [[row for row, often in zip(rows, of, strict=True) for _ in range(often)] for of in weights]
        for metric in metrics:
            drawn = metric.estimator.values(WeightedCases(whole, weights))
            assert drawn == pytest.approx([value_of(metric, of) for of in copies], nan_ok=True), metric.name
            sums = metric.estimator.of_sums(whole, metric.worst, metric.best)
            if sums is not None and metric.estimator.group_column is None:
                # The degrees of freedom of a limit of agreement are those of the sample, whatever is drawn.
                drawn = np.ones_like(weights) if "limit" in metric.name else 1 + weights
                each = metric.estimator.values(WeightedCases(whole, drawn))
                assert sums.figure(drawn @ sums.columns.T) == pytest.approx(each), metric.name


def test_the_root_mean_square_of_absolute_errors_is_that_of_errors(tmp_path):
    tables = """\
[fields.age]
kind = "number"
minimum = 0
maximum = 100
[tasks.age.metrics]
absolute = { metric = "mean_absolute_error", over_cases = "root_mean_square" }
root_mean_squared_error = {}
"""
    names, true = [f"C{number}" for number in range(6)], [10, 20, 30, 40, 50, 60]
    phase = declared_phase(tmp_path / "phase", tables, {"name": names, "age": true}, keys='missing = "worst"')
    found = {"case": names[1:], "age": [25, 28, 40, 47, 61]}  # the first case counts as 100
    figures = table_figures(phase, tmp_path, found)
    expected = np.sqrt(np.mean(np.square([100, 5, 2, 0, 3, 1])))
    assert figures == pytest.approx({"absolute": expected, "root_mean_squared_error": expected}, abs=5e-3)
