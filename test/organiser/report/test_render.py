"""Pages as HTML: escaped, self-contained, and alive in a browser."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from evaluation.charts.chart import Chart, Estimated, NamedCurve, marks_of, point_of_case
from evaluation.organiser.report.charts.curves import roc_chart
from evaluation.organiser.report.charts.teams import place_lines_chart, team_values_chart
from evaluation.organiser.report.page import (
    Column,
    CopyableText,
    Gallery,
    Page,
    Picture,
    Section,
    SortableCaseTable,
    Table,
    Text,
    as_script,
    render_page,
    vector_files,
)
from test.organiser.report.browser import WIDTHS, opened

PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAA"
    "DUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "</script><script>alert(3)</script>",
    "{{ 7*7 }}<!-- & \u2028 ' \"",
    "javascript:alert(4)",
)


def page_of(names, subtitle="") -> Page:
    rows = [{"case": name, "x": float(number)} for number, name in enumerate(names)]
    specification = {
        "data": {"name": "cases"},
        "mark": {"type": "point", "filled": True},
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "y": {"field": "case", "type": "nominal", "title": names[0]},
            **point_of_case({"value": "#0072B2"}),
        },
        "height": 200,
    }
    given = {"single_cases": True, "subtitle": names[0]}
    points = Chart("points", names[0], names[-1], {"cases": rows}, specification, **given)
    roc = roc_chart(
        "roc", "ROC", [NamedCurve(name, np.array([0.0, 1.0]), np.array([0.0, 1.0])) for name in names]
    )
    numbers = tuple((name, float(number % 3) - 1 if number else None) for number, name in enumerate(names))
    columns = (Column("case"), Column("value", 3))
    return Page(
        title=f"Report {names[0]}",
        subtitle=subtitle,
        banner="Holds labels",
        answer=(names[0], names[1]),
        sections=(
            Section("first", names[0], (points, roc, Text(names), CopyableText("LaTeX", names[0]))),
            Section(
                "second",
                "Cases",
                (
                    Table("plain", names[0], columns, numbers, names[1]),
                    SortableCaseTable("cases", names[0], columns, numbers, names[1]),
                    Gallery(names[0], (Picture(names[1], PIXEL, names[0], names[1]),), (("#000", names[0]),)),
                ),
            ),
        ),
    )


USUAL = ("one", "two", "three", "four")


WRITTEN_IN = {
    "light": "#figure-roc svg text[fill='#1a1a1a']",
    "dark": "#figure-roc svg text[fill='#ececec']",
}


@pytest.fixture(scope="module")
def usual(chromium, tmp_path_factory):
    """Open a page that tests look at one after another."""
    path = tmp_path_factory.mktemp("usual") / "page.html"
    path.write_text(render_page(page_of(USUAL)), encoding="utf-8")
    return opened(chromium, path)


@pytest.mark.parametrize(("names", "scheme"), [(USUAL, "light"), (HOSTILE, "dark")], ids=["usual", "hostile"])
def test_figures_are_drawn_in_the_readers_theme_and_the_other_and_nothing_runs(
    chromium, tmp_path, names, scheme
):
    path = tmp_path / "page.html"
    path.write_text(render_page(page_of(names)), encoding="utf-8")
    narrow, wide = WIDTHS
    page = opened(chromium, path, narrow, color_scheme=scheme)
    for theme in (scheme, {"light": "dark", "dark": "light"}[scheme]):
        if theme != scheme:
            page.redraw(wide)
        assert page.problems(figures=2) == []
        assert page.overflow() <= 0
        counts = {name: page.page.locator(texts).count() for name, texts in WRITTEN_IN.items()}
        assert counts.pop(theme) > 10
        assert [*counts.values()] == [0]
    assert page.page.title() == f"Report {names[0]}".strip()
    shown = page.page.eval_on_selector_all(
        "#table-cases tbody tr button", "all => all.map(one => one.textContent)"
    )
    assert shown == list(names)


def test_a_missing_interval_has_its_reason_below_the_table():
    columns, rows = ("metric", "value", "lower", "unit"), [("a", 1.0, None, None), ("b", 2.0, 1.5, None)]
    table = Table.of("t", "T", columns, [*rows, ("c", 3.0, None, "mm")])
    table = replace(table, reasons=("few <cases>", None, "biased"))
    html = render_page(Page("P", (Section("s", "S", (table,)),)))
    cells = re.findall(r"<td[^>]*>(.*?)</td>", html)
    marks = [f'<abbr title="{reason}">–<sup>{number}</sup></abbr>' for number, reason in _REASONS.items()]
    assert cells[2::4] == [marks[0], "1.5", marks[1]]
    assert cells[3::4] == ["–", "–", "mm"]
    (footnotes,) = re.findall(r'class="footnotes">(.*?)</p>', html)
    assert [f"<sup>{one}</sup> No interval: {reason}." in footnotes for one, reason in _REASONS.items()] == [
        True,
        True,
    ]


_REASONS = {1: "few &lt;cases&gt;", 2: "biased"}


def test_a_column_without_a_value_can_be_left_out_and_floats_have_six_digits():
    table = Table.of("t", "T", ("metric", "median", "unit"), [("a", None, None), ("b", 0.0, None)])
    kept = table.without_empty("median", "unit")
    assert kept == table.without_empty()
    assert [column.title for column in kept.columns] == ["metric", "median"]
    assert kept.rows == (("a", None), ("b", 0.0))
    written = as_script({"a": [0.12345678, 3.0, "x", None, 1e-9, 2]})
    assert written == '{"a":[0.123457,3,"x",null,1e-09,2]}'


def test_a_table_sorts_by_its_head_with_the_missing_last(usual):
    page = usual.page
    values = [None, 0.0, 1.0, -1.0]  # of one, two, three, four
    for name in ("plain", "cases"):
        head = page.locator(f"#table-{name} th").nth(1).locator("button")
        for order in (1, -1):
            head.press("Enter")  # as from a keyboard
            found = page.eval_on_selector_all(
                f"#table-{name} tbody tr", "all => all.map(row => row.cells[0].innerText)"
            )
            known = sorted(
                (value, case) for value, case in zip(values, USUAL, strict=True) if value is not None
            )
            assert found == [case for _, case in known[::order]] + ["one"]


def test_the_chosen_teams_alone_are_in_tables_and_figures(chromium, tmp_path):
    names = ["one", "two", "three"]
    marks, values = marks_of(names), [Estimated(name, number) for number, name in enumerate(names)]
    charts = (
        team_values_chart("values", "Values", "", values, marks, "value"),
        place_lines_chart("places", "Places", "", {"a": dict.fromkeys(names, 1), "b": {"one": 1}}, marks),
    )
    table = Table.of("teams", "Teams", ("team", "value"), [(name, 1) for name in names])
    page = Page("Board", (Section("board", "Board", (*charts, table)),))
    path = tmp_path / "page.html"
    path.write_text(render_page(page), encoding="utf-8")
    shown = opened(chromium, path).page
    shown.click("#teams summary")
    for name in ("one", "three"):
        shown.check(f"#teams input[value={name}]")
    shown.wait_for_selector("html[data-state=drawn]", state="attached")
    assert shown.locator("#table-teams tbody tr:visible").all_inner_texts() == ["one\t1", "three\t1"]
    texts = shown.locator("#figure-values .role-axis-label text").all_text_contents()
    assert [text for text in texts if text in names] == ["one", "three"]
    legend = shown.locator("#figure-places .role-legend-label text").all_text_contents()
    assert legend == ["one", "three"]
    colours = "path[aria-roledescription=point]"
    drawn = [one.get_attribute("fill") for one in shown.locator(f"#figure-values {colours}").all()]
    assert drawn == [marks["one"].colour, marks["three"].colour]
    for name in ("one", "three"):
        shown.uncheck(f"#teams input[value={name}]")
    assert shown.locator("#table-teams tbody tr:visible").count() == 3


def test_the_table_of_cases_is_filtered(usual):
    page = usual.page
    cases = "all => all.map(row => row.dataset.case)"
    order = page.eval_on_selector_all("#table-cases tbody tr", cases)
    assert sorted(order) == sorted(USUAL)
    page.fill("#table-cases input", "T")
    assert page.inner_text("#table-cases .count") == "2 of 4 cases"
    found = page.eval_on_selector_all("#table-cases tbody tr", cases)
    assert found == [case for case in order if case in ("two", "three")]
    page.fill("#table-cases input", "")
    assert page.eval_on_selector_all("#table-cases tbody tr", cases) == order


def test_a_click_on_a_point_chooses_its_case_everywhere(usual):
    page = usual.page
    page.locator("#figure-points path[aria-roledescription=point]").nth(1).click()
    assert page.get_attribute("#table-cases tr[aria-selected=true]", "data-case") == "two"
    assert page.locator(".picture[data-chosen]").count() == 1
    page.wait_for_function("document.querySelectorAll('#figure-points path[fill=\"#D55E00\"]').length === 1")
    assert page.inner_text("#status") == "Case two is chosen."
    page.keyboard.press("Escape")
    assert page.locator("#table-cases tr[aria-selected=true]").count() == 0
    assert usual.problems(figures=2) == []


def test_figures_are_downloaded(chromium, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render_page(page_of(["=1+1", *USUAL])), encoding="utf-8")
    page = opened(chromium, path).page
    downloaded = {}
    for form, ending, start in (
        ("SVG", "svg", b"<svg"),
        ("PNG", "png", b"\x89PNG"),
        ("CSV", "csv", b"table,"),
        ("Vega-Lite", "vl.json", b"{"),
    ):
        button = page.locator(f"#figure-points [data-format='{form}']")
        if not button.is_visible():
            page.click("#figure-points .downloads summary")
        with page.expect_download() as found:
            button.click()
        downloaded[form] = found.value.path().read_bytes()
        assert found.value.suggested_filename == f"points.{ending}"
        assert downloaded[form].startswith(start)
    rows = downloaded["CSV"].decode().splitlines()
    assert rows[:3] == ["table,case,x", "cases,'=1+1,0", "cases,one,1"]
    assert json.loads(downloaded["Vega-Lite"])["datasets"]["cases"][1] == {"case": "one", "x": 1}


def test_a_page_refers_to_nothing_outside():
    html = render_page(page_of(USUAL))
    outside_of_scripts = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)""", outside_of_scripts)
    assert "connect-src" not in html
    assert "default-src &#39;none&#39;" in html


def test_a_figure_has_one_name_and_stands_once():
    def copies(rows):
        table = [{"team": "A team of a long name", "x": number} for number in range(rows)]
        points = Chart("points", "t", "d", {"teams": table}, {"data": {"name": "teams"}, "mark": "point"})
        return render_page(Page("t", (Section("s", "S", (points,)),))).count("A team of a long name")

    assert copies(2) == copies(200) == 1
    page = page_of(USUAL)
    twice = Page("t", (page.sections[0], Section("third", "3", page.sections[0].blocks[:1])))
    assert [chart.name for chart in twice.charts()] == ["points", "roc", "points-2"]
    assert 'id="figure-points-2"' in render_page(twice)


@pytest.mark.parametrize("text", HOSTILE)
def test_json_in_a_script_cannot_end_it(text):
    written = as_script({text: [text]})
    assert not re.search(r"[<>&\u2028]", written)
    assert json.loads(written) == {text: [text]}


def test_a_long_name_of_emoji_is_drawn_with_squares():
    curve = NamedCurve("🧠" * 80, np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    drawn = vector_files(roc_chart("roc", "ROC", [curve, replace(curve, name="b")]))
    assert "□□" in drawn["svg"].decode()
    assert drawn["pdf"].startswith(b"%PDF-")
