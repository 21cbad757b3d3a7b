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


def test_an_ensemble(tmp_path):
    phase = refuge_phase(tmp_path / "phase")
    teams = [refuge_submission(tmp_path / f"team-{name}") for name in "bc"]
    places = ("--ground-truth", phase, "--output", tmp_path / "e", "--tasks", "segmentation")
    done = run("ensemble", *teams, *places)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 submissions, segmentation" in done.stdout
    assert [path.name for path in (tmp_path / "e").iterdir()] == ["segmentation"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
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
