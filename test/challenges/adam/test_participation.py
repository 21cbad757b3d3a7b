"""Teams that took part in one task only, as Voxelcloud in ADAM's fovea task (paper, Table 7)."""

import json
import shutil

import evaluation
from test import started
from test.repository import REPOSITORY

NAME = "adam-onsite"
TABLE = "fovea_location_results.csv"


def test_what_was_left_out_is_absent_and_has_no_place(tmp_path):
    phase, teams = tmp_path / NAME, tmp_path / "teams"
    shutil.copytree(REPOSITORY / "ground-truth" / NAME, phase)
    evaluation.seal(phase)
    shutil.copytree(REPOSITORY / "test" / "input" / NAME, teams / "complete")
    (teams / "fovea-only").mkdir()
    shutil.copy(teams / "complete" / TABLE, teams / "fovea-only" / TABLE)
    scored, ranked = tmp_path / "scored", tmp_path / "ranked"
    for command in (
        ["evaluate", "--each", teams, "--ground-truth", phase, "--output", scored, "--workers", "0"],
        ["rank", scored, "--output", ranked, "--resamples", "0"],
    ):
        done = started.run(*command)
        assert done.returncode == 0, done.stderr
    complete, part = (
        json.loads((scored / team / "metrics.json").read_text(encoding="utf-8"))["aggregates"]
        for team in ("complete", "fovea-only")
    )
    assert part == {"fovea": complete["fovea"]}
    (board,) = json.loads((ranked / "leaderboard.json").read_text(encoding="utf-8"))["phases"]
    places = {
        team["team"]: {name: place.get("place") for name, place in team["boards"].items()}
        for team in board["teams"]
    }
    assert set(places["complete"].values()) == {1}
    assert {name for name, place in places["fovea-only"].items() if place is not None} == {"fovea"}
