"""Labels of graders: as the case table holds them, who counts where they disagree, and counts of labels."""

import pytest

from evaluation.challenges.justraigs.analyses import (
    AGREED,
    PREDICTED,
    counting_graders,
    final_label,
    marks,
    marks_of,
)
from evaluation.challenges.justraigs.kinds import AgreedFeatures, GradedEye
from evaluation.core.case_table import CaseTable
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


def test_a_written_eye_is_read_back():
    kind = AgreedFeatures(3, MAIN, "RG")
    eye = GradedEye(("RG", "NRG", "RG"), ((T, F, N), (N, N, N), (T, T, T)))
    cells = kind.write_cells(eye)
    assert cells == ("RG", "RG", "NRG", "RG", "10-", "", "111")
    assert kind.read(CellsSource(cells, "cases.csv", 2, COLUMNS), CASE, None) == (T, N, N)


# Both first graders, the specialist (- none), the final label (- none), the positions of the graders that
# count by the text, and where the specialist alone counts.
PATTERNS = """
    RG  RG  -   RG  01  01
    RG  RG  RG  RG  01  2
    RG  RG  NRG RG  01  01
    RG  RG  U   RG  01  01
    NRG NRG -   NRG 01  01
    NRG NRG RG  NRG 01  01
    NRG NRG NRG NRG 01  2
    NRG NRG U   NRG 01  01
    U   U   -   U   01  01
    U   U   RG  U   01  01
    U   U   NRG U   01  01
    U   U   U   U   01  2
    RG  NRG -   -   -   -
    RG  NRG RG  RG  02  2
    RG  NRG NRG NRG 12  2
    RG  NRG U   U   2   2
    NRG RG  NRG NRG 02  2
    RG  U   -   -   -   -
    RG  U   RG  RG  02  2
    RG  U   NRG NRG 2   2
    RG  U   U   U   12  2
    U   RG  U   U   02  2
    NRG U   NRG NRG 02  2
    U   NRG RG  RG  2   2
    U   NRG U   U   02  2
"""


@pytest.mark.parametrize(
    "pattern", PATTERNS.strip().splitlines(), ids=lambda line: "-".join(line.split()[:3])
)
def test_every_pattern_of_three_graders(pattern):
    first, second, specialist, final, by_text, alone = (
        "" if cell == "-" else cell for cell in pattern.split()
    )
    labels = (first, second, specialist)
    assert final_label(*labels) == final
    assert counting_graders(labels) == tuple(map(int, by_text))
    assert counting_graders(labels, specialist_alone=True) == tuple(map(int, alone))


LABELS = ("large cup", "laminar dots")


def eyes(*pairs):
    rows = [{PREDICTED: marks_of(predicted), AGREED: marks_of(agreed)} for predicted, agreed in pairs]
    return CaseTable([f"E{number}" for number in range(len(rows))], rows)


def test_marks_are_kept_and_cannot_be_changed():
    assert marks_of((True, False, None)).tolist() == [1, 0, -1]
    assert marks(eyes(((True, None), (None, False))), PREDICTED).tolist() == [[1, -1]]
    with pytest.raises(ValueError, match="read-only"):
        marks_of((True,))[0] = 0
