"""An example without a script of its own has the sample of what it declares."""

import subprocess
import sys

import evaluation
from test.examples.samples import EXAMPLES, scores_of
from test.rooms import needs


@needs("starter")
def test_an_example_has_a_phase_and_a_submission(tmp_path):
    command = [sys.executable, str(EXAMPLES / "sample.py"), "midog2025-classification", str(tmp_path)]
    subprocess.run(command, check=True)
    evaluation.seal(tmp_path / "phase")
    figures = scores_of(tmp_path / "phase", tmp_path / "submission")["aggregates"]["classification"]
    assert 0.5 < figures["auc"]["value"] < 1
