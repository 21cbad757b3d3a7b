import pytest

from evaluation.core.challenge import FormColumn
from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.phase.cases import read_cases
from test.faults import faulted

GOOD = "name,width,height,label\nV0002,16,12,1\nV0001,16,12,0\n"


def read(folder, text, form_columns=()):
    (folder / "cases.csv").write_text(text, encoding="utf-8")
    return read_cases(folder, [FormColumn(name) for name in form_columns])


def problems_of(folder, text, form_columns=()):
    with pytest.raises(PhaseError) as caught:
        read(folder, text, form_columns)
    return list(caught.value.problems)


def test_cases_are_sorted_by_name_and_keep_their_lines(tmp_path):
    cases = read(tmp_path, GOOD)
    assert cases.forms == (CaseForm("V0001", 16, 12), CaseForm("V0002", 16, 12))
    assert [(row.line, row.cells["label"]) for row in cases.rows] == [(3, "0"), (2, "1")]
    assert cases.columns == ("name", "width", "height", "label")


def test_only_declared_columns_enter_the_form(tmp_path):
    cases = read(tmp_path, GOOD, ["label"])
    assert [dict(case.columns) for case in cases.forms] == [{"label": "0"}, {"label": "1"}]
    assert [dict(case.columns) for case in read(tmp_path, GOOD).forms] == [{}, {}]


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace(",", " , ") + "\n,,,\n",
        "sep=;\n".replace("\n", "\r\n") + GOOD.replace(",", ";"),
        GOOD.replace("name", "Name").replace("height", "HEIGHT"),
        GOOD.replace(",16,", ",16.0,"),
    ],
)
def test_harmless_differences(tmp_path, text):
    assert read(tmp_path, text).forms == (CaseForm("V0001", 16, 12), CaseForm("V0002", 16, 12))


def test_a_quoted_line_end_moves_no_line_number(tmp_path):
    cases = read(tmp_path, 'name,note\nV1,"two\nlines"\nV2,\n')
    assert [row.line for row in cases.rows] == [3, 4]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", ["cases.csv: column 'name' is missing", "cases.csv: expected at least one case, found none"]),
        ("case,width\nV1,3\n", ["cases.csv: column 'name' (did you mean 'case'?) is missing"]),
        ("name\nV1\nv1\nV1.png\n", ["cases.csv, lines 2, 3, 4: duplicate case 'v1'"]),
        ("name,width\nV1,\nV2,-3\nV3,1.5\nV4,٣\n", [
            "cases.csv, line 2, width: expected a size in pixels, found ''",
            "cases.csv, line 3, width: expected a size in pixels, found '-3'",
            "cases.csv, line 4, width: expected a size in pixels, found '1.5'",
            "cases.csv, line 5, width: expected a size in pixels, found '٣'",
        ]),
        ("name,note\n,x\na/b,\n.hidden,\n..,\n", [
            "cases.csv, line 2, name: expected a file name without folders, found ''",
            "cases.csv, line 3, name: expected a file name without folders, found 'a/b'",
            "cases.csv, line 4, name: expected a file name without folders, found '.hidden'",
            "cases.csv, line 5, name: expected a file name without folders, found '..'",
        ]),
        ('name\n"V\t1"\n', [r"cases.csv, line 2, name: expected a file name without folders, found 'V\t1'"]),
        # All at once: a row too short, a wrong size, a name that stands twice.
        ("name,width,width\nV1,5,5\nV2\nV3,x,x\nv1,5,5\n", [
            "cases.csv: duplicate column 'width'",
            "cases.csv, line 3: expected 3 cells, found 1",
            "cases.csv, line 4, width: expected a size in pixels, found 'x'",
            "cases.csv, lines 2, 5: duplicate case 'v1'",
        ]),
    ],
)  # fmt: skip
def test_every_fault_is_listed(tmp_path, text, problems):
    assert problems_of(tmp_path, text) == problems


SET = FormColumn("set", ("first", "second"))


def test_a_choice_may_be_left_out_or_empty_and_holds_nothing_else(tmp_path):
    for text in ("name\nV1\n", "name,set\nV1,\n", "name,set\nV1,first\n"):
        (tmp_path / "cases.csv").write_text(text)
        assert read_cases(tmp_path, [SET]).forms == (CaseForm("V1", columns={"set": "first"}),)
    (tmp_path / "cases.csv").write_text("name,set\nV1,second\nV2,third\n")
    with faulted(PhaseError, "cases.csv, line 3, set", "'third'"):
        read_cases(tmp_path, [SET])
