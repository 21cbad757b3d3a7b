"""Folders and tables of results: what is read, and its faults."""

import csv
import json
import math
from decimal import Decimal

import numpy as np
import pytest

from evaluation.cli.main import main
from evaluation.core.fault import PhaseError
from evaluation.core.resampling import Resampling
from evaluation.core.scheme import Term
from evaluation.organiser.ranking.result_tables import (
    MetricDefinition,
    read_definitions,
    read_results_table,
)
from evaluation.organiser.ranking.results import read_results
from evaluation.phase.places import scheme_of
from test.faults import faulted
from test.organiser.ranking.teams import labels, ranked, refuge_columns, write_team


@pytest.fixture
def of_two(tmp_path):
    """Team a with four submissions, the second of them rejected, and team b with one."""
    rng = np.random.default_rng(1)
    columns = refuge_columns(labels(20, 8), rng, 1.0, 0.8)
    for name in ("1", "3", "10"):
        write_team(tmp_path / "a" / name, columns, with_cases=False)
    (tmp_path / "a" / "2").mkdir()
    (tmp_path / "a" / "2" / "rejected.txt").write_text("Submission rejected\n", encoding="utf-8")
    write_team(tmp_path / "b", columns, with_cases=False)
    return tmp_path


def test_all_submissions_are_listed_with_their_figures_and_one_counts(of_two, tmp_path):
    """JustRAIGS lists all submissions of phase 1 and ranks only the best."""
    assert main(["rank", str(of_two), "--output", str(tmp_path / "board"), "--resamples", "0"]) == 0
    with (tmp_path / "board" / "submissions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = [" ".join((row["team"], row["submission"], row["counts"])) for row in rows]
    assert found == ["a 1 no", "a 2 no", "a 3 no", "a 10 yes", "b  yes"]
    assert (rows[1]["classification.auc"], rows[1]["note"]) == ("", "Submission rejected")
    published = json.loads((of_two / "a" / "1" / "metrics.json").read_text("utf-8"))
    assert float(rows[0]["classification.auc"]) == published["aggregates"]["classification"]["auc"]["value"]


GLAUCOMA = labels(12, 4)


@pytest.fixture
def folder(tmp_path):
    for team, seed in (("a", 1), ("b", 2)):
        columns = refuge_columns(GLAUCOMA, np.random.default_rng(seed), 1.0, 0.8)
        write_team(tmp_path / team, columns, {"vendor": ["x"] * 12}, seed=11, resamples=50)
    return tmp_path


def test_what_was_written_is_read_back(folder):
    columns = refuge_columns(GLAUCOMA, np.random.default_rng(1), 1.0, 0.8)
    columns["classification"]["likelihood"][:2] = [-math.inf, math.inf]
    columns["classification"]["glaucoma"][5] = math.nan
    write_team(folder / "a", columns, {"vendor": ["x"] * 12}, seed=11, resamples=50)
    results = read_results(folder)
    tables = results.submissions[0].tables
    for task, of_task in columns.items():
        for name, values in of_task.items():
            np.testing.assert_array_equal(tables[task][name], values)
    assert results.cases.columns["vendor"] == ("x",) * 12
    assert results.resampling == Resampling(seed=11, resamples=50, interval_minimum=10)


def test_columns_are_divided_as_the_phase_divides_them(folder):
    ages = [str(30 + 5 * position) for position in range(12)]
    for team, seed in (("a", 1), ("b", 2)):
        columns = refuge_columns(GLAUCOMA, np.random.default_rng(seed), 1.0, 0.8)
        write_team(folder / team, columns, {"age": ages, "vendor": ["x"] * 12})
        age = {"column": "age", "bins": [40, 60.5], "compare": "positives"}
        edit(folder / team / "cases.json", lambda content, age=age: content.update(subgroups=[age]))
    cases = read_results(folder).cases
    assert cases.labels("age") == ("below 40",) * 2 + ("40 to 60.5",) * 5 + ("60.5 and above",) * 5
    assert cases.values("age") == ("below 40", "40 to 60.5", "60.5 and above")
    assert (cases.subgroup("age").compare, cases.subgroup("vendor").compare) == ("positives", "cases")
    assert cases.labels("vendor") == ("x",) * 12


def test_names_are_sorted_as_people_count(folder):
    for name in ("10", "9"):
        write_team(folder / name, refuge_columns(GLAUCOMA, np.random.default_rng(3), 1.0, 0.8))
    assert [submission.team for submission in read_results(folder).submissions] == ["9", "10", "a", "b"]


def test_a_declared_time_comes_before_the_run_times_of_the_platform(folder):
    def timed(content):
        for case, seconds in zip(content["cases"], (1.0, 2.0, 6.0), strict=False):
            case["run_seconds"] = seconds

    for team in "ab":
        edit(folder / team / "cases.json", timed)
    (folder / "teams.csv").write_text("team,seconds_per_case\nb,0.5\na,\n")
    found = {one.team: one.seconds for one in read_results(folder).submissions}
    assert found == {"a": 3.0, "b": 0.5}


def edit(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def boolean(content):
    content["aggregates"]["classification"]["auc"]["value"] = True


def other_options(content):
    content["phase"]["options"]["vertical_diameter"] = "extent"


def huge(content):
    content["cases"][0]["tasks"]["classification"]["x"] = {"shape": [1 << 40]}


OF_FOLDERS = {
    "another phase": ("b/metrics.json", lambda c: c["phase"].update(manifest="other"), ("'other'",)),
    "other options": ("b/metrics.json", other_options, ('"extent"',)),
    "no number": ("b/metrics.json", boolean, ("classification.auc", "True")),
    "not ours": ("b/metrics.json", "{}", ()),
    "null": ("b/metrics.json", "null", ("null",)),
    "nested": ("b/cases.json", '{"a":' * 100_000, ("line 1",)),
    "an array that is not empty by its shape": ("b/cases.json", huge, ("[1099511627776]",)),
    "cases of another phase": ("b/cases.json", lambda c: c.update(manifest="other"), ()),
    "other cases": ("b/cases.json", lambda c: c["cases"][0].update(name="X"), ()),
    "damaged cases": ("b/cases.json", lambda c: c["cases"][0].pop("tasks"), ()),
    "no folder": ("teams.csv", "team,eligible\nc,no\n", ("line 2, team", "'c'")),
    "no time": ("teams.csv", "team,seconds_per_case\nb,0\n", ("line 2, seconds_per_case", "0")),
    "a time in words": ("teams.csv", "team,seconds_per_case\na,fast\n", ("line 2, seconds_per_case",)),
    "an unclear answer": ("teams.csv", "team,eligible\na,perhaps\n", ("line 2, eligible", "'perhaps'")),
}


@pytest.mark.parametrize(("file", "change", "told"), OF_FOLDERS.values(), ids=OF_FOLDERS)
def test_faults_of_folders(folder, file, change, told):
    if isinstance(change, str):
        (folder / file).write_text(change)
    else:
        edit(folder / file, change)
    with faulted(PhaseError, file, *told):
        read_results(folder)


def test_results_that_do_not_share_labels_cannot_be_compared(folder):
    edit(folder / "b/cases.json", lambda c: c["cases"][0]["tasks"]["classification"].update(glaucoma=0.0))
    with faulted(PhaseError, "b: classification.auc", "a"):
        ranked(folder)


def test_nothing_to_rank(tmp_path):
    one = tmp_path / "one"
    for place in (tmp_path / "missing", tmp_path):
        with faulted(PhaseError, str(place)):
            read_results(place)
    one.mkdir()
    with faulted(PhaseError, str(tmp_path)):
        read_results(tmp_path)
    (one / "metrics.json").write_text("{}", encoding="utf-8")
    with faulted(PhaseError, str(one)):
        read_results(one)


DICE = MetricDefinition(better="higher")
DISTANCE = MetricDefinition(better="lower", worst=50, unit="px", title="Distance")
BOTH = {"dice": DICE, "distance": DISTANCE}

WIDE = """team,case,eligible,site,dice,distance
b,1,yes,x,0.5,2
b,2,yes,y,0.7,4
a,2,no,y,0.9,1
a,1,no,x,0.8,3
"""
LONG = "team,case,metric,value,eligible,site\n" + "".join(
    f"{team},{case},{metric},{value},{eligible},{site}\n"
    for team, case, eligible, site, *values in (line.split(",") for line in WIDE.splitlines()[1:])
    for metric, value in zip(("dice", "distance"), values, strict=True)
)
SEMICOLONS = WIDE.replace(",", ";").replace(".", ",")


def read_table(tmp_path, text, metrics=BOTH):
    path = tmp_path / "results.csv"
    path.write_bytes(text.encode("utf-8"))
    return read_results_table(path, metrics)


def problems(tmp_path, text, metrics=BOTH):
    with pytest.raises(PhaseError) as error:
        read_table(tmp_path, text, metrics)
    return [problem.replace(f"{tmp_path}/", "") for problem in error.value.problems]


@pytest.mark.parametrize(
    "text",
    [
        WIDE,
        LONG,
        SEMICOLONS,
        WIDE.replace("team,case", "TEAM,Case"),
        WIDE.replace("team", "Algorithm", 1),
        WIDE.replace("team", "method", 1),
        WIDE.replace("team", "name", 1),
        "\ufeff" + WIDE.replace("\n", "\r\n"),
    ],
)
def test_long_and_wide_are_the_same(tmp_path, text):
    results = read_table(tmp_path, text)
    first, second = results.submissions
    assert (first.team, second.team, results.ineligible) == ("a", "b", {"a"})
    assert first.values == pytest.approx({"results.dice": 0.85, "results.distance": 2.0})
    assert first.tables["results"].names == ("1", "2")
    assert first.tables["results"]["dice"].tolist() == [0.8, 0.9]
    assert second.tables["results"]["distance"].tolist() == [2, 4]
    assert results.cases.columns["site"] == ("x", "y")
    distance = results.figures["results.distance"]
    assert (distance.title, distance.unit, distance.better) == ("Distance", "px", "lower")
    assert (results.phase, results.resampling.resamples) == ("results", 1000)


def test_a_further_column_may_be_called_line(tmp_path):
    results = read_table(tmp_path, WIDE.replace("site", "line"))
    assert results.cases.columns["line"] == ("x", "y")


def test_aggregated_values_and_clusters(tmp_path):
    results = read_table(tmp_path, "team,dice,distance,remark\nb,0.5,,late\na,0.8,3,\n")
    assert [submission.tables for submission in results.submissions] == [None, None]
    # A missing aggregated value with a worst one takes it; without, the team lacks the metric.
    assert results.submissions[1].values == {"results.dice": 0.5, "results.distance": 50}
    without = read_table(tmp_path, "team,dice,distance\nb,,4\na,0.8,3\n")
    assert without.submissions[1].values == {"results.distance": 4}
    assert results.cases is None
    assert results.resampling is None
    results = read_table(tmp_path, WIDE.replace("site", "cluster"))
    assert results.resampling.clusters == {"1": "x", "2": "y"}


def test_missing_values(tmp_path):
    # Case 3 has no distance for anybody: undefined. Team b lacks one that a has: the worst. Team c has none.
    text = "team,case,dice,distance\n" + "a,1,0.9,1\na,2,0.8,2\na,3,0.7,\nb,1,0.6,4\nb,2,0.5,NA\nb,3,0.4,\n"
    results = read_table(tmp_path, text)
    np.testing.assert_array_equal(results.submissions[1].tables["results"]["distance"], [4, 50, np.nan])
    assert results.submissions[1].values["results.distance"] == 27
    assert results.notices == ("1 of 4 values of distance were missing and took the worst, 50: b 1",)
    (line,) = problems(tmp_path, text.replace("b,3,0.4,", "b,3,,").replace("a,1,0.9,", "a,1,,"))
    assert "2 of 6 values of dice are missing (a 1, b 1; the first of a in 1)" in line
    assert line.endswith("--metric dice=higher,worst=…")


def test_tasks_and_names_with_a_dot(tmp_path):
    rows = [f"{task},{team},{case},0.{case}" for task in ("ct", "mr") for team in "ab" for case in (1, 2)]
    text = "\n".join(["task,team,case,value", *rows, "mr,c,1,0.5", "mr,c,2,0.5", ""])
    results = read_table(tmp_path, text, {"value": DICE})
    assert [task.name for task in results.tasks] == ["ct", "mr"]
    assert list(results.submissions[2].tables) == ["mr"]
    assert results.figures["ct.value"].title == "ct: value"
    scheme = scheme_of(results.challenge, results.options)
    assert (scheme.overall, [board.name for board in scheme.boards]) == (None, ["ct", "mr"])
    metrics = {"disc.f1": MetricDefinition(better="higher", weight="0.4"), "dice": DICE}
    text = "team,disc.f1,disc.dice\na,0.9,0.8\nb,0.7,0.9\n"
    results = read_table(tmp_path, text, metrics)
    (board,) = scheme_of(results.challenge, results.options).boards
    assert (board.name, board.combination) == ("overall", "sum")
    assert board.terms == (Term(rank="disc.f1", weight=Decimal("0.4")), Term(rank="disc.dice"))


FAULTS = {
    "no team": ("case,dice,distance\n1,0.5,2\n", ("case, dice, distance",)),
    "no metric": ("team,case,auc,size\na,1,0.5,3\n", ("'dice'",)),
    "no number": (WIDE.replace("0.5", "high"), ("line 2: dice", "'high'")),
    "no finite number": (WIDE.replace("0.9", "inf"), ("line 4: dice",)),
    "twice": (WIDE.replace("b,2,yes,y", "b,1,yes,x"), ("line 3", "case")),
    "no column of cases": (WIDE.replace(",case", ",image"), ("line 3", "team")),
    "a metric in other letters": (WIDE.replace("dice", "DICE"), ("'dice'", "'DICE'")),
    "eligible": (WIDE.replace("no", "perhaps"), ("line 4, eligible", "'perhaps'")),
    "empty": (WIDE.replace("b,1", ",1"), ("line 2: team",)),
    "two columns of teams": (WIDE.replace("team,case", "name,method"), ("name, method",)),
    "undefined metric": (LONG.replace("distance", "time"), ("'time'",)),
    "nothing": ("", ("results.csv",)),
    "header alone": ("team,case,dice,distance\n", ("results.csv",)),
}


@pytest.mark.parametrize(("text", "told"), FAULTS.values(), ids=FAULTS)
def test_faults_of_tables(tmp_path, text, told):
    with faulted(PhaseError, "results.csv", *told):
        read_table(tmp_path, text)


def test_faults_of_all_columns_are_told_at_once(tmp_path):
    for faulty in ("perhaps", "no,,"):
        lines = problems(tmp_path, WIDE.replace("no", faulty).replace("b,1", ",1").replace("0.7", "high"))
        assert ["line 2" in lines[-2], "line 3" in lines[-1], len(lines)] == [True, True, 4]


def test_a_file_of_faults_is_summed_up(tmp_path):
    lines = "".join(f"a,{case},x,1\n" for case in range(100))
    found = problems(tmp_path, f"team,case,dice,distance\n{lines}")
    assert found[-1] == "results.csv: the same in 80 further lines"
    assert len(found) == 21


@pytest.mark.parametrize(
    ("metrics", "told"),
    [
        (["dice"], ("--metric dice",)),
        (["dice=higher,weight"], ("--metric dice=higher,weight",)),
        (["dice=up"], ("--metric dice", "better", "'up'")),
        (["dice=higher,weight=-1"], ("--metric dice", "weight")),
        (["dice=higher,colour=red"], ("--metric dice", "colour")),
    ],
)
def test_metrics_of_options(metrics, told):
    found = read_definitions(["dice=higher,weight=0.25,worst=0", "a=b=lower"])
    assert found["dice"] == MetricDefinition(better="higher", weight=Decimal("0.25"), worst=0)
    assert found["a=b"].better == "lower"
    with faulted(PhaseError, *told):
        read_definitions(metrics)
