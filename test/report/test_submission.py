"""Reports of the bundled submissions: what they show, and that they are alive in a browser."""

from dataclasses import asdict

import pytest

from evaluation.core.fault import PhaseError
from evaluation.report.page import Table
from evaluation.report.render import render_page
from evaluation.report.results import read_results, results_of
from evaluation.report.submission import organiser_page
from test.report.browser import WIDTHS, opened
from test.report.submissions import PHASES


@pytest.mark.parametrize("name", PHASES)
def test_the_report_of_every_bundled_phase_is_drawn(chromium, tmp_path, bundled_phase, name):
    page = organiser_page(bundled_phase(name).results)
    path = tmp_path / "report.html"
    path.write_text(render_page(page), encoding="utf-8")
    for width in WIDTHS:
        shown = opened(chromium, path, width)
        assert shown.problems(figures=len(list(page.charts()))) == []
        assert shown.overflow() <= 0


@pytest.mark.parametrize("name", PHASES)
def test_the_table_of_metrics_holds_the_published_numbers(bundled_phase, name):
    results = bundled_phase(name).results
    tables = [block for section in organiser_page(results).sections for block in section.blocks]
    metrics = next(table for table in tables if isinstance(table, Table) and table.name == "metrics")
    value = [column.title for column in metrics.columns].index("value")
    published = [
        estimate.value for figures in results.metrics.aggregates.values() for estimate in figures.values()
    ]
    assert sorted(row[value] for row in metrics.rows) == sorted(published)


def test_results_of_another_phase_are_not_reported(bundled_phase):
    bundled = bundled_phase("refuge-onsite")
    metrics = asdict(bundled.results.metrics)
    records = {
        "phase": "x",
        "manifest": "0" * 64,
        "cases": [],
        "figures": {"aggregates": {}, "subgroups": {}},
    }
    records["resampling"] = {
        "seed": 1,
        "resamples": 10,
        "interval_minimum": 1,
        "interval_maximum": None,
        "methods": {},
    }
    with pytest.raises(PhaseError, match="found the seal 000000000000…"):
        results_of(bundled.results.phase, metrics, records)
    with pytest.raises(PhaseError, match="are not results of this package"):
        results_of(bundled.results.phase, {}, records)


def test_every_missing_file_is_named(bundled_phase, tmp_path):
    with pytest.raises(PhaseError) as raised:
        read_results(bundled_phase("refuge-onsite").results.phase, tmp_path)
    assert [problem.split(":")[0] for problem in raised.value.problems] == [
        str(tmp_path / "metrics.json"),
        str(tmp_path / "cases.json"),
    ]
