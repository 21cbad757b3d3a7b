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


def test_every_figure_of_the_paper_can_be_drawn(charts):
    assert {chart.follows.removesuffix(" of the cyst benchmark") for chart in charts.values()} == {
        *("Fig. 5", "Fig. 6", "Fig. 7a", "Fig. 7b", "Fig. 7c", "Table 4", "Figs. 9 to 12", ""),
    }
    for chart in charts.values():
        assert "<path" in drawn(chart)


def test_the_two_cysts_are_the_supervisors_most_and_least_distinct_of_usual_size(work, charts):
    cysts = [row for row in rows(work / "distinctions.csv") if row["reader"] == "supervisor"]
    sizes = sorted(int(row["pixels"]) for row in cysts)
    half = len(sizes) // 2
    usual = sizes[half] if len(sizes) % 2 else (sizes[half - 1] + sizes[half]) / 2
    large = [float(row["distinction"]) for row in cysts if row["distinction"] and int(row["pixels"]) >= usual]
    for name, value in (("most", max(large)), ("least", min(large))):
        chart = charts[f"{name}-distinct-cyst"]
        assert chart.title.endswith(f"D = {value:.2f}")
        shares = dict.fromkeys(("inside", "ring"), 0.0)
        overlap = {}
        for bar in chart.data["bars"]:
            shares[bar["region"]] += bar["share"]
            overlap.setdefault(bar["from"], {})[bar["region"]] = bar["share"]
        assert shares == pytest.approx({"inside": 1, "ring": 1})
        # Eq. 1 from the bars that are drawn.
        common = sum(min(both.values()) for both in overlap.values() if len(both) == 2)
        assert 1 - common == pytest.approx(value)


def test_charts_hold_the_rows_of_their_tables(work, charts):
    """Every cyst is drawn before and after, but the supervisor's once."""
    cysts, combinations = rows(work / "distinctions.csv"), rows(work / "combinations.csv")
    of_supervisor = sum(row["reader"] == "supervisor" for row in cysts)
    assert sum(bar["cysts"] for bar in charts["distributions"].data["bars"]) == 2 * len(cysts) - of_supervisor
    assert [float(row["overall"]) for row in combinations if row["column"] == "all"] == [
        row["overall"] for row in charts["combinations"].data["combinations"]
    ]


def test_every_table_is_on_the_page_and_that_of_the_transforms_says_what_it_changes(page):
    tables = {b.name: b for section in page.sections for b in section.blocks if isinstance(b, Table)}
    assert set(tables) == {
        *("values", "transforms", "accuracies", "groups", "effect", "combined", "combined-groups"),
        *("scanners", "parts", "workload"),
    }
    assert "only with --interval cyst" in tables["transforms"].note
    assert len(tables["combined-groups"].rows) % (3 + 2 * 4) == 0


def test_steps_that_were_not_run_leave_their_sections_empty(work, tmp_path):
    for name in ("distinctions", "histograms"):
        shutil.copy(work / f"{name}.csv", tmp_path)
    page = benchmark_page("work", read_tables(tmp_path))
    assert [section.blocks for section in page.sections[1:]] == [(Text(("This step was not run.",)),)] * 3
    assert {chart.name for chart in page.charts()} == {"most-distinct-cyst", "least-distinct-cyst"}


def test_names_of_annotators_are_text(work, tmp_path):
    for name in ("accuracy.csv", "combinations.csv", "workload.csv"):
        text = (work / name).read_text().replace("rough", "<script>alert(1)</script>")
        (tmp_path / name).write_text(text)
    page = render_page(benchmark_page("work", read_tables(tmp_path)))
    assert "alert(1)" in page
    assert "<script>alert" not in page
