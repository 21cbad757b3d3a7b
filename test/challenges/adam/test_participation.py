"""Teams that took part in one task only, as Voxelcloud in ADAM's fovea task (paper, Table 7)."""

import json
import shutil
from pathlib import Path

import pytest

from evaluation.core.fault import FaultKind
from evaluation.evaluate import Rejection, Result, check, evaluate
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import Phase, load_phase
from test import started
from test.repository import REPOSITORY

NAME = "adam-onsite"


@pytest.fixture(scope="module")
def phase(tmp_path_factory) -> Phase:
    folder = tmp_path_factory.mktemp("phase") / NAME
    shutil.copytree(REPOSITORY / "ground-truth" / NAME, folder)
    seal(folder, scan(folder))
    return load_phase(folder)


@pytest.fixture
def fovea_only(tmp_path) -> Path:
    submission = tmp_path / "fovea-only"
    submission.mkdir()
    table = "fovea_location_results.csv"
    shutil.copy(REPOSITORY / "test" / "input" / NAME / table, submission / table)
    return submission


def test_what_was_left_out_is_absent(phase, fovea_only):
    assert not list(check(phase.form, fovea_only, 0).faults)
    result = evaluate(phase, fovea_only, 0)
    assert isinstance(result, Result)
    assert set(result.metrics.aggregates) == {"fovea"}
    complete = evaluate(phase, REPOSITORY / "test" / "input" / NAME, 0)
    assert result.metrics.aggregates["fovea"] == complete.metrics.aggregates["fovea"]


def test_a_submission_to_no_task_is_a_fault(phase, tmp_path):
    (tmp_path / "empty").mkdir()
    rejection = evaluate(phase, tmp_path / "empty", 0)
    assert isinstance(rejection, Rejection)
    (fault,) = rejection.faults
    assert (fault.kind, fault.found) == (FaultKind.MISSING, "none")
    assert check(phase.form, tmp_path / "empty", 0).faults == rejection.faults


def test_a_team_has_places_in_its_own_tasks_alone(phase, fovea_only, tmp_path):
    teams = tmp_path / "teams"
    shutil.copytree(REPOSITORY / "test" / "input" / NAME, teams / "complete")
    shutil.copytree(fovea_only, teams / "fovea-only")
    scored, ranked = tmp_path / "scored", tmp_path / "ranked"
    for command in (
        ["evaluate", "--each", teams, "--ground-truth", phase.folder, "--output", scored, "--workers", "0"],
        ["rank", scored, "--output", ranked, "--resamples", "0"],
    ):
        done = started.run(*command)
        assert done.returncode == 0, done.stderr
    (board,) = json.loads((ranked / "leaderboard.json").read_text(encoding="utf-8"))["phases"]
    places = {
        team["team"]: {name: place.get("place") for name, place in team["boards"].items()}
        for team in board["teams"]
    }
    assert set(places["complete"].values()) == {1}
    assert {name for name, place in places["fovea-only"].items() if place is not None} == {"fovea"}
