"""Synthetic annotations: what each annotator is said to do, and the bundled sample."""

import numpy as np
import pytest

from evaluation.cli.main import main
from evaluation.organiser.samples.cysts import ANNOTATORS, annotate, draw_cases


def test_annotators_have_their_habits():
    case, *_ = draw_cases(1, 0.3, np.random.default_rng(1))
    rng = np.random.default_rng(2)
    read = {name: [annotate(case, rng, habits) for _ in range(20)] for name, habits in ANNOTATORS.items()}
    mean = {
        name: np.mean([levels[levels > 0].mean() for levels in volumes]) for name, volumes in read.items()
    }
    assert mean["low"] < mean["rough"] < mean["high"]
    marked = {name: np.mean([np.count_nonzero(v) for v in volumes]) for name, volumes in read.items()}
    spread = {name: np.std([np.count_nonzero(v) for v in volumes]) for name, volumes in read.items()}
    assert spread["rough"] > max(spread["low"], spread["high"])
    assert marked["low"] == pytest.approx(marked["high"], rel=0.1)


def test_fewer_than_five_b_scans_are_refused(tmp_path, capsys):
    arguments = ["sample", "cysts", "--annotations", "--output", str(tmp_path / "s"), "--b-scans", "4"]
    assert main(arguments) == 1
    assert "expected at least 5, found 4" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()
