import pytest

from evaluation.core.fault import PhaseError
from evaluation.core.field import HiddenField, Reference, TableRows
from evaluation.core.form import CaseForm, CaseRow
from evaluation.io.files import sha256_of
from evaluation.io.kinds.objects import Space
from evaluation.io.kinds.points import Points, point_set
from evaluation.organiser.submission_writer import SampleCase, write_phase
from evaluation.phase.reference import (
    OpenReference,
    ReferenceFiles,
    ReferenceValues,
    rows_of_cases,
)
from test.faults import faulted
from test.phases import FIELDS, loaded_phase, tiny_cases


@pytest.fixture
def phase(tmp_path):
    return loaded_phase(tmp_path / "phase")


def values_of(phase, position=0):
    reference = OpenReference(phase.reference, FIELDS)
    return ReferenceValues(reference, phase.cases.forms[position], phase.rows[position])


def test_values_are_read(phase):
    values = values_of(phase)
    case = tiny_cases()[0]
    assert values["glaucoma_risk"] == 1
    assert values["fovea"].positions.tolist() == case.fovea.positions.tolist() == [[3.0, 5.5]]
    assert (values["segmentation"].whole == case.mask).all()
    assert set(values) == {"glaucoma_risk", "segmentation", "fovea"}
    assert len(values) == 3


def test_a_file_is_opened_once_and_only_when_it_is_asked_for(phase):
    values, other = values_of(phase), values_of(phase)
    first = values["segmentation"]
    (phase.folder / "masks" / "V0001.png").unlink()
    assert values["segmentation"] is first
    assert other["glaucoma_risk"] == 1
    with faulted(PhaseError, "masks/V0001.png", "no such file"):
        other["segmentation"]


def test_the_digest_of_the_bytes_that_are_read_is_compared(phase):
    path = phase.folder / "masks" / "V0001.png"
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    with faulted(PhaseError, "masks/V0001.png"):
        values_of(phase)["segmentation"]
    assert values_of(phase, 1)["segmentation"].positions.shape == (1, 6, 6)


@pytest.mark.parametrize(
    ("cells", "name", "message"),
    [
        ({"glaucoma": "2"}, "glaucoma_risk", "cases.csv, line 7, glaucoma: expected 0 or 1, found 2"),
        ({}, "glaucoma_risk", "cases.csv, line 7, glaucoma: expected 0 or 1, found nothing"),
        (
            {"fovea_x": "17", "fovea_y": "0"},
            "fovea",
            "cases.csv, line 7, fovea_x, fovea_y: expected x from 0 to 16, found x = 17",
        ),
    ],
)
def test_a_fault_of_the_reference_is_the_organisers(phase, cells, name, message):
    values = ReferenceValues(OpenReference(phase.reference, FIELDS), phase.cases.forms[0], CaseRow(7, cells))
    with pytest.raises(PhaseError) as caught:
        values[name]
    assert caught.value.problems == (message,)


ROWS = TableRows(("nodules.csv",), "scan", ("x", "y"))
NODULES = HiddenField("nodules", Reference(Points(Space(2)), ROWS))


def written_table(folder, *cases):
    write_phase(folder, "", [NODULES], cases)
    return folder


def nodules(name, *positions):
    found = point_set([(x, y, 0, 1, 0) for x, y in positions], 2)
    return SampleCase(name, {}, {"nodules": found})


def test_a_table_has_any_number_of_rows_for_a_case(tmp_path):
    folder = written_table(tmp_path, nodules("a", (1, 2), (3, 4)), nodules("b"))
    assert (folder / "nodules.csv").read_text() == "scan,x,y\na,1.0,2.0\na,3.0,4.0\n"
    assert (folder / "cases.csv").read_text() == "name\na\nb\n"
    paths = {"nodules": dict.fromkeys("ab", "nodules.csv")}
    digests = {"nodules.csv": sha256_of((folder / "nodules.csv").read_bytes())}
    reference = OpenReference(ReferenceFiles(str(folder), digests, paths), [NODULES])
    row = CaseRow(2, {})
    read = {name: reference.value(NODULES, CaseForm(name), row).positions.tolist() for name in "ab"}
    assert read == {"a": [[1, 2], [3, 4]], "b": []}


def test_all_faults_of_a_table_are_listed(tmp_path):
    (tmp_path / "nodules.csv").write_text("scan,x,y\nA.mha,1,2\nc,1,2\n,3,4\n")
    with pytest.raises(PhaseError) as error:
        rows_of_cases(tmp_path, ROWS, ["a", "b"])
    expected = "expected a case of cases.csv that has such a reference"
    assert error.value.problems == (
        f"nodules.csv, line 3, scan: {expected}, found 'c'",
        f"nodules.csv, line 4, scan: {expected}, found ''",
    )
