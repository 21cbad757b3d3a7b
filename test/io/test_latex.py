"""Tables for LaTeX."""

from evaluation.organiser.output import escaped


def test_special_signs_are_shown_as_they_are():
    assert escaped("\\write18{rm}") == r"\textbackslash{}write18\{rm\}"
    assert escaped("a_b & 50 % ± 2 mm²") == r"a\_b \& 50 \% $\pm$ 2 mm\textsuperscript{2}"
