"""References from graders' labels as the case table holds them."""

import math
import re

import pytest

from evaluation.challenges.justraigs.kinds import AgreedFeatures, GradedEye, MainLabel
from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource
from test.faults import faulted

COLUMNS = ("final_label", "label_g1", "label_g2", "label_g3", "features_g1", "features_g2", "features_g3")
MAIN = ("RG", "NRG", "U")
CASE = CaseForm("E1")
T, F, N = True, False, None


def read(*cells: str, alone: bool = False):
    return AgreedFeatures(3, MAIN, "RG", alone).read(CellsSource(cells, "cases.csv", 5, COLUMNS), CASE, None)


@pytest.mark.parametrize(
    ("cells", "by_text", "alone"),
    [
        (("RG", "RG", "RG", "", "101", "100", ""), (T, F, N), (T, F, N)),
        (("RG", "RG", "RG", "", "1-1", "101", ""), (T, N, T), (T, N, T)),
        (("RG", "RG", "NRG", "RG", "101", "", "011"), (N, N, T), (F, T, T)),
        (("RG", "NRG", "RG", "RG", "", "111", "001"), (N, N, T), (F, F, T)),
        (("RG", "NRG", "U", "RG", "", "", "010"), (F, T, F), (F, T, F)),
        (("RG", "RG", "NRG", "RG", "", "", "011"), (N, N, N), (F, T, T)),
        (("NRG", "RG", "NRG", "NRG", "111", "", ""), None, None),
        (("U", "U", "U", "", "", "", ""), None, None),
    ],
)
def test_agreed_features(cells, by_text, alone):
    assert read(*cells) == by_text
    assert read(*cells, alone=True) == alone


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("NRG", "RG", "RG", "", "", "", ""), ("cases.csv, line 5", "graders who give RG")),
        (("RG", "RG", "NRG", "", "", "", ""), ("cases.csv, line 5", "a disagreement without a specialist")),
        (("RG", "", "RG", "RG", "", "", ""), ("cases.csv, line 5", "''")),
        (("RG", "RG", "RG", "?", "", "", ""), ("cases.csv, line 5", "'?'")),
        (("RG", "RG", "RG", "", "11", "111", ""), ("cases.csv, line 5", "'11'")),
        (("RG", "RG", "RG", "", "112", "111", ""), ("cases.csv, line 5", "'112'")),
    ],
)
def test_faults(cells, message):
    # Marks are malformed, labels are values that do not fit.
    kind = FaultKind.MALFORMED if "11" in message[-1] else FaultKind.WRONG_VALUE
    with faulted(FormFault, *message, kind=kind):
        read(*cells)


@pytest.mark.parametrize("grader", [1, 2, 3])
def test_a_fault_names_the_grader_whose_label_is_unknown(grader):
    labels = ["RG"] * 3
    labels[grader - 1] = "?"
    with pytest.raises(FormFault) as refused:
        read("RG", *labels, "", "", "")
    assert re.findall(r"\d", refused.value.faults[0].expected) == [str(grader)]


def test_a_written_eye_is_read_back():
    kind = AgreedFeatures(3, MAIN, "RG")
    eye = GradedEye(("RG", "NRG", "RG"), ((T, F, N), (N, N, N), (T, T, T)))
    cells = kind.write_cells(eye)
    assert cells == ("RG", "RG", "NRG", "RG", "10-", "", "111")
    assert kind.read(CellsSource(cells, "cases.csv", 2, COLUMNS), CASE, None) == (T, N, N)


def test_main_labels():
    kind = MainLabel({"RG": 1.0, "NRG": 0.0, "U": math.nan})
    values = [kind.read(CellsSource((cell,), "cases.csv", 2, ("final_label",)), CASE, None) for cell in MAIN]
    assert values == pytest.approx([1, 0, math.nan], nan_ok=True)
    with faulted(FormFault, "cases.csv, line 2", "'rg'", kind=FaultKind.WRONG_VALUE):
        kind.read(CellsSource(("rg",), "cases.csv", 2, ("final_label",)), CASE, None)
