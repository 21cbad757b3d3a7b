"""Annotators beside teams, with the values of ADAM's Tables 5, 7 and 14."""

import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.ranking.annotator_scores import beside_teams, read_annotator_scores
from evaluation.organiser.ranking.leaderboard_file import MetricOfTeam, Team
from test.organiser.ranking.test_published import read

BETTER = {"disc.dice": "higher", "disc.f1": "higher", "fovea.distance": "lower"}


def team(name, **metrics):
    values = {key.replace("__", "."): MetricOfTeam(float(value)) for key, value in metrics.items()}
    return Team(name, True, name, 1, values, {})


@pytest.fixture
def annotators(tmp_path):
    path = tmp_path / "annotators.csv"
    columns = {"disc.dice": "disc_dice", "disc.f1": "disc_f1", "fovea.distance": "fovea_distance"}
    lines = [",".join(["annotator", *columns])]
    lines += [
        ",".join([row["grader"], *(row[column] for column in columns.values())])
        for row in read("adam_table14_graders.csv")
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return read_annotator_scores(path, BETTER)


def test_what_the_paper_says_of_the_fovea(annotators):
    rows = read("adam_table7_fovea.csv")
    teams = [team(row["team"], fovea__distance=row["euclidean_distance"]) for row in rows]
    found = {
        row.name: row
        for row in beside_teams(teams, {row["team"] for row in rows}, annotators, BETTER)
        if row.metric == "fovea.distance"
    }
    # Section 4.4: two teams are better than user3, and the top six better than user5.
    assert (found["user3"].teams_better, found["user3"].rank, found["user3"].value) == (2, 3, 21.1393)
    assert (found["user5"].teams_better, found["user5"].teams_worse) == (6, 4)
    assert list(found)[:4] == ["VUNO EYE TEAM", "ForbiddenFruit", "user3", "Voxelcloud"]
    assert {row.kind for row in found.values()} == {"team", "annotator"}


def test_what_the_paper_says_of_the_disc(annotators):
    rows = read("adam_table5_disc.csv")
    teams = [team(row["team"], disc__dice=row["dice"]) for row in rows]
    found = {
        row.name: row
        for row in beside_teams(teams, {row["team"] for row in rows}, annotators, BETTER)
        if row.metric == "disc.dice"
    }
    # All teams are better than user3; XxlzT, Airamatrix and, which the text forgets, WWW than user7.
    assert found["user3"].teams_better == 9
    assert found["user7"].teams_better == 3
    assert found["XxlzT"].rank == 1
    assert (found["XxlzT"].teams_better, found["XxlzT"].teams_worse) == (0, 8)


def test_ties_and_teams_that_are_not_ranked():
    teams = [team("a", disc__dice=0.9), team("b", disc__dice=0.8), team("x", disc__dice=0.9)]
    rows = beside_teams(teams, {"a", "b"}, {"user": {"disc.dice": 0.8}}, BETTER)
    assert [
        (row.name, row.kind, row.rank, row.teams_better, row.teams_equal, row.teams_worse) for row in rows
    ] == [
        ("a", "team", 1, 0, 0, 1),
        ("x", "unranked team", 1, 0, 1, 1),
        ("b", "team", 2, 1, 0, 0),
        ("user", "annotator", 2, 1, 1, 0),
    ]


def test_only_metrics_of_annotators_are_listed():
    rows = beside_teams([team("a", disc__dice=0.9, disc__f1=1)], {"a"}, {"user": {"disc.f1": 0.5}}, BETTER)
    assert {row.metric for row in rows} == {"disc.f1"}
    assert beside_teams([team("a", disc__dice=0.9)], {"a"}, {}, BETTER) == ()


def test_the_table_that_fuse_writes(tmp_path):
    path = tmp_path / "annotators.csv"
    path.write_text("annotator,task,metric,cases,value\nuser1,disc,dice,3,0.5\nuser1,fovea,distance,2,\n")
    assert read_annotator_scores(path, BETTER) == {"user1": {"disc.dice": 0.5}}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("annotator,dice\nuser1,0.5\n", "expected the columns 'task', 'metric' and 'value', or one for each"),
        ("annotator,disc.volume\nuser1,0.5\n", "line 2, metric: expected one of disc.dice, disc.f1"),
        ("annotator,disc.dice\nuser1,0.5\nuser1,0.6\n", "disc.dice of 'user1' is also in an earlier row"),
        (
            "annotator,disc.dice\n,0.5\n",
            "line 2, annotator: expected the name of an annotator, found nothing",
        ),
        ("annotator,disc.dice\nuser1,much\n", "line 2, disc.dice: "),
        ("annotator,disc.dice\n", "expected at least one annotator, found none"),
    ],
)
def test_faults(tmp_path, text, problem):
    path = tmp_path / "annotators.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PhaseError) as error:
        read_annotator_scores(path, BETTER)
    assert problem in str(error.value)
