"""The page of a cyst benchmark: its figures hold the tables' numbers, and it is written whatever was run."""

import shutil

import pytest

from evaluation.organiser.cyst_benchmark.benchmark_page import benchmark_page, read_tables
from evaluation.organiser.report.page import Table, Text, render_page
from test.charts.drawing import drawn
from test.organiser.cyst_benchmark.test_steps import rows


@pytest.fixture(scope="module")
def page(work):
    return benchmark_page("work", read_tables(work))


@pytest.fixture(scope="module")
def charts(page):
    return {chart.name: chart for chart in page.charts()}


def test_every_figure_can_be_drawn(charts):
    assert set(charts) == {"means", "accuracy", "reproducibility", "combinations"}
    for chart in charts.values():
        assert "<path" in drawn(chart)


def test_charts_hold_the_rows_of_their_tables(work, charts):
    assert [float(row["overall"]) for row in rows(work / "combinations.csv")] == [
        row["overall"] for row in charts["combinations"].data["combinations"]
    ]


def test_every_table_is_on_the_page_and_that_of_the_transforms_says_what_it_changes(page):
    tables = {b.name: b for section in page.sections for b in section.blocks if isinstance(b, Table)}
    assert set(tables) == {"values", "transforms", "accuracies", "combined", "parts", "workload"}
    assert "only with --interval cyst" in tables["transforms"].note


def test_steps_that_were_not_run_leave_their_sections_empty(work, tmp_path):
    for name in ("distinctions", "transforms"):
        shutil.copy(work / f"{name}.csv", tmp_path)
    page = benchmark_page("work", read_tables(tmp_path))
    assert [section.blocks for section in page.sections[1:]] == [(Text(("This step was not run.",)),)] * 3
    assert {chart.name for chart in page.charts()} == {"means"}


def test_names_of_annotators_are_text(work, tmp_path):
    for name in ("accuracy.csv", "combinations.csv", "workload.csv"):
        text = (work / name).read_text().replace("rough", "<script>alert(1)</script>")
        (tmp_path / name).write_text(text)
    page = render_page(benchmark_page("work", read_tables(tmp_path)))
    assert "alert(1)" in page
    assert "<script>alert" not in page
