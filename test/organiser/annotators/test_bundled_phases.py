"""Every challenge's own samples: an ensemble of copies scores as the submission does."""

import shutil
from pathlib import Path

import pytest

from evaluation.core.aggregation import metric_values
from evaluation.evaluate import Result, evaluate
from evaluation.organiser.annotators.combine import CombinationRules
from evaluation.organiser.annotators.ensemble import write_ensemble
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from test.repository import REPOSITORY


def phase_of(name: str, folder: Path):
    """Return a sealed copy of a bundled phase."""
    copied = Path(shutil.copytree(REPOSITORY / "ground-truth" / name, folder / "phase"))
    seal(copied, scan(copied))
    return load_phase(copied)


def metrics(phase, submission):
    result = evaluate(phase, submission, workers=0)
    assert isinstance(result, Result), result
    return {
        f"{task.name}.{name}": value
        for task in result.tasks
        for name, value in metric_values(task.metrics, result.tables[task.name]).items()
    }


# Several masks, volumes, boxes, flags with decisions; REFUGE's masks and points are in `test_ensemble`.
@pytest.mark.parametrize("name", ["adam-onsite", "cysts", "edd2020", "justraigs-phase1"])
def test_an_ensemble_of_copies_scores_like_the_submission(name, tmp_path):
    phase = phase_of(name, tmp_path)
    given = REPOSITORY / "test" / "input" / name
    write_ensemble(
        phase.form, phase.tasks, {"a": given, "b": given}, tmp_path / "ensemble", CombinationRules()
    )
    assert metrics(phase, tmp_path / "ensemble") == pytest.approx(metrics(phase, given), nan_ok=True)
