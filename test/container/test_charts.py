"""Charts that a phase publishes, written by the container as the platform takes them."""

from __future__ import annotations

import json

import pytest

from evaluation.charts.published import documents
from evaluation.evaluate import evaluate as evaluate_here
from evaluation.phase.phase import load_phase
from test.charts.test_published import NAMES, SUBMISSION, phase_folder
from test.charts.test_specifications import rounded
from test.charts.vega_lite import validator

from .engine import GROUND_TRUTH, HARDENED, evaluate

pytestmark = pytest.mark.container


def test_charts_lie_beside_the_metrics(image, tmp_path):
    phase = phase_folder(tmp_path / "phase")
    output = tmp_path / "output"
    output.mkdir()
    output.chmod(0o777)
    run = evaluate(
        image,
        SUBMISSION,
        *HARDENED,
        f"--mount=type=bind,source={phase},target={GROUND_TRUTH},readonly",
        f"--mount=type=bind,source={output},target=/output",
        own_output=True,
    )
    assert (run.status, run.stderr) == (0, "")
    files = [f"chart-{name}.json" for name in NAMES]
    assert sorted(path.name for path in output.iterdir()) == sorted(["metrics.json", *files])
    scored = evaluate_here(load_phase(phase), SUBMISSION, 0)
    here = documents(scored, scored.metrics, scored.phase.config.chart_outputs)
    for name in files:
        written = json.loads((output / name).read_bytes())
        assert validator().is_valid(written)
        assert rounded(written) == rounded(json.loads(here[name]))
