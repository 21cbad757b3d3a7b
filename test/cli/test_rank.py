"""`evaluate --each` and `rank` as processes."""

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from test.challenges.declared.phases import declared_phase, write_table
from test.cli.test_commands import SUBMISSION, phase  # noqa: F401
from test.organiser.ranking.teams import labels, refuge_columns, write_team
from test.started import run


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def each(phase, tmp_path_factory) -> Path:  # noqa: F811
    folder = tmp_path_factory.mktemp("each")
    for team in ("first", "second", "incomplete"):
        shutil.copytree(SUBMISSION, folder / "submissions" / team)
    table = folder / "submissions" / "second" / "classification_results.csv"
    lines = table.read_text(encoding="utf-8").splitlines()
    # Constant likelihoods: an AUC of one half.
    table.write_text(
        "\n".join([lines[0], *(f"{line.split(',')[0]},0.5" for line in lines[1:])]), encoding="utf-8"
    )
    (folder / "submissions" / "incomplete" / "classification_results.csv").unlink()
    places = ("--ground-truth", phase, "--output", folder / "results", "--workers", 0)
    assert run("evaluate", "--each", folder / "submissions", *places).returncode == 0
    return folder / "results"


def test_leaderboard_of_the_results(each, tmp_path):
    done = run("rank", each, "--output", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Submission rejected, 1 fault" in done.stdout
    board = json.loads((tmp_path / "leaderboard.json").read_text(encoding="ascii"))
    teams = {team["team"]: team for team in board["phases"][0]["teams"]}
    # AUC 1 and 2; the segmentations are the same: 0.4·1 + 0.6·1 and 0.4·2 + 0.6·1.
    assert teams["first"]["boards"]["overall"]["exact_score"] == "1"
    assert teams["second"]["boards"]["overall"]["exact_score"] == "1.4"
    assert teams["incomplete"]["boards"]["overall"] == {}
    assert board["notices"] == ["the final ranking combines the phases offline, onsite; this is one of them"]


def test_a_scheme_of_the_platform(each, phase, tmp_path):  # noqa: F811
    done = run("rank", each, "--scheme", "mean", "--ground-truth", phase, "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    scores = {row["team"]: row["overall score"] for row in rows_of(tmp_path / "leaderboard.csv")}
    # Four ranks: 1 1 1 1 and 2 1 1 1.
    assert scores == {"first": "1", "second": "1.25", "incomplete": ""}


def test_a_custom_scheme(each, tmp_path):
    (tmp_path / "scheme.toml").write_text(
        'overall = "fovea"\n[[boards]]\nname = "fovea"\nterms = [{ rank = "fovea.distance" }]\n',
        encoding="utf-8",
    )
    done = run("rank", each, "--scheme", tmp_path / "scheme.toml")
    assert done.returncode == 0, done.stderr
    assert "fovea" in done.stdout
    (tmp_path / "scheme.toml").write_text('boards = [{ name = "a", terms = [{ rank = "fovea.dice" }] }]')
    done = run("rank", each, "--scheme", tmp_path / "scheme.toml")
    assert done.returncode == 1
    assert "the scheme ranks fovea.dice, which is not a metric of refuge-onsite" in done.stderr


def test_two_phases_annotators_and_subgroups(tmp_path):
    glaucoma = labels(40, 15)
    rng = np.random.default_rng(3)
    for role in ("offline", "onsite"):
        for team, quality in {"a": 2.0, "b": 0.5}.items():
            write_team(
                tmp_path / role / team,
                refuge_columns(glaucoma, rng, quality, 0.6 + 0.1 * quality),
                {"glaucoma": [str(int(value)) for value in glaucoma]},
                phase=f"refuge-{role}",
            )
    annotators = "".join(f"C{case:04},{int(value)},0\n" for case, value in enumerate(glaucoma))
    (tmp_path / "annotators.csv").write_text(f"name,expert,nobody\n{annotators}", encoding="utf-8")
    roles = [f"{role}={tmp_path / role}" for role in ("offline", "onsite")]
    more = ("--annotators", tmp_path / "annotators.csv", "--subgroup", "glaucoma")
    done = run("rank", *roles, *more, "--output", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert "annotator expert: sensitivity 100.00 %, specificity 100.00 %, accuracy 100.00 %" in done.stdout
    assert "agree on 25 of 40" in done.stdout
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written >= {"leaderboard.csv", "robustness.csv", "generalisation.csv"}
    for role in ("offline", "onsite"):
        tables = ("annotator-points", "difficulty", "leaderboard", "readers", "subgroups")
        assert written >= {f"{name}-{role}.csv" for name in tables} | {f"organiser-{role}.json"}
    assert "consensus of offline, onsite by the mean place: 1 " in done.stdout
    board = json.loads((tmp_path / "out" / "leaderboard.json").read_text(encoding="ascii"))
    rows = rows_of(tmp_path / "out" / "comparisons.csv")
    assert [float(row["p_holm"]) for row in rows] == [
        pair["p_holm"]
        for part in board["phases"]
        for metric in part["metrics"].values()
        for pair in metric.get("comparisons", {"pairs": []})["pairs"]
    ]
    assert {row["phase"] for row in rows} == {"offline", "onsite"}
    tests = rows_of(tmp_path / "out" / "subgroup-tests.csv")
    assert [float(row["p_value"]) for row in tests] == [
        test["p_value"] for part in board["phases"] for test in part["subgroup_tests"]
    ]
    final = (tmp_path / "out" / "leaderboard.csv").read_text(encoding="utf-8").splitlines()
    assert final[1].startswith("1,a,1,1,1")


ANNOTATORS = ("--annotators", "readings.csv")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nowhere"], "nowhere: is not a folder"),
        (["a=nowhere", "b"], "b: expected PHASE=FOLDER or PHASE=FILE"),
        (["{each}", "--scheme", "nowhere.toml"], "nowhere.toml"),
        (["{each}", "--subgroup", "vendor"], "vendor: no column of the case table"),
        (["offline={each}", "onsight={each}"], "combines the phases offline, onsite"),
        (["{each}", *ANNOTATORS, *ANNOTATORS], "expected one table of readings, found 2"),
    ],
)
def test_faults(each, arguments, problem):
    done = run("rank", *(argument.format(each=each) for argument in arguments))
    assert done.returncode == 1
    assert problem in done.stderr
    assert "Traceback" not in done.stderr


AGES = """\
[fields.age]
kind = "number"
minimum = 0
maximum = 120

[tasks.age]
metrics = ["mean_absolute_error"]

[ranking]
metrics = ["age.mean_absolute_error"]
"""


@pytest.mark.parametrize(
    ("keys", "places", "published"),
    [("", [1, 2, 3], [1.0, 1.0, 1.0]), ("value_digits = 5\n", [1, 2, 2], [1.0, 1.00001, 1.00001])],
)
def test_places_follow_from_all_digits_or_from_those_that_the_phase_states(keys, places, published, tmp_path):
    ages = [20 + case for case in range(12)]
    names = [f"case{case:02d}" for case in range(12)]
    ages_phase = declared_phase(tmp_path / "phase", AGES, {"name": names, "age": ages}, keys=keys)
    assert run("seal", ages_phase).returncode == 0
    for team, error in {"near": 1.0, "middle": 1.000006, "far": 1.000009}.items():
        write_table(
            tmp_path / "teams" / team / "predictions.csv",
            {"case": names, "age": [age + error for age in ages]},
        )
    results = tmp_path / "results"
    where = ("--ground-truth", ages_phase, "--output", results, "--workers", 0)
    assert run("evaluate", "--each", tmp_path / "teams", *where).returncode == 0
    for team, value in zip(("near", "middle", "far"), published, strict=True):
        content = json.loads((results / team / "metrics.json").read_text(encoding="ascii"))
        assert content["aggregates"]["age"]["mean_absolute_error"]["value"] == value
    done = run("rank", results, "--output", tmp_path / "board")
    assert done.returncode == 0
    board = {row["team"]: row for row in rows_of(tmp_path / "board" / "leaderboard.csv")}
    shown = [board[team] for team in ("near", "middle", "far")]
    assert [int(row["overall place"]) for row in shown] == places
    assert [float(row["age.mean_absolute_error"]) for row in shown] == published
    assert ("the digits of metrics.json give other places" in done.stdout) == (not keys)
