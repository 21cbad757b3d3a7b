import hashlib
import json
import math
from dataclasses import asdict, replace
from math import inf

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable
from evaluation.core.fault import PhaseError
from evaluation.evaluate import Result, evaluate
from evaluation.io.kinds.volume import Volume
from evaluation.phase.scores import case_records
from evaluation.platform.result_file import render
from evaluation.summary import figures_of, organiser_records, summarise
from test.faults import faulted
from test.phases import loaded_phase, refuge_submission, tiny_cases


def likelihoods(case, values):
    """A submission that is neither perfect nor constant: by number, so that some pairs are out of order."""
    return values | {"glaucoma_risk": case.number % 7 / 7}


def result_of(tmp_path, cases=24, change=likelihoods, **phase):
    loaded = loaded_phase(tmp_path / "phase", cases, **phase)
    submission = refuge_submission(tmp_path / "submission", cases, change=change)
    result = evaluate(loaded, submission, workers=0)
    assert isinstance(result, Result)
    return result


def content_of(*arguments, **named):
    result = result_of(*arguments, **named).metrics
    return json.loads(render(asdict(result)))


def test_digits_round_a_metric_wherever_it_stands(tmp_path):
    by_eye, digits = '[[subgroups]]\ncolumn = "eye"\n', '[digits]\n"classification.auc" = 2\n'
    columns = {"eye": ["left", "right"] * 12}
    options = {"subgroup_minimum": 1, "interval_minimum": 2}
    exact = options | {"value_digits": 12, "spread_digits": 12}
    plain = content_of(tmp_path / "a", keys=exact, columns=columns, tables=by_eye)
    rounded = content_of(tmp_path / "b", keys=exact, columns=columns, tables=digits + by_eye)
    auc, full = rounded["aggregates"]["classification"]["auc"], plain["aggregates"]["classification"]["auc"]
    assert auc["value"] == round(full["value"], 2) != full["value"]
    lower, upper = (full["confidence_interval"][end] for end in ("lower", "upper"))
    assert auc["confidence_interval"]["lower"] == math.floor(100 * lower) / 100
    assert auc["confidence_interval"]["upper"] == math.ceil(100 * upper) / 100
    assert rounded["ranking"]["components"]["classification"]["auc"] == auc["value"]
    for eye in ("left", "right"):
        of_eye = plain["subgroups"]["eye"][eye]["classification"]["auc"]
        assert rounded["subgroups"]["eye"][eye]["classification"]["auc"] == round(of_eye, 2)
    kept = [content["aggregates"]["classification"]["reference_sensitivity"] for content in (plain, rounded)]
    assert kept[0] == kept[1]


def test_figures_for_the_organiser_alone(tmp_path):
    """A hidden metric is nowhere in metrics.json; of values alone neither intervals nor subgroups are."""
    tables = """\
[[subgroups]]
column = "eye"

[metric_detail]
"segmentation.*_error" = "none"
"fovea.*" = "none"
"segmentation.dice_c*" = "value"
"segmentation.*p_*" = "value"
"""
    keys = {"publish_cases": True, "optional_tasks": ["fovea"], "score": "classification.auc", "columns": []}
    result = result_of(tmp_path, keys=keys, columns={"eye": ["left", "right"] * 12}, tables=tables)
    content = json.loads(render(asdict(result.metrics)))
    segmentation = content["aggregates"]["segmentation"]
    assert set(segmentation) == {"dice_cup", "dice_disc"}
    assert set(segmentation["dice_cup"]) == {"value"}
    assert {"value", "confidence_interval", "standard_deviation"} <= set(segmentation["dice_disc"])
    assert content["aggregates"]["fovea"] == {}
    assert [list(tasks["segmentation"]) for tasks in content["subgroups"]["eye"].values()] == [
        ["dice_disc"]
    ] * 2
    assert "vertical_cup_to_disc_ratio_error" not in json.dumps(content["case"])
    assert "distance" not in json.dumps(content["case"])
    figures = organiser_records(result, figures_of(result))["figures"]
    assert figures["aggregates"]["segmentation"]["dice_cup"]["confidence_interval"]
    assert figures["aggregates"]["fovea"]["distance"]["value"] == 0


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("classification.*", ("metric_detail", "classification.auc", "'none'")),
        ("segmentation.dice_lens", ("metric_detail", "segmentation.dice_lens")),
    ],
)
def test_no_metric_of_the_leaderboard_is_for_the_organiser_alone(tmp_path, name, problem):
    keys = {"score": "classification.auc", "columns": []}
    tables = f'[metric_detail]\n"{name}" = "none"\n'
    with faulted(PhaseError, *problem):
        loaded_phase(tmp_path / "phase", 4, keys=keys, tables=tables)


def test_cases_are_published_where_the_phase_says_so(tmp_path):
    def lost(case, values):
        return likelihoods(case, values) if case.number > 1 else {}

    content = content_of(tmp_path, change=lost, keys={"publish_cases": True, "missing": "worst"})
    assert list(content["case"]) == [case.name for case in tiny_cases(24)]
    found, missing = content["case"]["V0002"], content["case"]["V0001"]
    assert found["classification"] == {"likelihood": 0.2857, "glaucoma": 1.0}
    assert found["fovea"] == {"distance": 0.0}
    # The likelihood of a missing case is −∞ and cannot be published.
    assert missing["classification"] == {"glaucoma": 1.0}
    assert missing["fovea"] == {"distance": 20.0}
    scores = ("dice_cup", "dice_disc", "vertical_cup_to_disc_ratio_error")
    assert [found["segmentation"][name] for name in scores] == [1, 1, 0]
    assert [missing["segmentation"][name] for name in scores] == [0, 0, 1]


def test_cases_with_worst_values_are_one_total(tmp_path):
    def partly(case, values):
        if case.number == 2:
            return {}
        return {name: value for name, value in values.items() if name != "fovea" or case.number > 3}

    result = result_of(tmp_path, change=partly, keys={"missing": "worst"})
    assert [outcome.worst for outcome in result.outcomes[:4]] == [
        ("fovea",),
        ("classification", "segmentation", "fovea"),
        ("fovea",),
        (),
    ]
    content = json.loads(render(asdict(result.metrics)))
    assert content["cases"] == {"expected": 24, "scored": 21, "worst": 3}
    # The denominator stays: one Dice of 0 among 24.
    assert content["aggregates"]["segmentation"]["dice_cup"]["value"] == 0.9583  # 23 / 24
    assert content["aggregates"]["fovea"]["distance"]["value"] == pytest.approx(3 * 20 / 24)


def test_subgroups_by_value_bin_and_positives(tmp_path):
    columns = {"age": list(range(40, 64)), "Eye side": ["left"] * 18 + ["right"] * 6, "lesion": [1, ""] * 12}
    tables = """\
subgroups = [
    {column = "age", bins = [52]}, {column = "Eye side"}, {column = "lesion", compare = "positives"}
]
"""
    keys = {"subgroup_minimum": 6, "value_digits": 12}
    content = content_of(tmp_path, columns=columns, keys=keys, tables=tables)
    found = content["subgroups"]
    # The first 12 cases are glaucomatous: neither half by age holds both classes.
    assert {age: list(tasks) for age, tasks in found["age"].items()} == {
        "below_52": ["segmentation", "fovea"],
        "52_and_above": ["segmentation", "fovea"],
    }
    assert list(found["eye_side"]["left"]) == ["classification", "segmentation", "fovea"]
    assert list(found["eye_side"]["right"]) == ["segmentation", "fovea"]
    assert list(found["lesion"]) == ["1"]
    assert list(found["lesion"]["1"]) == ["classification"]
    # Positives 1, 3, 5, …, 11 against all negatives 13 … 24, by number modulo 7.
    positives, negatives = [n % 7 for n in range(1, 12, 2)], [n % 7 for n in range(13, 25)]
    wins = sum((p > n) + (p == n) / 2 for p in positives for n in negatives)
    assert found["lesion"]["1"]["classification"]["auc"] == pytest.approx(wins / 72)


def test_clusters_of_the_case_table_widen_the_interval_and_empty_cells_are_none(tmp_path):
    def by_person(case, values):
        # Both eyes of a person are equally well segmented.
        mask = values["segmentation"].values[0].copy()
        rows = np.flatnonzero((mask != 255).any(axis=1))
        mask[rows[: (case.number - 1) // 2 % 4]] = 255
        return values | {"segmentation": Volume.of_image(mask)}

    widths = []
    for name, clusters in (
        ("none", [""] * 24),
        ("paired", [f"P{i // 2}" for i in range(24)]),
        ("single", None),
    ):
        columns = {"cluster": clusters} if clusters else None
        content = content_of(tmp_path / name, change=by_person, columns=columns, keys={"resamples": 2000})
        dice = content["aggregates"]["segmentation"]["dice_disc"]
        widths.append(dice["confidence_interval"]["half_width"])
    # √2 by the clusters; more by one further person, not case, with the worst value.
    assert 2**0.5 < widths[1] / widths[0] < 2
    assert widths[2] == widths[0]


def test_records_of_cases_for_the_organiser(tmp_path):
    def lost(case, values):
        if case.number in (1, 20):
            return {name: value for name, value in values.items() if name != "glaucoma_risk"}
        return values

    result = result_of(
        tmp_path, change=lost, keys={"missing": "worst"}, columns={"age (years)": [50] * 24, "a.b": [""] * 24}
    )
    manifest = tmp_path / "phase" / "manifest.json"
    records = json.loads(render(case_records(result), organisers=True, rounded=False))
    assert (records["challenge"], records["phase"]) == ("refuge", "refuge-tiny")
    assert records["manifest"] == hashlib.sha256(manifest.read_bytes()).hexdigest()
    cases = {record["name"]: record for record in records["cases"]}
    assert list(cases) == [case.name for case in tiny_cases(24)]
    assert cases["V0001"]["tasks"]["classification"] == {"likelihood": str(-inf), "glaucoma": 1}
    assert cases["V0020"]["tasks"]["classification"] == {"likelihood": str(inf), "glaucoma": 0}
    assert cases["V0020"]["worst"] == ["classification"]
    assert cases["V0002"]["worst"] == []
    assert cases["V0002"]["table"]["age (years)"] == "50"
    assert cases["V0002"]["tasks"]["classification"] == {"likelihood": 0.902, "glaucoma": 1}
    assert "failure" not in cases["V0001"]


def test_published_names_with_dots_become_keys(tmp_path):
    result = result_of(tmp_path, keys={"publish_cases": True})
    forms = tuple(replace(case, name=f"{case.name}.v2") for case in result.phase.cases.forms)
    renamed = replace(result, phase=replace(result.phase, cases=replace(result.phase.cases, forms=forms)))
    tables = {
        name: CaseTable([form.name for form in forms], table.rows) for name, table in result.tables.items()
    }
    published = summarise(replace(renamed, tables=tables)).case
    assert list(published)[:2] == ["V0001_v2", "V0002_v2"]
