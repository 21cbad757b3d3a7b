"""Tables with any number of rows for each case: which rows are whose, and what is too much."""

from dataclasses import replace

import pytest

from evaluation.core.challenge import Task
from evaluation.core.field import Field, Files, Reference, TableColumns, TableRows
from evaluation.core.form import CaseForm, Form
from evaluation.core.limits import WHO_CAN_RAISE, max_rows
from evaluation.core.sources import RowsSource
from evaluation.io.kinds.objects import Space
from evaluation.io.kinds.points import Points
from evaluation.platform.archive import hint_of_absence, index_archive

KIND = Points(Space(2))
ROWS = TableRows(("points.csv",), "scan", ("x", "y"))
FIELD = Field("nodules", "Nodules", KIND, ROWS, Reference(KIND, ROWS))
FORM = Form(
    challenge="none",
    phase="none",
    submission="archive",
    tasks=("detection",),
    missing="reject",
    options={},
    sockets={},
    cases=(CaseForm("s1"), CaseForm("s2"), CaseForm("s3")),
)
HEADER = "scan,x,y\n"


def index(folder, text, form=FORM, field=FIELD, name="points.csv"):
    if text is not None:
        (folder / name).write_text(text)
    task = Task("detection", "Detection", (field,), lambda submitted, reference: {}, ())
    return index_archive(folder, form, [task])


def told(found):
    return [f"{fault.kind.value}: {fault.place}: {fault.found}" for fault in found.faults]


def test_rows_belong_to_cases_by_name_in_their_order(tmp_path):
    found = index(tmp_path, HEADER + "s2,1,2\nS1.mha,3,4\ns2,5,6\n")
    assert found.faults == ()
    assert [of_case["nodules"] for of_case in found.sources] == [
        RowsSource(((3, ("3", "4")),), "points.csv", ("x", "y")),
        RowsSource(((2, ("1", "2")), (4, ("5", "6"))), "points.csv", ("x", "y")),
        RowsSource((), "points.csv", ("x", "y")),
    ]


def test_rows_of_cases_that_have_no_such_field(tmp_path):
    field = replace(FIELD, cases=lambda case: case.name != "s3")
    found = index(tmp_path, HEADER + "s3,1,2\n", field=field)
    assert told(found) == ["unknown: points.csv, line 2, scan: 's3'"]
    assert [list(of_case) for of_case in found.sources] == [["nodules"], ["nodules"], []]


def test_rows_are_limited_in_sum(tmp_path):
    # Ten thousand, and a thousand for each case.
    assert max_rows(3, FIELD) == 13_000
    assert index(tmp_path, HEADER + "s1,1,2\n" * 13_000).faults == ()
    assert told(index(tmp_path, HEADER + "s1,1,2\n" * 13_001)) == ["too large: points.csv, line 13002: more"]
    (fault,) = index(tmp_path, HEADER + "s1,1,2\n" * 13_001).faults
    assert fault.expected == "at most 13000 rows (1000 an image on average, and 10000 more)"
    assert fault.hint == WHO_CAN_RAISE
    found = index(tmp_path, HEADER + "s9,1,2\n" * 13_000)
    assert told(found)[-1] == "too large: points.csv, line 10002, scan: more"
    assert len(found.faults) == 10_001


MASKS = Files("segmentation", (".png",))
TABLE = TableColumns(("fovea_location_results.csv",), "ImageName", ("Fovea_X", "Fovea_Y"))


@pytest.mark.parametrize(
    ("layout", "files", "named"),
    [
        (MASKS, ["results/final.zip"], "results/final.zip"),
        (TABLE, ["x.TAR.GZ", "fovea_location_result.csv"], "x.TAR.GZ"),
        (MASKS, ["Segmentations/V0001.png", "other/V0001.png"], "Segmentations/"),
        (TABLE, ["Fovea_Location_Results.xlsx"], "Fovea_Location_Results.xlsx"),
        (TABLE, ["fovea_localization_results.csv", "readme.txt"], "fovea_localization_results.csv"),
        (MASKS, ["segmentation/V1.jpg", "segmentation/V2.jpg"], "segmentation/V1.jpg and 1 more"),
        (MASKS, ["Segmentation/x/V1.png"], "expected names as segmentation/<image>.png"),
        (MASKS, ["\x1b[31msegmentation/V0001.png"], "\\x1b[31msegmentation/"),
    ],
)
def test_what_is_alike_is_named(layout, files, named):
    assert named in hint_of_absence(layout, files)


@pytest.mark.parametrize(
    ("layout", "file"),
    [(MASKS, "V0001.png"), (MASKS, "notes/V0001.png"), (TABLE, "readme.txt"), (TABLE, "fovea_location.png")],
)
def test_nothing_is_guessed_where_nothing_is_alike(layout, file):
    assert hint_of_absence(layout, []) is None
    assert hint_of_absence(layout, [file]) is None
