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

from evaluation.charts.intervals import MetricInterval, metric_intervals_chart
from evaluation.charts.published import CURVE_NUMBERS, documents
from evaluation.cli.main import main
from evaluation.core.fault import PhaseError
from evaluation.evaluate import evaluate
from evaluation.organiser.audit import audit
from evaluation.organiser.validate import validate_phase
from evaluation.phase.config import PhaseConfig
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from evaluation.phase.validation import read_table
from test.charts.drawing import drawn
from test.charts.vega_lite import validator
from test.faults import faulted
from test.repository import REPOSITORY

SUBMISSION = REPOSITORY / "test" / "input" / "refuge-onsite"
OPEN = "metric_detail = {}\n"
NAMES = ("metrics", "subgroups", "roc")
LINES = """\
charts = ["metrics", "subgroups", "roc"]
spread_digits = 2
metric_detail = {}
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
    found = documents(scored, scored.metrics, scored.phase.config.chart_outputs)
    assert list(found) == [f"chart-{name}.json" for name in NAMES]
    return {name: json.loads(found[f"chart-{name}.json"]) for name in NAMES}


def is_rounded(value, digits):
    return round(value, digits) == value


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
        estimate = published[row["metric"]]
        assert row["value"] == estimate.value
        if row["lower"] is not None:
            assert (row["lower"], row["upper"]) == (
                estimate.confidence_interval.lower,
                estimate.confidence_interval.upper,
            )
        assert all(row[key] is None or is_rounded(row[key], 4) for key in ("position", "from", "to"))
    values = [row["value"] for row in charts["subgroups"]["datasets"]["subgroups"]]
    of_groups = [group["classification"]["auc"] for group in scored.metrics.subgroups["eye"].values()]
    assert values == [scored.metrics.aggregates["classification"]["auc"].value, *of_groups]


def test_a_phase_without_a_curve_cannot_publish_one(tmp_path):
    phase = tmp_path / "cysts"
    shutil.copytree(REPOSITORY / "ground-truth" / "cysts", phase)
    path = phase / "phase.toml"
    path.write_text('charts = ["roc"]\n' + path.read_text(encoding="utf-8"), encoding="utf-8")
    with faulted(PhaseError, '"roc"'):
        validate_phase(phase, scan(phase), 0)


def test_no_chart_names_a_case(scored, charts):
    text = json.dumps(charts)
    assert not [case.name for case in scored.phase.cases.forms if case.name in text]
    assert "selected_case" not in text


def test_audit_counts_what_the_curve_adds(scored, tmp_path):
    without = load_phase(phase_folder(tmp_path / "phase", LINES.replace(', "roc"', "")))
    counted, before = audit(scored.phase, 0).figures, audit(without, 0).figures
    (added,) = set(counted) - set(before)
    assert (added.metric, added.numbers) == ("classification.auc", CURVE_NUMBERS)
    assert added.bits() == pytest.approx(9 * math.log2(101))
    assert not set(before) - set(counted)


def test_charts_are_valid_by_the_schema_of_vega_lite_5(scored):
    wrong = {"$schema": "x", "mark": "no such mark", "data": {"values": []}}
    assert not validator().is_valid(wrong)
    for result in (scored, replace(scored, tasks=())):
        for document in documents(result, scored.metrics, result.phase.config.chart_outputs).values():
            assert validator().is_valid(json.loads(document))
            assert len(document) < 300_000


@pytest.mark.parametrize("name", NAMES)
def test_charts_are_drawn_by_vega_lite_5(charts, name):
    assert charts[name]["$schema"] == "https://vega.github.io/schema/vega-lite/v5.json"
    svg = vl_convert.vegalite_to_svg({**charts[name], "width": 400}, vl_version="5.21")
    assert svg.count("<path") > 5
    assert "NaN" not in svg


def test_a_chart_without_figures_is_written_too(scored):
    empty = replace(scored, tasks=())
    for document in documents(empty, scored.metrics, empty.phase.config.chart_outputs).values():
        svg = vl_convert.vegalite_to_svg({**json.loads(document), "width": 400}, vl_version="5.21")
        assert svg.startswith("<svg")


def test_the_command_writes_them_beside_the_metrics(scored, tmp_path):
    arguments = ["evaluate", "--input", str(SUBMISSION), "--workers", "0"]
    folders = {"with": LINES, "without": ""}
    for name, lines in folders.items():
        phase = phase_folder(tmp_path / name, lines)
        output = tmp_path / f"output-{name}"
        assert main([*arguments, "--ground-truth", str(phase), "--output", str(output)]) == 0
    written = {path.name: path.read_bytes() for path in (tmp_path / "output-with").iterdir()}
    assert written.pop("metrics.json")
    assert written == documents(scored, scored.metrics, scored.phase.config.chart_outputs)
    assert [path.name for path in (tmp_path / "output-without").iterdir()] == ["metrics.json"]


def test_each_chart_is_named_once_and_known():
    keys = {"challenge": "refuge", "name": "a", "title": "A", "submission": "archive"}
    assert read_table(PhaseConfig, keys).charts == ()
    for charts in (["roc", "roc"], ["violin"]):
        with pytest.raises(ValueError, match="charts"):
            read_table(PhaseConfig, {**keys, "charts": charts})


def test_a_chart_says_by_itself_what_it_shows(charts):
    for chart in charts.values():
        assert chart["title"]["text"]
        assert " ".join(chart["title"]["subtitle"]) in chart["description"]
        assert max(map(len, chart["title"]["subtitle"])) <= 80


def test_metrics_without_a_worst_value_are_written_and_not_left_out(scored, charts):
    shown = {row["metric"]: row for row in charts["metrics"]["datasets"]["metrics"]}
    written = {row["metric"]: row["text"] for row in charts["metrics"]["datasets"]["unbounded"]}
    for task in scored.tasks:
        for metric in task.metrics:
            value = scored.metrics.aggregates[task.name][metric.name].value
            assert metric.title in shown
            if math.isinf(metric.worst):
                assert written[metric.title].startswith(f"{value:g}")
            else:
                assert metric.title not in written
    only = [MetricInterval("Distance in mm", 1.25, 1.0, 1.5, best=0, worst=math.inf)]
    assert "1.25 (1 to 1.5)" in drawn(metric_intervals_chart("distance", "Distance", only))
