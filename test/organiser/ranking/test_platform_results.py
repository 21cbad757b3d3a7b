"""Evaluations as grand-challenge.org exports them give the leaderboard of the folder that they come from."""

import copy
import csv
import json

import numpy as np
import pytest

from evaluation.cli.main import main
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
    return [
        evaluation(number, team, metrics_of(folder, team), **more)
        for number, team in enumerate(QUALITY, start=1)
    ]


def leaderboard(*arguments):
    done = run("rank", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def places(board):
    (phase,) = board["phases"]
    return {
        team["team"]: {key: team[key] for key in team if not key.startswith("submission")}
        for team in phase["teams"]
    }


def written(path, rows):
    """Write rows as a list, as pages, or as csv as the platform's renderer does."""
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            for row in rows:
                table.writerow(
                    {
                        name: json.dumps(cell) if isinstance(cell, dict | list) else cell
                        for name, cell in row.items()
                    }
                )
        return path
    pages = [
        {"count": len(rows), "next": None, "previous": None, "results": rows[at : at + 2]} for at in (0, 2)
    ]
    content = {"list.json": rows, "page.json": {**pages[0], "results": rows}, "pages.json": pages}
    path.write_text(json.dumps(content[path.name]), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["list.json", "page.json", "pages.json", "rows.csv"])
@pytest.mark.parametrize("key", ["socket", "interface"])
def test_the_leaderboard_is_that_of_the_folder(folder, tmp_path, name, key):
    expected, _ = leaderboard(folder)
    found, told = leaderboard(written(tmp_path / name, rows_of(folder, key=key)))
    assert places(found) == places(expected)
    assert "evaluate --each" in told
    assert "predictions_file" in told


def test_the_newest_evaluation_that_succeeded_counts(folder, tmp_path):
    rows = rows_of(folder)
    worse = metrics_of(folder, "cy")
    older = evaluation(11, "ana", worse, submission=1, created="2026-02-20")
    failed = evaluation(12, "ana", None, submission=1, created="2026-04-01", status="Failed")
    alone = evaluation(13, "dora", None, submission=4, status="Failed")
    found, told = leaderboard(written(tmp_path / "list.json", [failed, *rows, older, alone]))
    expected, _ = leaderboard(written(tmp_path / "page.json", [*rows, alone]))
    assert places(found) == places(expected)
    assert "1 of 4 submissions have no evaluation that succeeded: dora (1)" in told


def test_best_or_last_and_a_deadline(folder, tmp_path):
    worse = evaluation(9, "ana", metrics_of(folder, "cy"))  # later, and no better
    path = written(tmp_path / "list.json", [*rows_of(folder), worse])
    alone, _ = leaderboard(written(tmp_path / "page.json", rows_of(folder)))
    best, _ = leaderboard(path, "--which", "best")
    last, _ = leaderboard(path, "--which", "last")
    in_time, _ = leaderboard(path, "--which", "last", "--deadline", "2026-02-05T00:00:00Z")
    assert places(last) != places(best) == places(alone)
    assert json.dumps(in_time).count("after the deadline left out") == 1


def test_several_phases_in_one_file_or_in_several(folder, tmp_path):
    rows = rows_of(folder)
    others = copy.deepcopy(rows)
    for row in others:
        row["submission"]["phase"]["slug"] = "offline"
        row["submission"]["pk"] += "-offline"
    path = written(tmp_path / "list.json", [*rows, *others])
    done = run("rank", path)
    assert done.returncode == 1
    assert "expected evaluations of one phase, found offline, onsite" in done.stderr
    board, _ = leaderboard(f"onsite={path}", f"offline={path}")
    assert len(board["phases"]) == 2


def two_phases(folder):
    """Return the rows of two phases: in the first, teams were evaluated 1, 2 and 3 times, and were better."""
    rows, number = {"offline": [], "onsite": []}, 0
    for count, team in enumerate(QUALITY, start=1):
        for attempt in range(1, count + 1):
            number += 1
            metrics = copy.deepcopy(metrics_of(folder, team))
            metrics["phase"].update(name="offline", manifest="another")
            dice = metrics["aggregates"]["segmentation"]["dice_cup"]
            dice["value"] = round(dice["value"] + 0.01 * attempt, 12)
            rows["offline"].append(evaluation(number, team, metrics))
        rows["onsite"].append(evaluation(20 + count, team, metrics_of(folder, team)))
    for slug, of_phase in rows.items():
        for row in of_phase:
            row["submission"]["phase"] = {**PHASE, "slug": slug}
    return rows


@pytest.mark.parametrize("together", [False, True])
def test_gaps_and_changes_between_phases_are_those_of_the_exports(folder, tmp_path, together):
    rows = two_phases(folder)
    if together:
        file = written(tmp_path / "list.json", [*rows["onsite"], *rows["offline"]])
        paths = {"offline": file, "onsite": file}
    else:
        paths = {role: written(tmp_path / f"{role}.csv", of) for role, of in rows.items()}
    output = tmp_path / "leaderboard"
    done = run("rank", *(f"{role}={path}" for role, path in paths.items()), "--output", output)
    assert done.returncode == 0, done.stderr

    def table(name):
        with (output / name).open(encoding="utf-8", newline="") as file:
            return [row for row in csv.DictReader(file) if row["metric"].endswith("dice_cup")]

    gaps = {
        (row["team"], int(row["evaluations"])): float(row["gap"]) for row in table("development-gaps.csv")
    }
    assert gaps == pytest.approx({("ana", 1): 0.01, ("bob", 2): 0.02, ("cy", 3): 0.03})
    (trend,) = table("gap-trends.csv")
    assert (trend["team"], int(trend["points"]), float(trend["correlation"])) == ("", 3, 1)
    changes = {row["team"]: float(row["change"]) for row in table("generalisation.csv")}
    assert changes == pytest.approx({"ana": -0.01, "bob": -0.02, "cy": -0.03})


def test_metrics_of_the_leaderboard_alone_need_the_phase(folder, tmp_path):
    refuge_phase(tmp_path / "phase")
    rows = rows_of(folder)
    for row in rows:
        aggregates = row["outputs"][1]["value"]["aggregates"]
        row["outputs"][1]["value"] = {"aggregates": aggregates}
    path = written(tmp_path / "list.json", rows)
    done = run("rank", path)
    assert done.returncode == 1
    assert "name the phase with --ground-truth" in done.stderr
    run("seal", tmp_path / "phase")
    found, _ = leaderboard(path, "--ground-truth", tmp_path / "phase")
    expected, _ = leaderboard(folder)
    assert places(found) == places(expected)


def test_a_report_of_the_evaluations(folder, tmp_path):
    path = written(tmp_path / "list.json", rows_of(folder))
    done = run("report", "leaderboard", path, "--output", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    assert "ana" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda row: row.pop("status"), "row 1: expected submission, outputs, status, created; no status"),
        (lambda row: row["submission"].pop("creator"), "row 1: expected a submission with pk, created and"),
        (
            lambda row: row["submission"]["creator"].update(username="../x"),
            "creator.username: expected a name",
        ),
        (lambda row: row.update(created="yesterday"), "row 1: expected a submission with"),
    ],
)
def test_faults_of_rows(folder, tmp_path, change, expected):
    rows = rows_of(folder)
    change(rows[0])
    done = run("rank", written(tmp_path / "list.json", rows))
    assert done.returncode == 1
    assert expected in done.stderr


def test_the_result_of_one_submission_is_no_export(folder, capsys):
    (file, *_) = sorted(folder.glob("*/metrics.json"))
    assert main(["rank", str(file)]) == 1
    assert f"{file}: is the result of one submission (expected FOLDER, with" in capsys.readouterr().err
