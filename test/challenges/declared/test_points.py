"""Declared points: classes, rules of matching, ignored objects, and options that do not fit."""

import numpy as np
import pytest
from grand_challenge_metrics.scorers import score_detection

import evaluation
from evaluation.core.fault import PhaseError
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import declared_phase, figures_of, write_table
from test.oracles import checked

CELLS = """\
[fields.cells]
kind = "points"
axes = 2
unit = "pixels"
classes = ["mitotic figure", "other"]
probability = true

[tasks.detection.metrics]
point_f1 = { radius = 5, matching = "by_confidence" }
sure = { metric = "point_recall", radius = 5, minimum_probability = 0.5 }
"""
CASES = {"name": ["a", "b"], "width": [100, 100], "height": [80, 80]}
REFERENCE = {
    "case": ["a", "a", "a"],
    "x": [10, 20, 50],
    "y": [10, 20, 50],
    "class": ["mitotic figure", "other", "other"],
}
FOUND = {
    "case": ["a", "a", "a", "b"],
    "x": [10, 20, 47, 1],
    "y": [10, 20, 46, 1],
    # The second is near an object of the other class only; the third is just near enough.
    "class": ["mitotic figure", "mitotic figure", "other", "other"],
    "probability": [0.9, 0.8, 0.4, 0.7],
}


def scored(folder, tables, reference, found, cases=CASES, **further):
    phase = declared_phase(folder / "phase", tables, cases)
    write_table(phase / "cells.csv", reference)
    for name, table in further.items():
        write_table(phase / f"{name}.csv", table)
    return figures_of(phase, folder, found)


def test_points_hit_objects_of_their_class(tmp_path):
    figures = scored(tmp_path, CELLS, REFERENCE, FOUND)
    # Mitotic figures: one hit, one false. Others: one hit, one false, one missed.
    assert figures == pytest.approx(
        {
            "point_f1": 4 / 7,
            "point_f1_mitotic_figure": 2 / 3,
            "point_f1_other": 0.5,
            "sure": 1 / 3,
            "sure_mitotic_figure": 1,
            "sure_other": 0,
        },
        abs=5e-5,
    )
    assert rehearse(load_phase(tmp_path / "phase")).problems == ()


NEAREST = """\
[fields.cells]
kind = "points"

[tasks.detection.metrics]
point_f1 = { radius = 3 }
point_precision = { radius = 3 }
point_recall = { radius = 3 }
"""


@checked(
    point_f1="grand_challenge_metrics.scorers.score_detection",
    point_precision="grand_challenge_metrics.scorers.score_detection",
    point_recall="grand_challenge_metrics.scorers.score_detection",
)
def test_the_nearest_points_as_the_platforms_package(tmp_path):
    random = np.random.default_rng(4)
    names = ["a", "b", "c"]
    true, found = random.uniform(0, 10, (3, 12, 3)).round(3), random.uniform(0, 10, (3, 15, 3)).round(3)
    counts = np.zeros(3)
    for reference, predicted in zip(true, found, strict=True):
        of_case = score_detection(ground_truth=reference, predictions=predicted, radius=3.0)
        counts += of_case.true_positives, of_case.false_positives, of_case.false_negatives
    hits, false, missed = counts
    assert min(counts) > 5
    columns = [
        {"case": np.repeat(names, points.shape[1]), **dict(zip("xyz", points.reshape(-1, 3).T, strict=True))}
        for points in (true, found)
    ]
    assert scored(tmp_path, NEAREST, *columns, {"name": names}) == pytest.approx(
        {
            "point_f1": 2 * hits / (2 * hits + false + missed),
            "point_precision": hits / (hits + false),
            "point_recall": hits / (hits + missed),
        },
        abs=5e-5,
    )


NODULES = """\
[fields.cells]
kind = "points"
probability = true
diameter = true
ignored = "others.csv"

[tasks.detection.metrics]
point_precision = { matching = "any" }
strict = { metric = "point_recall", matching = "any", boundary = "excluded" }
"""


def test_the_radius_is_that_of_the_object_and_ignored_objects_do_not_count(tmp_path):
    reference = {"case": ["a"], "x": [0], "y": [0], "z": [0], "diameter": [4]}
    others = {"case": ["a"], "x": [50], "y": [0], "z": [0], "diameter": [10]}
    found = {
        "case": ["a"] * 4,
        "x": [2, 1, 54, 56],
        "y": [0] * 4,
        "z": [0] * 4,
        "probability": [0.9, 0.8, 0.7, 0.6],
    }
    # The first hits, the second hits again, the third hits an ignored object, the last is false.
    cases = {"name": ["a", "b"]}
    figures = scored(tmp_path, NODULES, reference, found, cases, others=others)
    assert figures == {"point_precision": 0.5, "strict": 1}


def faults_of(folder, tables, reference=REFERENCE):
    phase = declared_phase(folder / "phase", tables, CASES)
    write_table(phase / "cells.csv", reference)
    with pytest.raises(PhaseError) as error:
        evaluation.seal(phase)
    return list(error.value.problems)


DECLARATIONS = {
    "no radius": (
        CELLS.replace("{ radius = 5, m", "{ m"),
        "metrics.point_f1: radius: expected a distance, since the reference has no diameters",
    ),
    "no probability": (
        CELLS.replace("probability = true\n", ""),
        "metrics.point_f1: matching: 'by_confidence' needs probability = true in field 'cells'",
    ),
    "froc of several classes": (
        CELLS + "froc = { radius = 5 }\n",
        "metrics.froc: expected a field without classes, or with one",
    ),
    "a rate of zero": (
        CELLS + "froc = { radius = 5, false_positives_per_case = [0.0] }\n",
        "false_positives_per_case.0: input should be greater than 0 (got 0.0)",
    ),
    "a class twice": (CELLS.replace('"other"]', '"mitotic figure"]'), "duplicate 'mitotic figure'"),
    "columns": (
        CELLS.replace("axes = 2", 'axes = 2\ncolumns = ["x", "y"]'),
        "columns: expected 4 columns (x, y, class, probability), found 2",
    ),
}


@pytest.mark.parametrize("name", DECLARATIONS)
def test_options_that_do_not_fit(tmp_path, name):
    tables, expected = DECLARATIONS[name]
    assert any(expected in fault for fault in faults_of(tmp_path, tables)), faults_of(tmp_path, tables)


REFERENCES = {
    "an unknown case": (
        {**REFERENCE, "case": ["a", "a", "c"]},
        "cells.csv, line 4, case: expected a case of cases.csv that has such a reference, found 'c'",
    ),
    "an unknown class": (
        {**REFERENCE, "class": ["other", "other", "cell"]},
        'cells.csv, line 4, class: expected a class (mitotic figure, other), found "cell"',
    ),
    "a point outside": (
        {**REFERENCE, "x": [10, 20, 150]},
        "cells.csv, line 4, x, y, class: expected x from 0 to 100, found x = 150",
    ),
    "no class": (
        {column: REFERENCE[column] for column in ("case", "x", "y")},
        "cells.csv: column 'class' is missing",
    ),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_is_validated_when_the_phase_is_sealed(tmp_path, name):
    reference, expected = REFERENCES[name]
    assert faults_of(tmp_path, CELLS, reference) == [expected]


def test_a_missing_reference(tmp_path):
    phase = declared_phase(tmp_path / "phase", CELLS, CASES)
    with pytest.raises(PhaseError) as error:
        evaluation.seal(phase)
    assert "cells.csv: is missing, expected the reference of 2 cases" in error.value.problems
