"""Charts that a phase publishes: what they hold, what they do not, and that the platform can draw them."""

import json
import math
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
import vl_convert
from sklearn.metrics import roc_curve

from evaluation.charts.published import CURVE_NUMBERS, documents
from evaluation.cli.main import main
from evaluation.core.fault import PhaseError
from evaluation.evaluate import evaluate
from evaluation.organiser.audit import audit
from evaluation.organiser.validate import validate_phase
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from test.charts.vega_lite import validator
from test.faults import faulted
from test.repository import REPOSITORY

SUBMISSION = REPOSITORY / "test" / "input" / "refuge-onsite"
OPEN = "metric_detail = {}\n"
NAMES = ("metrics", "subgroups", "roc")
PUBLISHED = ", ".join(f'"chart-{name}.json" = "chart-{name}"' for name in NAMES)
LINES = f"""\
outputs = {{ {PUBLISHED} }}
spread_digits = 2
metric_detail = {{}}
subgroup_minimum = 5
publish_label_subgroups = ["eye"]
"""
TABLES = '[[subgroups]]\ncolumn = "eye"\n'


def phase_folder(folder, lines=LINES):
    shutil.copytree(REPOSITORY / "ground-truth" / "refuge-onsite", folder)
    path = folder / "phase.toml"
    text = path.read_text(encoding="utf-8").partition("[[subgroups]]")[0]
    text = re.sub("metric_detail = .*\n", "" if lines else OPEN, text)
    text = text.replace('submission = "archive"', f'submission = "archive"\n{lines}')
    path.write_text(f"{text}\n{TABLES if lines else ''}", encoding="utf-8")
    seal(folder, scan(folder))
    return folder


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    phase = load_phase(phase_folder(tmp_path_factory.mktemp("published") / "phase"))
    return evaluate(phase, SUBMISSION, 0)


@pytest.fixture(scope="module")
def charts(scored):
    found = documents(scored, scored.metrics, scored.phase.config.outputs)
    assert list(found) == [f"chart-{name}.json" for name in NAMES]
    return {name: json.loads(found[f"chart-{name}.json"]) for name in NAMES}


def test_the_curve_is_that_of_scikit_learn_with_published_digits(scored, charts):
    table = scored.tables["classification"]
    rates, sensitivities, _ = roc_curve(
        table["glaucoma"], np.nan_to_num(table["likelihood"], neginf=-9), drop_intermediate=False
    )
    rows = charts["roc"]["datasets"]["curves"]
    assert [row["false_positive_rate"] for row in rows] == pytest.approx([step / 10 for step in range(11)])
    expected = [max(sensitivities[rates <= step / 10 + 1e-12]) for step in range(1, 10)]
    assert [row["sensitivity"] for row in rows[1:-1]] == [round(value, 2) for value in expected]
    assert (rows[0]["sensitivity"], rows[-1]["sensitivity"]) == (0, 1)
    # Between the points nothing is claimed but that the curve never falls, and the area is the published one.
    boxes = charts["roc"]["datasets"]["between"]
    for rate, sensitivity in zip(rates, sensitivities, strict=True):
        assert any(
            box["from"] <= rate <= box["to"] and box["lower"] - 0.005 <= sensitivity <= box["upper"] + 0.005
            for box in boxes
        )
    auc = scored.metrics.aggregates["classification"]["auc"].value
    assert {row["name"] for row in rows} == {f"Glaucoma classification: AUC {auc:g}"}


def test_charts_hold_the_published_numbers_and_no_more_digits(scored, charts):
    published = {
        metric.title: scored.metrics.aggregates[task.name][metric.name]
        for task in scored.tasks
        for metric in task.metrics
    }
    for row in charts["metrics"]["datasets"]["metrics"]:
        estimate = published[row["metric"].rstrip(" ↑↓")]
        assert row["value"] == estimate.value
        if row["lower"] is not None:
            assert (row["lower"], row["upper"]) == (
                estimate.confidence_interval.lower,
                estimate.confidence_interval.upper,
            )
    values = [row["value"] for row in charts["subgroups"]["datasets"]["subgroups"]]
    of_groups = [group["classification"]["auc"] for group in scored.metrics.subgroups["eye"].values()]
    assert values == [scored.metrics.aggregates["classification"]["auc"].value, *of_groups]


def test_a_phase_without_a_curve_cannot_publish_one(tmp_path):
    phase = tmp_path / "cysts"
    shutil.copytree(REPOSITORY / "ground-truth" / "cysts", phase)
    path = phase / "phase.toml"
    path.write_text(
        'outputs = { "curve.json" = "chart-roc" }\n' + path.read_text(encoding="utf-8"), encoding="utf-8"
    )
    with faulted(PhaseError, "phase.toml: outputs: chart-roc"):
        validate_phase(phase, scan(phase), 0)


def test_no_chart_names_a_case(scored, charts):
    text = json.dumps(charts)
    assert not [case.name for case in scored.phase.cases.forms if case.name in text]
    assert "selected_case" not in text


def test_audit_counts_what_the_curve_adds(scored, tmp_path):
    without = load_phase(
        phase_folder(tmp_path / "phase", LINES.replace(', "chart-roc.json" = "chart-roc"', ""))
    )
    counted, before = audit(scored.phase, 0).figures, audit(without, 0).figures
    (added,) = set(counted) - set(before)
    assert (added.metric, added.numbers) == ("classification.auc", CURVE_NUMBERS)
    assert added.bits() == pytest.approx(9 * math.log2(101))
    assert not set(before) - set(counted)


@pytest.mark.parametrize("empty", [False, True])
def test_charts_are_valid_vega_lite_5_and_drawn_and_written_without_figures_too(scored, empty):
    result = replace(scored, tasks=()) if empty else scored
    for document in documents(result, scored.metrics, result.phase.config.outputs).values():
        chart = json.loads(document)
        assert validator().is_valid(chart)
        assert len(document) < 300_000
        svg = vl_convert.vegalite_to_svg({**chart, "width": 400}, vl_version="5.21")
        assert "NaN" not in svg
        assert svg.count("<path") > (0 if empty else 5)


def test_the_command_writes_them_beside_the_metrics(scored, tmp_path):
    arguments = ["evaluate", "--input", str(SUBMISSION), "--workers", "0"]
    folders = {"with": LINES, "without": ""}
    for name, lines in folders.items():
        phase = phase_folder(tmp_path / name, lines)
        output = tmp_path / f"output-{name}"
        assert main([*arguments, "--ground-truth", str(phase), "--output", str(output)]) == 0
    written = {path.name: path.read_bytes() for path in (tmp_path / "output-with").iterdir()}
    assert written.pop("metrics.json")
    assert written == documents(scored, scored.metrics, scored.phase.config.outputs)
    assert [path.name for path in (tmp_path / "output-without").iterdir()] == ["metrics.json"]


def test_a_chart_says_by_itself_what_it_shows(charts):
    for chart in charts.values():
        assert chart["title"]["text"]
        assert " ".join(chart["title"]["subtitle"]) in chart["description"]
        assert max(map(len, chart["title"]["subtitle"])) <= 80
