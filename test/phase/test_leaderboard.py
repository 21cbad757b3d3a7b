import shutil
from pathlib import Path

import pytest

from evaluation.core.fault import PhaseError
from evaluation.phase.leaderboard import TeamValues, read_leaderboard
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from test.faults import faulted
from test.repository import REPOSITORY

METRICS = ("t.a", "t.b")


@pytest.fixture
def leaderboard(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "leaderboard.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_rows_with_gaps_remarks_and_ineligible_teams(leaderboard):
    path = leaderboard("team,t.a,remark,eligible,t.b\nA,0.5,x.y,,2\nB,,,No,-1e-3\n\n")
    assert read_leaderboard(path, METRICS) == (
        TeamValues("A", {"t.a": 0.5, "t.b": 2.0}),
        TeamValues("B", {"t.b": -0.001}, eligible=False),
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "team,t.c\nA,1\n",
            "leaderboard.csv: column 't.c' is not a metric of this phase; known are t.a, t.b",
        ),
        ("name,t.a\nA,1\n", "leaderboard.csv: expected the column 'team' and one for each metric"),
        ("team\nA\n", "leaderboard.csv: expected the column 'team' and one for each metric"),
        ("team,t.a,t.a\nA,1,1\n", "leaderboard.csv: duplicate column 't.a'"),
        ("team,t.a\nA,1,2\n", "leaderboard.csv, line 2: expected 2 cells, found 3"),
        ("team,t.a\nA,n/a\n", 'leaderboard.csv, line 2, t.a: expected a finite number, found "n/a"'),
        ("team,t.a\nA,1\nA,2\n", "leaderboard.csv: duplicate team 'A' (2 rows)"),
        ("team,t.a\n,1\n", "leaderboard.csv, line 2: expected the name of a team, found nothing"),
        ("team,t.a,eligible\nA,1,maybe\n", "line 2, eligible: expected yes or no, found 'maybe'"),
    ],
)
def test_faults(leaderboard, text, problem):
    with pytest.raises(PhaseError) as error:
        read_leaderboard(leaderboard(text), METRICS)
    assert any(problem in found for found in error.value.problems), error.value.problems


@pytest.fixture
def sealed(tmp_path):
    folder = tmp_path / "phase"
    shutil.copytree(REPOSITORY / "ground-truth/refuge-onsite", folder)
    seal(folder, scan(folder))
    return folder


def test_an_altered_leaderboard_is_refused(sealed):
    path = sealed / "leaderboard.csv"
    path.write_bytes(path.read_bytes().replace(b"0.9885", b"0.9886"))
    with faulted(PhaseError, "leaderboard.csv"):
        load_phase(sealed)


def test_faults_of_a_leaderboard_are_faults_of_the_phase(sealed):
    (sealed / "leaderboard.csv").write_text("team,classification.auk\nA,1\n", encoding="utf-8")
    with faulted(PhaseError, "leaderboard.csv", "classification.auk"):
        load_phase(sealed, scan(sealed))
