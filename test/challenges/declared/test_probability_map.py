"""Figures of probability maps through a phase, against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from test.challenges.declared.images import figures_of, volume_phase
from test.challenges.declared.scalars import rehearsed
from test.oracles import checked

FIELD = '[fields.map]\nkind = "probability_map"\nforeground = [2, 3]\nbackground = [1]\n'
TABLES = f"""{FIELD}
[tasks.scans]
metrics = ["dice_at_threshold"]
"""
RANDOM = np.random.default_rng(2)
REFERENCES = {f"scan{n}": RANDOM.choice(np.array([0, 0, 1, 2, 3], np.uint8), (3, 4, 5)) for n in range(4)}
PREDICTIONS = {
    name: np.where(RANDOM.random((3, 4, 5)) < 0.5, RANDOM.integers(0, 9, (3, 4, 5)) / 8, 0).astype(np.float32)
    for name in REFERENCES
}


@checked(
    dice_at_threshold="sklearn.metrics.f1_score",
)
def test_figures_of_a_submission(tmp_path):
    phase = volume_phase(tmp_path, TABLES, REFERENCES)
    pairs = [(REFERENCES[name].ravel() >= 2, PREDICTIONS[name].ravel()) for name in REFERENCES]
    expected = {
        "dice_at_threshold": np.mean([f1_score(true, found >= 0.5) for true, found in pairs]),
    }
    assert figures_of(phase, tmp_path, PREDICTIONS) == pytest.approx(expected, abs=5e-5)
    assert rehearsed(phase).problems == ()


def test_the_threshold_belongs_to_the_foreground(tmp_path):
    tables = f"""{FIELD}
[tasks.scans.metrics]
dice_at_threshold = {{ threshold = 0.3 }}
from_half = {{ metric = "dice_at_threshold" }}
"""
    phase = volume_phase(tmp_path, tables, {"a": np.full((1, 1, 2), 2, np.uint8)})
    # 0.3 as single precision is above 0.3.
    found = figures_of(phase, tmp_path, {"a": np.array([[[0.3, 0.25]]], np.float32)})
    assert found == {"dice_at_threshold": pytest.approx(2 / 3, abs=5e-5), "from_half": 0}
    found = figures_of(phase, tmp_path, {"a": np.array([[[0.5, 0.5]]], np.float32)})
    assert found == {"dice_at_threshold": 1, "from_half": 1}
