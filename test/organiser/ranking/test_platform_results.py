"""Evaluations as grand-challenge.org exports them give the leaderboard of the folder that they come from."""

import copy
import csv
import json

import numpy as np
import pytest

from test.organiser.platform_pages import pages_of
from test.organiser.ranking.teams import labels, refuge_columns, write_team
from test.phases import refuge_phase
from test.started import run

PHASE = {"challenge": {"short_name": "refuge"}, "title": "On-site", "slug": "onsite"}
QUALITY = {"ana": (3, 0.9), "bob": (2, 0.85), "cy": (1, 0.8)}


def evaluation(
    number, team, metrics, *, submission=None, status="Succeeded", created="2026-03-01", key="socket"
):
    """Return a row as the serialiser of the platform writes it, see `gcapi.models.Evaluation`."""
    output = {key: {"slug": "metrics-json-file"}, "value": metrics, "file": None, "image": None, "pk": number}
    other = {key: {"slug": "log"}, "value": {"aggregates": {}}, "file": None, "image": None, "pk": -number}
    return {
        "pk": f"00000000-0000-4000-8000-{number:012d}",
        "method": "https://grand-challenge.org/api/v1/evaluations/methods/1/",
        "submission": {
            "pk": f"sub-{submission or number}",
            "phase": PHASE,
            "created": f"2026-02-{submission or number:02d}T12:00:00.123456+01:00",
            "creator": {"username": team},
            "comment": 'a, "quoted" comment',
            "predictions_file": f"https://grand-challenge.org/media/{number}.zip",
            "algorithm_image": None,
        },
        "created": f"{created}T12:00:00+01:00",
        "published": True,
        "outputs": [other, output] if status == "Succeeded" else [],
        "rank": number,
        "rank_score": 1.0,
        "rank_per_metric": {},
        "status": status,
        "title": "",
        "exec_duration": "PT1M",
        "invoke_duration": None,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results without values per case, which an export does not have either."""
    place = tmp_path_factory.mktemp("results")
    rng = np.random.default_rng(1)
    for team, (separation, dice) in QUALITY.items():
        write_team(place / team, refuge_columns(labels(40, 15), rng, separation, dice), with_cases=False)
    return place


def metrics_of(folder, team):
    return json.loads((folder / team / "metrics.json").read_text(encoding="utf-8"))


def rows_of(folder, **more):
    teams = enumerate(QUALITY, start=1)
    return [evaluation(number, team, metrics_of(folder, team), **more) for number, team in teams]


def leaderboard(*arguments):
    done = run("rank", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def places(board):
    (phase,) = board["phases"]
    teams = [{key: team[key] for key in team if not key.startswith("submission")} for team in phase["teams"]]
    return {team["team"]: team for team in teams}


def written(path, rows):
    """Write rows as a list, as pages, or as csv as the platform's renderer does."""
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            for row in rows:
                cells = {k: json.dumps(v) if isinstance(v, dict | list) else v for k, v in row.items()}
                table.writerow(cells)
        return path
    pages = pages_of(rows, 2, "evaluations/?submission__phase=1")
    path.write_text(json.dumps(pages if path.name == "pages.json" else rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def expected(folder):
    """Return the teams of the leaderboard that is made of the folder."""
    return places(leaderboard(folder)[0])


@pytest.mark.parametrize(
    ("name", "key"), [("list.json", "socket"), ("pages.json", "interface"), ("rows.csv", "socket")]
)
def test_the_leaderboard_is_that_of_the_folder(folder, expected, tmp_path, name, key):
    found, told = leaderboard(written(tmp_path / name, rows_of(folder, key=key)))
    assert places(found) == expected
    assert "evaluate --each" in told
    assert "predictions_file" in told


def test_the_newest_evaluation_that_succeeded_counts(folder, expected, tmp_path):
    older = evaluation(11, "ana", metrics_of(folder, "cy"), submission=1, created="2026-02-20")
    failed = evaluation(12, "ana", None, submission=1, created="2026-04-01", status="Failed")
    alone = evaluation(13, "dora", None, submission=4, status="Failed")
    found, told = leaderboard(written(tmp_path / "list.json", [failed, *rows_of(folder), older, alone]))
    assert {team: place for team, place in places(found).items() if team != "dora"} == expected
    assert "1 of 4 submissions have no evaluation that succeeded: dora (1)" in told


def test_best_or_last(folder, expected, tmp_path):
    worse = evaluation(9, "ana", metrics_of(folder, "cy"))  # later, and no better
    path = written(tmp_path / "list.json", [*rows_of(folder), worse])
    best, _ = leaderboard(path, "--which", "best")
    last, _ = leaderboard(path, "--which", "last")
    assert places(last) != places(best) == expected


def test_several_phases_in_one_file_or_in_several(folder, tmp_path):
    rows = rows_of(folder)
    others = copy.deepcopy(rows)
    for row in others:
        row["pk"] += "-offline"
        row["submission"]["phase"]["slug"] = "offline"
        row["submission"]["pk"] += "-offline"
    path = written(tmp_path / "list.json", [*rows, *others])
    done = run("rank", path)
    assert done.returncode == 1
    assert "expected evaluations of one phase, found offline, onsite" in done.stderr
    board, _ = leaderboard(f"onsite={path}", f"offline={path}")
    assert len(board["phases"]) == 2


def test_metrics_of_the_leaderboard_alone_need_the_phase(folder, expected, tmp_path):
    rows = rows_of(folder)
    for row in rows:
        row["outputs"][1]["value"] = {"aggregates": row["outputs"][1]["value"]["aggregates"]}
    path = written(tmp_path / "list.json", rows)
    done = run("rank", path)
    assert done.returncode == 1
    assert "--ground-truth" in done.stderr
    run("seal", refuge_phase(tmp_path / "phase"))
    found, _ = leaderboard(path, "--ground-truth", tmp_path / "phase")
    assert places(found) == expected


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda row: row.pop("status"), ("row 1", "status")),
        (lambda row: row["submission"].pop("creator"), ("row 1", "creator")),
        (lambda row: row["submission"]["creator"].update(username="../x"), ("creator.username", "../x")),
        (lambda row: row.update(created="yesterday"), ("row 1", "created")),
    ],
)
def test_faults_of_rows(folder, tmp_path, change, told):
    rows = rows_of(folder)
    change(rows[0])
    done = run("rank", written(tmp_path / "list.json", rows))
    assert done.returncode == 1
    assert all(text in done.stderr for text in told)


def test_a_first_page_is_not_taken_for_all_evaluations(folder, expected, tmp_path):
    for number, page in enumerate(pages_of(rows_of(folder), 2, "evaluations/?submission__phase=1")):
        (tmp_path / f"{number}.json").write_text(json.dumps(page), encoding="utf-8")
    done = run("rank", tmp_path / "0.json")
    assert done.returncode == 1
    assert "0.json: expected all 3 rows, found 2, without 3: give all pages together" in done.stderr
    assert "limit=1000" in done.stderr
    found, _ = leaderboard(tmp_path / "1.json", tmp_path / "0.json")
    assert places(found) == expected
    done = run("rank", tmp_path / "1.json", folder)
    assert "expected one folder or table, or pages of exported evaluations" in done.stderr


def test_what_is_not_published_has_no_place(folder, tmp_path):
    rows = rows_of(folder)
    rows[0]["published"] = False
    for name in ("list.json", "rows.csv"):
        path = written(tmp_path / name, rows)
        found, told = leaderboard(path)
        assert places(found).keys() == {"bob", "cy"}
        assert f"{name}: 1 evaluation is not published, and left out, as on the platform" in told


# --- The evaluations of any container, by dotted paths ---

AUC, DICE = "aggregates.t.auc.value", "score.dice"


def foreign(number, team, auc, dice, **more):
    """Return an evaluation of another container, which has no more than two numbers."""
    rank = more.pop("rank", 0)
    metrics = {"aggregates": {"t": {"auc": {"value": auc}}}, "score": {"dice": dice}}
    return evaluation(number, team, metrics, **more) | {"rank": rank}


@pytest.fixture
def of_any_container():
    return [
        foreign(1, "ana", 0.9, 0.5, rank=1),
        foreign(2, "bob", 0.8, 0.7, rank=2),
        foreign(3, "bob", 0.7, 0.9),
        foreign(4, "cy", 0.8, None, rank=2),
        foreign(5, "dora", None, None, status="Failed"),
        foreign(6, "eve", "0.99", 0.6),
        foreign(7, "fay", 0.99, 0.99) | {"published": False},
    ]


@pytest.mark.parametrize("name", ["list.json", "rows.csv"])
def test_places_of_any_container(of_any_container, tmp_path, name):
    path = written(tmp_path / name, of_any_container)
    found, told = leaderboard(path, "--metric", f"{AUC}=higher,title=AUC")
    board = places(found)
    overall = {team: row["boards"]["overall"].get("place") for team, row in board.items()}
    assert overall == {"ana": 1, "bob": 2, "cy": 2, "dora": None, "eve": None}
    assert board["dora"]["note"] == "on the platform: Failed"
    assert board["eve"]["note"] == f"no number at {AUC}"
    assert next(iter(found["phases"][0]["metrics"].values()))["title"] == "AUC"
    assert found["phases"][0]["phase"] == "On-site"
    assert "1 of 6 submissions have no evaluation that succeeded: dora (1)" in told
    assert f"1 of 5 evaluations that succeeded have no number at {AUC}: eve (1)" in told
    assert "not published, and left out" in told
    assert "the places are the platform's own" in found["notices"]
    assert any("no results per case" in notice for notice in found["notices"])


def test_several_figures_of_any_container(of_any_container, tmp_path):
    path = written(tmp_path / "list.json", of_any_container)
    metrics = ["--metric", f"{AUC}=higher", "--metric", f"{DICE}=higher,worst=0"]
    found, _ = leaderboard(path, *metrics)
    # Ranks of AUC and Dice, in which eve has one: ana 1 and 3, bob's first 2 and 1, cy 2 and 4.
    overall = {team: row["boards"]["overall"].get("place") for team, row in places(found).items()}
    assert overall == {"bob": 1, "ana": 2, "cy": 3, "dora": None, "eve": None}
    order = "ana 1 there, 2 here; cy 2 there, 3 here"
    assert any(f"bob 2 there, 1 here; {order}" in notice for notice in found["notices"])
    assert found["phases"][0]["robustness"]
    # As the platform does, without eve at all: ana 1 and 2, bob's last 3 and 1, cy 2 and 3.
    last, _ = leaderboard(path, *metrics, "--which", "last", "--scheme", "mean")
    overall = {team: row["boards"]["overall"].get("place") for team, row in places(last).items()}
    assert overall == {"ana": 1, "bob": 2, "cy": 3, "dora": None, "eve": None}
    assert places(last)["bob"]["metrics"][f"results.{AUC}"]["figure"]["value"] == 0.7


def test_each_phase_of_any_container(of_any_container, tmp_path):
    others = copy.deepcopy(of_any_container)
    for row in others:
        row["pk"] += "-offline"
        row["submission"]["phase"].update(slug="offline", title="Off-line")
        row["submission"]["pk"] += "-offline"
    path = written(tmp_path / "list.json", [*of_any_container, *others])
    found, _ = leaderboard(path, "--metric", f"{AUC}=higher")
    assert [phase["role"] for phase in found["phases"]] == ["offline", "onsite"]
    assert "onsite: the places are the platform's own" in found["notices"]


def test_a_path_that_no_evaluation_has(of_any_container, tmp_path):
    done = run("rank", written(tmp_path / "list.json", of_any_container), "--metric", "aggregates.auc=higher")
    assert done.returncode == 1
    assert "aggregates.auc: expected a number in an evaluation that succeeded, found none" in done.stderr
    assert f"numbers are at {AUC}, {DICE}" in done.stderr
    done = run("rank", tmp_path / "list.json")
    assert done.returncode == 1
    assert "--metric PATH=higher|lower" in done.stderr
