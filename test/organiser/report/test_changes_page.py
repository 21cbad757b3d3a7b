"""What has changed, read again and as a page: who moved, by how much, and which cases did."""

from dataclasses import replace

import pytest

from evaluation.charts.chart import Chart
from evaluation.core.fault import PhaseError
from evaluation.organiser.report.board.changes_page import BANNER, changes_page
from evaluation.organiser.report.board.reading import read_changes
from evaluation.organiser.report.page import Table, Text, render_page
from evaluation.organiser.rescoring.changes import CaseChange, Change, Changes, SubmissionChange, changes_json
from test.faults import faulted
from test.organiser.report.test_render import HOSTILE

SAME = Change(None, None)
DICE = "task.dice"


def moved(*cases: str) -> dict[str, tuple[CaseChange, ...]]:
    return {"task": tuple(CaseChange(case, {"dice": Change(0.5, 1.0)}) for case in cases)}


CHANGES = Changes(
    phase="tiny",
    seal=Change("aa", "bb"),
    ranked=(DICE,),
    overall="overall",
    submissions=(
        SubmissionChange("one", "", SAME, {DICE: Change(0.8, 0.5)}, moved("V1", "V2")),
        SubmissionChange("two", "", SAME, {DICE: Change(0.6, 0.7)}, moved("V2")),
        SubmissionChange("three", "", SAME, {DICE: Change(0.4, 0.4)}, {}),
        SubmissionChange("four", "", Change("no submission", None), {DICE: Change(None, 0.1)}, {}),
    ),
    places={
        "overall": {
            "one": Change(1, 2),
            "two": Change(2, 1),
            "three": Change(3, 3),
            "four": Change(None, 4),
        },
        "task": {"one": Change(1, 1)},
    },
    titles={DICE: "Dice"},
)


def blocks(page, name, kind):
    (section,) = (section for section in page.sections if section.name == name)
    return [block for block in section.blocks if isinstance(block, kind)]


def test_places_of_the_teams_that_moved_alone():
    page = changes_page([CHANGES])
    (figure,) = blocks(page, "places", Chart)
    assert sorted((row["team"], row["scheme"], row["place"]) for row in figure.data["places"]) == [
        ("four", "now", 4),
        ("one", "before", 1),
        ("one", "now", 2),
        ("two", "before", 2),
        ("two", "now", 1),
    ]
    (table,) = blocks(page, "places", Table)
    assert [column.title for column in table.columns] == [
        *("team", "overall: before", "now", "task: before", "now")
    ]
    assert table.rows == (("one", 1, 2, 1, 1), ("two", 2, 1, None, None), ("four", None, 4, None, None))


def test_values_before_and_now_with_the_largest_change_first():
    page = changes_page([CHANGES])
    (figure,) = blocks(page, "values", Chart)
    assert figure.title == "Dice: 3 values have changed"
    assert [row["team"] for row in figure.data["now"]] == ["four", "one", "two"]
    assert [(row["team"], row["before"], row["now"]) for row in figure.data["lines"]] == [
        ("one", 0.8, 0.5),
        ("two", 0.6, 0.7),
    ]
    values, results = blocks(page, "values", Table)
    assert [row[:4] for row in values.rows] == [
        ("one", "Dice", 0.8, 0.5),
        ("two", "Dice", 0.6, 0.7),
        ("four", "Dice", None, 0.1),
    ]
    assert [row[4] for row in values.rows] == pytest.approx([-0.3, 0.1, None])
    assert results.rows == (
        ("one", "scored", "scored", 2),
        ("two", "scored", "scored", 1),
        ("four", "no submission", "scored", 0),
    )


def test_cases_that_moved_are_those_of_most_submissions_first():
    (table,) = blocks(changes_page([CHANGES]), "cases", Table)
    assert table.rows == (("V2", "task", 2, "one and two", "dice"), ("V1", "task", 1, "one", "dice"))
    assert changes_page([CHANGES]).banner == BANNER
    assert changes_page([CHANGES]).answer == (
        "First now: two; before: one.",
        "The results of 3 of 4 submissions differ, through 2 cases.",
    )
    changed = replace(CHANGES, relabelled=("V1", "V2"), references=("masks/V3.png",))
    assert changes_page([changed]).answer[-2:] == (
        "2 cases have other labels or other cells in cases.csv.",
        "1 reference file has other contents.",
    )
    assert changes_page([changed, CHANGES]).answer[0] == "tiny: First now: two; before: one."


def test_boards_tasks_and_columns_have_the_words_of_the_phase():
    words = {"overall": "Final", "task": "Optic cup", "dice": "Dice per image"}
    page = changes_page([replace(CHANGES, titles={**CHANGES.titles, **words})])
    (figure,), (places, cases) = (
        blocks(page, "places", Chart),
        (blocks(page, name, Table)[0] for name in ("places", "cases")),
    )
    assert figure.title == "Places: Final"
    assert [column.title for column in places.columns][1::2] == ["Final: before", "Optic cup: before"]
    assert cases.rows[1] == ("V1", "Optic cup", 1, "one", "Dice per image")
    bundled = changes_page(
        [replace(CHANGES, challenge="justraigs", places={"referable": {"one": Change(1, 2)}})]
    )
    assert blocks(bundled, "places", Chart)[0].title == "Places: referable glaucoma"


def test_without_a_change_the_page_says_so_and_needs_no_banner():
    page = changes_page([replace(CHANGES, submissions=CHANGES.submissions[2:3], places={})])
    *sections, seals = page.sections
    assert [block for section in sections for block in section.blocks] == [
        Text(("Nothing has changed.",))
    ] * 3
    assert seals.blocks == (Text(("tiny: aa → bb",)),)
    assert page.answer == ("The results of 0 of 1 submission differ.",)
    assert page.banner == ""


def test_sections_of_several_phases_and_hostile_names_stay_apart():
    hostile = tuple(
        SubmissionChange(name, name, SAME, {DICE: Change(0.8, 0.5)}, moved(name)) for name in HOSTILE
    )
    other = replace(CHANGES, phase="other", submissions=hostile, places={})
    page = changes_page([CHANGES, other])
    names = [section.name for section in page.sections]
    assert names == [
        *("tiny-places", "tiny-values", "tiny-cases"),
        *("other-places", "other-values", "other-cases", "seals"),
    ]
    charts = [chart.name for chart in page.charts()]
    assert len(set(charts)) == len(charts)
    html = render_page(page)
    assert not any(name in html for name in HOSTILE if "<" in name)


def test_what_was_written_is_read_again_from_the_file_or_its_folder(tmp_path):
    of_lists = {"task": (CaseChange("V1", {"matches": Change([1, 2], None)}),)}
    more = SubmissionChange("five", "first", SAME, {}, of_lists)
    changes = replace(CHANGES, submissions=(*CHANGES.submissions, more))
    path = tmp_path / "changes.json"
    path.write_bytes(changes_json([changes, CHANGES]))
    assert read_changes(path) == (changes, CHANGES)
    assert read_changes(tmp_path) == (changes, CHANGES)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ("changes.json",)),
        ("{", ("changes.json, line 1", "an error at column 2")),
        ("[]", ("changes.json",)),
        ('{"phases": [{"phase": 1}]}', ("changes.json",)),
    ],
)
def test_what_is_no_such_file_is_named(tmp_path, content, words):
    if content is not None:
        (tmp_path / "changes.json").write_text(content)
    with faulted(PhaseError, *words):
        read_changes(tmp_path)
