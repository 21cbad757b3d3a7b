"""Reports of bundled submissions: what the organiser and the public see, and that they are alive."""

import csv
import io
import re
from collections import Counter
from dataclasses import asdict, replace
from functools import cache

import pytest

from evaluation.core.case_table import CaseTable as CaseColumns
from evaluation.core.fault import PhaseError
from evaluation.organiser.report.case_images import Request, read_cases
from evaluation.organiser.report.page import Gallery, SortableCaseTable, Table, Text, render_page
from evaluation.organiser.report.pictures import chosen_cases
from evaluation.organiser.report.results import read_submission_results, results_of
from evaluation.organiser.report.submission import BANNER, organiser_page, public_page
from evaluation.organiser.report.value_figures import averaged_metrics
from evaluation.phase.leaderboard import digits_of
from test.faults import faulted
from test.organiser.report.browser import WIDTHS, opened
from test.organiser.report.submissions import DISTINCT
from test.organiser.report.test_positions_on_pages import scored


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


# Curves, regions and points; the weekly job draws the reports of the other phases.
@pytest.mark.parametrize(
    "name",
    [name if name == "refuge-onsite" else pytest.param(name, marks=pytest.mark.weekly) for name in DISTINCT],
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


@pytest.mark.parametrize("name", ["edd2020", "refuge-onsite"])
def test_every_case_has_a_row_with_its_values(bundled_phase, page_of, name):
    results = bundled_phase(name).results
    (table,) = blocks_of(page_of(name), SortableCaseTable)
    assert [row[0] for row in table.rows] == [case.name for case in results.cases]
    titles = [column.title for column in table.columns]
    for task in results.tasks:
        for metric, column in averaged_metrics(results, task):
            shown = {row[0]: row[titles.index(metric.title)] for row in table.rows}
            for case, value in zip(
                results.tables[task.name].names, results.tables[task.name][column], strict=True
            ):
                assert shown[case] == value or (shown[case] is None and value != value)
    if name == "refuge-onsite":
        digits = {column.title: column.digits for column in table.columns}
        assert (digits["classification: glaucoma"], digits["Dice of the cup"]) == (0, 4)


def test_failed_cases_are_listed_with_the_reason(bundled_phase, page_of):
    results = bundled_phase("refuge-onsite").results
    first, second, *others = results.cases
    failed = replace(first, failure="out of memory", worst=("fovea",)), replace(second, worst=("fovea",))
    page = organiser_page(replace(results, cases=(*failed, *others)))
    (table,) = (one for one in blocks_of(page, Table) if one.name == "failures")
    assert table.rows == ((first.name, "fovea", "out of memory"), (second.name, "fovea", "missing"))
    assert "failures" not in {one.name for one in blocks_of(page_of("refuge-onsite"), Table)}


def test_run_times_are_shown_where_they_are_known(page_of):
    for name, known in (("justraigs-phase2", True), ("refuge-onsite", False)):
        assert ("run-times" in {section.name for section in page_of(name).sections}) == known


def test_the_first_screen_names_score_and_place_and_the_end_the_seal(bundled_phase, page_of):
    results = bundled_phase("refuge-onsite").results
    page = page_of("refuge-onsite")
    told = "Results of a submission to refuge-onsite, version 1"
    assert page.subtitle == f"{told} ({results.phase.challenge.title})"
    first, outlines, places, better, scored = page.answer
    # The organiser sees the interval that metrics.json leaves out.
    assert results.metrics.aggregates["classification"]["auc"].confidence_interval is None
    assert re.findall(r"\d+\.?\d*", first) == ["40", "0.9494", "40", "0.703", "0.994", "95"]
    assert ("optic cup" in outlines, "fovea" in places) == (True, True)
    assert re.findall(r"\d+", better) == ["9", "12", "4", "5", "12", "8", "11", "12", "2"]
    assert re.findall(r"\d+", scored) == ["40"]
    (text,) = (block for block in page.sections[-1].blocks if isinstance(block, Text))
    assert results.phase.manifest.digest in text.paragraphs[-1]


def test_subgroups_have_intervals_and_numbers_of_cases(bundled_phase, page_of):
    charts = {chart.name: chart for chart in page_of("refuge-onsite").charts()}
    whole, *groups = charts["segmentation-dice-cup-forest"].data["subgroups"]
    assert [re.findall(r"=\s(\d+)", row["label"]) for row in (whole, *groups)] == [["40"], ["28"], ["12"]]
    assert all(row["lower"] < row["value"] < row["upper"] for row in groups)
    results = bundled_phase("adam-onsite").results
    charts = {chart.name: chart for chart in page_of("adam-onsite").charts()}
    rows = charts["classification-auc-forest"].data["subgroups"]
    labels = [row["label"] for row in rows if row["label"].startswith("severity")]
    numbers = [int(number) for label in labels for number in re.findall(r"(\d+) positive", label)]
    healthy = sum(case.cells["amd"] == "0" for case in results.cases)
    ill = Counter(case.cells["severity"] for case in results.cases if case.cells["amd"] == "1")
    assert sorted(numbers) == sorted(ill.values())
    assert all(str(healthy) in label for label in labels)
    (table,) = (one for one in blocks_of(page_of("adam-onsite"), Table) if one.name == "subgroups")
    titles = [one.title for one in table.columns]
    cells = [dict(zip(titles, row, strict=True)) for row in table.rows]
    areas = [row for row in cells if row["metric"].startswith("AUC") and row["column"] == "severity"]
    counted = {row["subgroup"]: row["cases"] for row in areas}
    assert counted == {name: f"{number} and all {healthy} negative" for name, number in ill.items()}
    cameras = {case.cells["camera"] for case in results.cases}
    assert {row["subgroup"] for row in cells if row["column"] == "camera"} == cameras


def test_results_of_another_phase_and_missing_files_are_named(bundled_phase, tmp_path):
    phase = bundled_phase("refuge-onsite").results.phase
    metrics = asdict(bundled_phase("refuge-onsite").results.metrics)
    resampling = {"seed": 1, "resamples": 10, "interval_minimum": 1, "interval_maximum": None, "methods": {}}
    figures = {"aggregates": {}, "subgroups": {}}
    records = {"phase": "x", "manifest": "0" * 64, "cases": [], "figures": figures, "resampling": resampling}
    with faulted(PhaseError, "cases.json", "the seal 000000000000…"):
        results_of(phase, metrics, records)
    with faulted(PhaseError, "metrics.json, cases.json"):
        results_of(phase, {}, records)
    with pytest.raises(PhaseError) as raised:
        read_submission_results(phase, tmp_path)
    assert [problem.split(":")[0] for problem in raised.value.problems] == [
        str(tmp_path / "metrics.json"),
        str(tmp_path / "cases.json"),
    ]


def test_a_report_of_9741_eyes_is_small_and_tells_no_case_in_a_figure(bundled_phase):
    """A set as large as that of JustRAIGS: the cases of the bundled phase, again and again."""
    results = bundled_phase("justraigs-phase2").results
    times = -(-9741 // len(results.cases))
    cases = tuple(
        replace(case, name=f"{number:02d}{case.name}") for number in range(times) for case in results.cases
    )
    tables = {
        task: CaseColumns(
            [f"{number:02d}{name}" for number in range(times) for name in table.names],
            list(table.rows) * times,
        )
        for task, table in results.tables.items()
    }
    resampling = replace(results.resampling, clusters={case.name: case.name for case in cases}, resamples=50)
    page = organiser_page(replace(results, tables=tables, cases=cases, resampling=resampling, subgroups={}))
    assert len(cases) >= 9741
    assert not any(chart.single_cases for chart in page.charts())
    assert len(render_page(page)) < 3_000_000


def test_a_metric_of_what_no_case_has_is_neither_best_nor_worst(bundled_phase):
    results = bundled_phase("adam-onsite").results
    table = results.tables["fovea"]

    def page_where(invisible):
        rows = [{**row, "invisible": invisible, "predicted_invisible": 0.0} for row in table.rows]
        tables = {**results.tables, "fovea": CaseColumns(table.names, rows)}
        return organiser_page(replace(results, tables=tables))

    def charted(page):
        charts = {chart.name: chart for chart in page.charts()}
        return {row["metric"] for row in charts["metric-intervals"].data["metrics"]}

    page, title = page_where(0.0), "F1 of an invisible fovea"
    assert charted(page_where(1.0)) - charted(page) == {f"{title} ↑"}
    (metrics,) = (one for one in blocks_of(page, Table) if one.name == "metrics")
    assert any(row[0] != title and row[0].startswith(title) for row in metrics.rows)


def test_a_figure_of_an_analysis_that_is_a_metric_has_the_interval_of_the_metric(bundled_phase):
    bundled = bundled_phase("refuge-onsite")
    table = io.StringIO(whole_page(bundled).tables["analyses.csv"].decode("utf-8"))
    rows = [row for row in csv.DictReader(table) if row["analysis"] == "rim"]
    errors = {row["part"]: row for row in rows if row["metric"] == "Absolute error"}
    of_metric = bundled.results.estimates["segmentation"]["vertical_cup_to_disc_ratio_error"]
    interval = of_metric.confidence_interval
    ratio = errors["Vertical cup-to-disc ratio"]
    assert [float(ratio[name]) for name in ("value", "lower", "upper")] == pytest.approx(
        [of_metric.value, interval.lower, interval.upper], rel=1e-9
    )
    # That of no metric allows for no failure, which an analysis leaves out.
    assert float(errors["Rim-to-disc ratio"]["upper"]) < float(ratio["upper"])


class Forbidden(dict):
    """What the public report must not look at."""

    def __getitem__(self, key):
        raise AssertionError(f"the public report reads {key}")

    __iter__ = items = values = keys = get = __getitem__


def without_programs(html):
    """Return a page without the programs, which hold short names of their own."""
    return re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)


# Volumes, boxes, and decisions of graders.
@pytest.mark.parametrize("name", ["cysts", "edd2020", "justraigs-phase2"])
def test_it_needs_neither_cases_nor_the_organisers_figures_and_names_no_case(bundled_phase, name):
    results = bundled_phase(name).results
    page = public_page(results)
    stripped = replace(results, tables=Forbidden(), cases=(), estimates=Forbidden(), subgroups=Forbidden())
    assert public_page(stripped) == page
    assert not page.banner
    assert not any(chart.single_cases for chart in page.charts())
    blocks = [block for section in page.sections for block in section.blocks]
    assert not any(isinstance(block, SortableCaseTable | Gallery) for block in blocks)
    html = without_programs(render_page(page))
    assert BANNER not in html
    assert not [case.name for case in results.cases if case.name in html]


def test_names_of_cases_can_be_found_where_they_are_shown(bundled_phase):
    results = bundled_phase("cysts").results
    assert results.cases[0].name in without_programs(render_page(organiser_page(results)))


GRADES = """\
[fields.grade]
kind = "class_probabilities"
classes = ["低", "高"]
table = "grades.csv"

[tasks.grading.metrics]
macro_auc = { field = "grade" }
"""


def test_figures_of_classes_without_latin_letters_have_names_of_their_own(tmp_path):
    low = [0.75, 0.75, 0.625, 0.25]
    given = {"低": low, "高": [1 - one for one in low]}
    _, results = scored(tmp_path, GRADES, {"name": list("pqrs"), "grade": ["低", "高"] * 2}, "", grades=given)
    page = organiser_page(results)
    names = [chart.name for chart in page.charts()]
    assert names[-2:] == ["grading-grade-calibration", "grading-grade-calibration-2"]
    assert 'id="figure-grading-grade-calibration-2"' in render_page(page)
