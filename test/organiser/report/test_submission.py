"""Reports of the bundled submissions: what they show, and that they are alive in a browser."""

import re
from collections import Counter
from dataclasses import asdict, replace
from functools import cache

import pytest

from evaluation.core.case_table import CaseTable as CaseColumns
from evaluation.core.fault import PhaseError
from evaluation.organiser.report.case_images import Request, read_cases
from evaluation.organiser.report.page import SortableCaseTable, Table, Text, render_page
from evaluation.organiser.report.pictures import chosen_cases
from evaluation.organiser.report.results import read_submission_results, results_of
from evaluation.organiser.report.submission import organiser_page, public_page
from evaluation.organiser.report.value_figures import averaged_metrics
from evaluation.phase.leaderboard import digits_of
from evaluation.platform.result_file import LeaderboardPlace
from test.charts.vega_lite import invalid
from test.faults import faulted
from test.organiser.report.browser import WIDTHS, opened
from test.organiser.report.submissions import DISTINCT


def written(path, page):
    path.write_text(render_page(page), encoding="utf-8")
    return path


def whole_page(bundled):
    """Return the report with all that is read of the submission's files."""
    chosen = chosen_cases(bundled.results)
    wanted = {task: tuple(cases) for task, cases in chosen.items()}
    request = Request(bundled.phase, bundled.submission, wanted, None, 0)
    return organiser_page(bundled.results, read_cases(request, lambda done: None), chosen)


@pytest.fixture(scope="module")
def page_of(bundled_phase):
    """Return the report of a bundled phase by name, without its pictures."""
    return cache(lambda name: organiser_page(bundled_phase(name).results))


def blocks_of(page, kind):
    return [block for section in page.sections for block in section.blocks if isinstance(block, kind)]


def numbers_shown(page, results) -> None:
    """Hold the table of metrics against the organiser's file, which has what metrics.json may lack."""
    rows = page.eval_on_selector_all(
        "#table-metrics tbody tr", "all => all.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    expected = [
        (metric.title, round(results.estimates[task.name][metric.name].value, digits.value))
        for task in results.tasks
        for metric in task.metrics
        if metric.name in results.estimates[task.name]
        and (digits := digits_of(results.phase.config, f"{task.name}.{metric.name}"))
    ]
    shown = [(row[0].partition(" (")[0], float(row[1].replace("−", "-"))) for row in rows]
    assert shown == [(title.partition(" (")[0], value) for title, value in expected]


def a_click_on_a_point_shows_its_case(page) -> None:
    page.fill("#table-cases input", "no such case")
    points = page.locator("#figure-fovea-distribution-1 path[aria-roledescription=point]")
    points.nth(3).click()
    chosen = page.get_attribute("#table-cases tr[aria-selected=true]", "data-case")
    assert chosen == page.evaluate("document.activeElement.textContent")  # the filter gave way
    assert page.input_value("#table-cases input") == ""
    page.wait_for_function(
        "document.querySelectorAll('#figure-segmentation-distribution-2 path[fill=\"#D55E00\"]').length >= 1"
    )


def drawn_at_all_widths(chromium, tmp_path, page):
    """Return a page in the browser after its figures were drawn in a narrow window and in a wide one."""
    first, *others = WIDTHS
    shown = opened(chromium, written(tmp_path / "report.html", page), first)
    figures = len(list(page.charts()))
    assert shown.problems(figures) == []
    assert shown.overflow() <= 0
    for width in others:
        shown.redraw(width)
        assert shown.problems(figures) == []
        assert shown.overflow() <= 0
    return shown.page


DRAWN = ("refuge-onsite",)
"""Curves, regions and points in a browser; the weekly job draws the reports of the other phases."""


@pytest.mark.parametrize(
    "name", [name if name in DRAWN else pytest.param(name, marks=pytest.mark.weekly) for name in DISTINCT]
)
def test_the_report_of_every_bundled_phase_is_drawn(chromium, tmp_path, bundled_phase, name):
    shown = drawn_at_all_widths(chromium, tmp_path, whole_page(bundled_phase(name)))
    numbers_shown(shown, bundled_phase(name).results)
    if name == "refuge-onsite":
        a_click_on_a_point_shows_its_case(shown)


# Subgroups as figures; as a table alone and none in the weekly job.
@pytest.mark.parametrize(
    "name", ["cysts", *(pytest.param(name, marks=pytest.mark.weekly) for name in ("adam-onsite", "edd2020"))]
)
def test_the_public_report_is_drawn(chromium, tmp_path, bundled_phase, name):
    drawn_at_all_widths(chromium, tmp_path, public_page(bundled_phase(name).results))


@pytest.mark.parametrize("name", DISTINCT)
def test_every_figure_is_valid_by_the_schema_of_vega_lite_5(page_of, name):
    charts = list(page_of(name).charts())
    assert charts
    assert invalid(charts) == []


@pytest.mark.parametrize("name", ["edd2020", "refuge-onsite"])
def test_every_case_has_a_row_with_its_values(bundled_phase, page_of, name):
    results = bundled_phase(name).results
    (table,) = blocks_of(page_of(name), SortableCaseTable)
    assert [row[0] for row in table.rows] == [case.name for case in results.cases]
    titles = [column.title for column in table.columns]
    digits = {column.title: column.digits for column in table.columns}
    if name == "refuge-onsite":
        assert (digits["classification: glaucoma"], digits["Dice of the cup"]) == (0, 4)
    for task in results.tasks:
        for metric, column in averaged_metrics(results, task):
            shown = {row[0]: row[titles.index(metric.title)] for row in table.rows}
            scored = zip(results.tables[task.name].names, results.tables[task.name][column], strict=True)
            assert all(
                shown[case] == value or (shown[case] is None and value != value) for case, value in scored
            )


def test_failed_cases_are_listed_with_the_reason(bundled_phase, page_of):
    results = bundled_phase("refuge-onsite").results
    first, second, *others = results.cases
    cases = (
        replace(first, failure="out of memory", worst=("fovea",)),
        replace(second, worst=("fovea",)),
        *others,
    )
    tables = {table.name: table for table in blocks_of(organiser_page(replace(results, cases=cases)), Table)}
    assert tables["failures"].rows == (
        (first.name, "fovea", "out of memory"),
        (second.name, "fovea", "missing"),
    )
    assert "failures" not in {table.name for table in blocks_of(page_of("refuge-onsite"), Table)}


def test_run_times_are_shown_where_they_are_known(page_of):
    sections = {
        name: {section.name for section in page_of(name).sections}
        for name in ("justraigs-phase2", "refuge-onsite")
    }
    assert "run-times" in sections["justraigs-phase2"]
    assert "run-times" not in sections["refuge-onsite"]


def test_the_first_screen_names_score_and_place_and_the_end_the_seal(bundled_phase, page_of):
    results = bundled_phase("refuge-onsite").results
    page = page_of("refuge-onsite")
    facts = dict(page.facts)
    # The organiser sees the interval that metrics.json leaves out.
    assert results.metrics.aggregates["classification"]["auc"].confidence_interval is None
    assert facts["Score: AUC"] == "0.9494 (0.703 to 0.994)"
    first, outlines, places, better, scored = page.answer
    assert re.findall(r"\d+\.?\d*", first) == ["40", "0.95", "40", "0.70", "1.00", "95"]
    assert ("optic cup" in outlines, "fovea" in places) == (True, True)
    assert re.findall(r"\d+", better) == ["9", "12", "5", "12", "11", "12"]
    assert scored == "All 40 images were scored."
    (text,) = (block for block in page.sections[-1].blocks if isinstance(block, Text))
    assert results.phase.manifest.digest in text.paragraphs[-1]
    assert facts["Place, overall"] == "4 of 13 teams"


def test_subgroups_have_intervals_and_numbers_of_cases(bundled_phase, page_of):
    results = bundled_phase("refuge-onsite").results
    charts = {chart.name: chart for chart in page_of("refuge-onsite").charts()}
    whole, healthy, ill = charts["segmentation-dice-cup-forest"].data["subgroups"]
    assert (whole["cases"], healthy["cases"], ill["cases"]) == (40, 28, 12)
    for row, value in ((healthy, "0"), (ill, "1")):
        assert row["value"] == results.subgroups["glaucoma"][value]["segmentation"]["dice_cup"]
        assert row["lower"] < row["value"] < row["upper"]
    results = bundled_phase("adam-onsite").results
    charts = {chart.name: chart for chart in page_of("adam-onsite").charts()}
    labels = {row["label"]: row["cases"] for row in charts["classification-auc-forest"].data["subgroups"]}
    healthy = sum(case.cells["amd"] == "0" for case in results.cases)
    ill = Counter(case.cells["severity"] for case in results.cases if case.cells["amd"] == "1")
    of_severity = {label: cases for label, cases in labels.items() if label.startswith("severity")}
    assert sorted(of_severity.values()) == sorted(ill.values())
    assert all(str(healthy) in label for label in of_severity)


def test_results_of_another_phase_and_missing_files_are_named(bundled_phase, tmp_path):
    bundled = bundled_phase("refuge-onsite")
    metrics = asdict(bundled.results.metrics)
    records = {
        "phase": "x",
        "manifest": "0" * 64,
        "cases": [],
        "figures": {"aggregates": {}, "subgroups": {}},
    }
    records["resampling"] = {"seed": 1, "resamples": 10, "interval_minimum": 1, "interval_maximum": None}
    records["resampling"]["methods"] = {}
    with faulted(PhaseError, "cases.json", "the seal 000000000000…"):
        results_of(bundled.results.phase, metrics, records)
    with faulted(PhaseError, "metrics.json, cases.json"):
        results_of(bundled.results.phase, {}, records)
    with pytest.raises(PhaseError) as raised:
        read_submission_results(bundled_phase("refuge-onsite").results.phase, tmp_path)
    assert [problem.split(":")[0] for problem in raised.value.problems] == [
        str(tmp_path / "metrics.json"),
        str(tmp_path / "cases.json"),
    ]


def test_a_report_of_9741_eyes_is_small_and_tells_no_case_in_a_figure(bundled_phase):
    """A set as large as that of JustRAIGS: the cases of the bundled phase, again and again."""
    results = bundled_phase("justraigs-phase2").results
    times = -(-9741 // len(results.cases))
    names = [f"{number:02d}{case.name}" for number in range(times) for case in results.cases]
    again = dict(zip(names, list(results.cases) * times, strict=True))
    tables = {}
    for task, table in results.tables.items():
        of_task = [f"{number:02d}{name}" for number in range(times) for name in table.names]
        tables[task] = CaseColumns(of_task, list(table.rows) * times)
    clusters = {name: name for name in names}
    many = replace(
        results,
        tables=tables,
        cases=tuple(replace(case, name=name) for name, case in again.items()),
        resampling=replace(results.resampling, clusters=clusters, resamples=50),
        subgroups={},
    )
    page = organiser_page(many)
    assert len(many.cases) >= 9741
    assert not any(chart.single_cases for chart in page.charts())
    assert len(render_page(page)) < 3_000_000


def test_a_metric_of_what_no_case_has_is_neither_best_nor_worst(bundled_phase):
    results = bundled_phase("adam-onsite").results
    table = results.tables["fovea"]
    rows = [{**row, "invisible": 0.0, "predicted_invisible": 0.0} for row in table.rows]
    tables = {**results.tables, "fovea": CaseColumns(table.names, rows)}
    changed = replace(results, tables=tables)

    def shown(found):
        charts = {chart.name: chart for chart in organiser_page(found).charts()}
        return {row["metric"] for row in charts["metric-intervals"].data["metrics"]}

    present = CaseColumns(table.names, [{**row, "invisible": 1.0} for row in table.rows])
    (title,) = shown(replace(results, tables={**results.tables, "fovea": present})) - shown(changed)
    assert title == "F1 of an invisible fovea"
    (metrics,) = (one for one in blocks_of(organiser_page(changed), Table) if one.name == "metrics")
    assert any(row[0] != title and row[0].startswith(title) for row in metrics.rows)


def test_the_table_of_subgroups_counts_cases(bundled_phase, page_of):
    results = bundled_phase("adam-onsite").results
    (table,) = (one for one in blocks_of(page_of("adam-onsite"), Table) if one.name == "subgroups")
    column, group, cases, metric = (
        [one.title for one in table.columns].index(title)
        for title in ("column", "subgroup", "cases", "metric")
    )
    found = {(row[column], row[group]): row[cases] for row in table.rows if row[metric].startswith("AUC")}
    healthy = sum(case.cells["amd"] == "0" for case in results.cases)
    ill = Counter(case.cells["severity"] for case in results.cases if case.cells["amd"] == "1")
    assert {name: ("severity", name) in found for name in ill} == dict.fromkeys(ill, True)
    for name, number in ill.items():
        assert found["severity", name] == f"{number} and all {healthy} negative"
    cameras = {case.cells["camera"] for case in results.cases}
    assert {row[group] for row in table.rows if row[column] == "camera"} == cameras


def test_teams_with_the_same_place_are_not_beaten(bundled_phase):
    results = bundled_phase("refuge-onsite").results

    def answer(place):
        ranking = replace(results.metrics.ranking, places={"overall": place})
        page = organiser_page(replace(results, metrics=replace(results.metrics, ranking=ranking)))
        return next(sentence for sentence in page.answer if "known teams" in sentence)

    assert re.findall(r"\d+", answer(LeaderboardPlace(1, 1.0, 13, 6))) == ["6", "12", "6"]
    assert re.findall(r"\d+", answer(LeaderboardPlace(1, 1.0, 13, 0))) == ["12", "12"]


def test_a_figure_of_an_analysis_that_is_a_metric_has_the_interval_of_the_metric(bundled_phase):
    bundled = bundled_phase("refuge-onsite")
    (rim,) = (one for one in whole_page(bundled).analyses if one.analysis.name == "rim")
    errors = {one.part: one for one in rim.figures if one.metric == "Absolute error"}
    of_metric = bundled.results.estimates["segmentation"]["vertical_cup_to_disc_ratio_error"]
    interval = of_metric.confidence_interval
    ratio = errors["Vertical cup-to-disc ratio"]
    assert (ratio.value, ratio.lower, ratio.upper) == pytest.approx(
        (of_metric.value, interval.lower, interval.upper), rel=1e-9
    )
    # That of no metric allows for no failure, which an analysis leaves out.
    assert errors["Rim-to-disc ratio"].upper < ratio.upper
