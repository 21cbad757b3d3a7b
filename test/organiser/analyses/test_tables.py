"""The tables of analyses: their digits, and which figures have an interval."""

import pytest

from evaluation.organiser.analyses.cysts import ANALYSES
from evaluation.organiser.further_analysis import AnalysisFigure
from evaluation.organiser.report.analyses import figures_table

HEIGHT = "Mean height in µm"
KNOWN = AnalysisFigure("Up to 380 µm", HEIGHT, 26, 157, 147.74, 131.96, 164.48, "percentile")
UNKNOWN = AnalysisFigure("Above 380 µm", HEIGHT, 4, 5, 0.25, None, None, "fewer than 10 cases")
SOME, NONE = "In brackets: 95 % intervals.", "Figures without an interval: 1 (fewer than 10 cases)."


@pytest.mark.parametrize(
    ("figures", "rows", "note"),
    [
        ([KNOWN], [["Up to 380 µm", 26, "147.7 (132.0 to 164.5)"]], SOME),
        ([UNKNOWN], [["Above 380 µm", 4, "0.250"]], NONE),
        (
            [KNOWN, UNKNOWN],
            [["Up to 380 µm", 26, "147.7 (132.0 to 164.5)"], ["Above 380 µm", 4, "0.250"]],
            f"{SOME} {NONE}",
        ),
    ],
)
def test_a_table_says_which_figures_have_an_interval(figures, rows, note):
    table = figures_table(ANALYSES[0], {"": figures})
    assert [list(row) for row in table.rows] == rows
    assert table.note.removeprefix(ANALYSES[0].texts["note"]) == f" {note}"
