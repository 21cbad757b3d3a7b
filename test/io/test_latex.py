"""Tables for LaTeX."""

from evaluation.organiser.output import escaped, tabular


def test_special_signs_are_shown_as_they_are():
    assert escaped("\\write18{rm}") == r"\textbackslash{}write18\{rm\}"
    assert escaped("a_b & 50 % ± 2 mm²") == r"a\_b \& 50 \% $\pm$ 2 mm\textsuperscript{2}"


def test_a_table_aligns_its_columns():
    assert tabular(["team", "value"], [["a", "1"], ["b", "–"]], [False, True]).splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"team & value \\",
        r"\midrule",
        r"a & 1 \\",
        r"b & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
