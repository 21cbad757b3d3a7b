"""An example without a script of its own has the sample of what it declares."""

import subprocess
import sys

import pytest

import evaluation
from test.examples.samples import EXAMPLES
from test.rooms import needs


@needs("starter")
@pytest.mark.parametrize(
    ("example", "figure"),
    [("midog2025-classification", "classification.auc"), ("airogs", "screening.alpha")],
)
def test_an_example_has_a_phase_and_a_submission(tmp_path, example, figure):
    """All fields of AIROGS read one column, whose classes must all occur."""
    subprocess.run([sys.executable, str(EXAMPLES / "sample.py"), example, str(tmp_path)], check=True)
    evaluation.seal(tmp_path / "phase")
    task, _, name = figure.partition(".")
    result = evaluation.evaluate(tmp_path / "phase", tmp_path / "submission", workers=0).to_dict()
    assert 0.5 < result["aggregates"][task][name]["value"] < 1
