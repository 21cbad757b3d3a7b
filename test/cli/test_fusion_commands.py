"""`fuse` and `ensemble` as processes."""

import pytest

from test.organiser.annotators.people import seven_graders
from test.phases import refuge_phase, refuge_submission
from test.started import run


def test_annotators(tmp_path):
    given = seven_graders(tmp_path / "in")
    done = run("fuse", "annotators", given.folder, "--output", tmp_path / "phase")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path / 'phase'}\n{tmp_path / 'phase-report'}\n"
    assert (tmp_path / "phase-report" / "report.json").exists()
    assert run("seal", tmp_path / "phase").returncode == 0


def test_an_ensemble_of_the_first_of_a_board(tmp_path):
    phase = refuge_phase(tmp_path / "phase")
    teams = [refuge_submission(tmp_path / f"team-{name}") for name in "abc"]
    board = "team,overall place\nteam-a,3\nteam-b,1\nteam-c,2\n"
    (tmp_path / "leaderboard.csv").write_text(board, encoding="utf-8")
    places = ("--ground-truth", phase, "--output", tmp_path / "e", "--tasks", "segmentation")
    board = ("--top", 2, "--leaderboard", tmp_path / "leaderboard.csv")
    done = run("ensemble", *teams, *places, *board, "--report", tmp_path / "r")
    assert (done.returncode, done.stderr) == (0, "")
    first, *_, last = done.stdout.splitlines()
    assert first == "the first 2 by overall place: team-b, team-c"
    assert "2 submissions, segmentation" in done.stdout
    assert [path.name for path in (tmp_path / "e").iterdir()] == ["segmentation"]
    assert last == str(tmp_path / "r")
    assert {path.name for path in (tmp_path / "r").iterdir()} == {"agreement.csv", "disagreement.csv"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["team-a", "team-b", "--top", "2"], "--top, --leaderboard: expected both or neither"),
        (["team-a"], "at least two"),
        (["team-a", "nobody"], "nobody: "),
    ],
)
def test_faults_of_an_ensemble(tmp_path, arguments, message):
    phase = refuge_phase(tmp_path / "phase", sealed=False)
    for name in "ab":
        refuge_submission(tmp_path / f"team-{name}")
    teams = [tmp_path / name if name[:4] in ("team", "nobo") else name for name in arguments]
    done = run("ensemble", *teams, "--ground-truth", phase, "--output", tmp_path / "e")
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "e").exists()
