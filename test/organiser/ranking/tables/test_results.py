"""Any table of results, long and wide, and its definition, to the results that are ranked."""

import inspect
from decimal import Decimal

import numpy as np
import pytest

from evaluation.core.scheme import Board, Rank
from evaluation.organiser.ranking.result_tables import (
    MetricDefinition,
    TableDefinition,
    read_definition,
    read_results_table,
)
from evaluation.organiser.ranking.results import RankingError
from evaluation.phase.places import scheme_of
from test.faults import faulted

DICE = MetricDefinition(better="higher")
DISTANCE = MetricDefinition(better="lower", worst=50, unit="px", title="Distance")
BOTH = TableDefinition(metrics={"dice": DICE, "distance": DISTANCE})

WIDE = """team,case,eligible,site,dice,distance
b,1,yes,x,0.5,2
b,2,yes,y,0.7,4
a,2,no,y,0.9,1
a,1,no,x,0.8,3
"""
LONG = """team,case,metric,value,eligible,site
b,1,dice,0.5,yes,x
b,1,distance,2,yes,x
b,2,dice,0.7,yes,y
b,2,distance,4,yes,y
a,1,dice,0.8,no,x
a,1,distance,3,no,x
a,2,dice,0.9,no,y
a,2,distance,1,no,y
"""
SEMICOLONS = WIDE.replace(",", ";").replace(".", ",")


def read(tmp_path, text, definition=BOTH):
    path = tmp_path / "results.csv"
    path.write_bytes(text.encode("utf-8"))
    return read_results_table(path, definition)


def problems(tmp_path, text, definition=BOTH):
    with pytest.raises(RankingError) as error:
        read(tmp_path, text, definition)
    return "\n".join(problem.replace(f"{tmp_path}/", "") for problem in error.value.problems)


@pytest.mark.parametrize(
    "text",
    [
        WIDE,
        LONG,
        SEMICOLONS,
        WIDE.replace("team", "Algorithm"),
        WIDE.replace("team,case", "TEAM,Case"),
        "\ufeff" + WIDE.replace("\n", "\r\n"),
    ],
)
def test_long_and_wide_are_the_same(tmp_path, text):
    results = read(tmp_path, text)
    first, second = results.submissions
    assert (first.team, second.team, results.ineligible) == ("a", "b", {"a"})
    assert first.values == pytest.approx({"results.dice": 0.85, "results.distance": 2.0})
    assert first.tables["results"].names == ("1", "2")
    assert first.tables["results"]["dice"].tolist() == [0.8, 0.9]
    assert second.tables["results"]["distance"].tolist() == [2, 4]
    assert results.cases.columns["site"] == ("x", "y")
    assert results.figures["results.distance"].title == "Distance"
    assert results.figures["results.distance"].unit == "px"
    assert results.figures["results.distance"].better == "lower"
    assert (results.phase, results.resampling.resamples) == ("results", 1000)


def test_aggregated_values_and_clusters(tmp_path):
    results = read(tmp_path, "team,dice,distance,remark\nb,0.5,,late\na,0.8,3,\n")
    assert [submission.tables for submission in results.submissions] == [None, None]
    # A missing aggregated value with a worst one takes it; without, the team lacks the metric.
    assert results.submissions[1].values == {"results.dice": 0.5, "results.distance": 50}
    without = read(tmp_path, "team,dice,distance\nb,,4\na,0.8,3\n")
    assert without.submissions[1].values == {"results.distance": 4}
    assert results.cases is None
    assert results.resampling is None
    results = read(tmp_path, WIDE.replace("site", "cluster"))
    assert results.resampling.clusters == {"1": "x", "2": "y"}


def test_variants(tmp_path):
    results = read(tmp_path, "team,variant_of,dice,distance\na,,0.8,3\nb,a,0.5,4\nc,,0.1,9\n")
    assert (results.variants, results.ineligible) == ({"b": "a"}, {"b"})
    found = problems(
        tmp_path, "team,case,variant_of,dice,distance\na,1,b,1,1\na,2,c,1,1\nb,1,,1,1\nb,2,,1,1\n"
    )
    assert "results.csv: variant_of: 'a' is a variant of several teams: b, c" in found


def test_missing_values(tmp_path):
    # Case 3 has no distance for anybody: undefined. Team b lacks one that a has: the worst. Team c has none.
    text = "team,case,dice,distance\n" + "a,1,0.9,1\na,2,0.8,2\na,3,0.7,\nb,1,0.6,4\nb,2,0.5,NA\nb,3,0.4,\n"
    results = read(tmp_path, text)
    np.testing.assert_array_equal(results.submissions[1].tables["results"]["distance"], [4, 50, np.nan])
    assert results.submissions[1].values["results.distance"] == 27
    assert results.notices == ("1 of 4 values of distance were missing and took the worst, 50: b 1",)
    (line,) = problems(tmp_path, text.replace("b,3,0.4,", "b,3,,").replace("a,1,0.9,", "a,1,,")).splitlines()
    assert "2 of 6 values of dice are missing (a 1, b 1; the first of a in 1)" in line
    assert line.endswith("--metric dice=higher,worst=…")


def test_tasks_and_names_with_a_dot(tmp_path):
    text = "task,team,case,value\n" + "".join(
        f"{task},{team},{case},0.{case}\n" for task in ("ct", "mr") for team in "ab" for case in (1, 2)
    )
    definition = TableDefinition(metrics={"value": DICE})
    results = read(tmp_path, text + "mr,c,1,0.5\nmr,c,2,0.5\n", definition)
    assert [task.name for task in results.tasks] == ["ct", "mr"]
    assert list(results.submissions[2].tables) == ["mr"]
    assert results.figures["ct.value"].title == "ct: value"
    scheme = scheme_of(results.challenge, results.options)
    assert (scheme.overall, [board.name for board in scheme.boards]) == (None, ["ct", "mr"])
    definition = TableDefinition(
        metrics={"disc.f1": MetricDefinition(better="higher", weight="0.4"), "dice": DICE}
    )
    results = read(tmp_path, "team,disc.f1,disc.dice\na,0.9,0.8\nb,0.7,0.9\n", definition)
    scheme = scheme_of(results.challenge, results.options)
    terms = (Rank("disc.f1", definition.metrics["disc.f1"].weight), Rank("disc.dice"))
    assert [(board.name, board.combination) for board in scheme.boards] == [("overall", "sum")]
    assert str(scheme.boards[0].terms[0].weight) == "2/5"
    assert [term.metric for term in scheme.boards[0].terms] == [term.metric for term in terms]
    assert isinstance(scheme.boards[0], Board)


FAULTS = {
    "no team": ("case,dice,distance\n1,0.5,2\n", ("case, dice, distance",)),
    "no metric": ("team,case,auc,size\na,1,0.5,3\n", ("'dice'",)),
    "no number": (WIDE.replace("0.5", "high"), ("line 2: dice", "'high'")),
    "no finite number": (WIDE.replace("0.9", "inf"), ("line 4: dice",)),
    "twice": (WIDE.replace("b,2,yes,y", "b,1,yes,x"), ("line 3", "case")),
    "no column of cases": (WIDE.replace(",case", ",image"), ("line 3", "team")),
    "a metric in other letters": (WIDE.replace("dice", "DICE"), ("'dice'", "'DICE'")),
    "eligible": (WIDE.replace("no", "perhaps"), ("line 4: eligible", "'perhaps'")),
    "empty": (WIDE.replace("b,1", ",1"), ("line 2: team",)),
    "undefined metric": (LONG.replace("distance", "time"), ("'time'",)),
    "nothing": ("", ("results.csv",)),
    "header alone": ("team,case,dice,distance\n", ("results.csv",)),
}


@pytest.mark.parametrize(("text", "told"), FAULTS.values(), ids=FAULTS)
def test_faults(tmp_path, text, told):
    with faulted(RankingError, "results.csv", *told):
        read(tmp_path, text)


def test_a_file_of_faults_is_summed_up(tmp_path):
    lines = "".join(f"a,{case},x,1\n" for case in range(100))
    found = problems(tmp_path, f"team,case,dice,distance\n{lines}").splitlines()
    assert found[-1] == "results.csv: the same in 80 further lines"
    assert len(found) == 21


def test_the_documented_example(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(inspect.cleandoc(TableDefinition.__doc__).partition("\n\n")[2], encoding="utf-8")
    found = read_definition(path, [])
    assert found.title == "ADAM, disc segmentation"
    assert found.metrics["f1"].weight == Decimal("0.6")
    assert found.metrics["distance"] == MetricDefinition(
        better="lower", title="Distance to the fovea", unit="px", worst=500
    )


def test_options_take_precedence(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text('seed = 7\n[metrics.dice]\nbetter = "lower"\n', encoding="utf-8")
    found = read_definition(path, ["dice=higher,weight=0.25,worst=0", "a=b=lower"])
    assert found.seed == 7
    assert found.metrics["dice"] == MetricDefinition(better="higher", weight=Decimal("0.25"), worst=0)
    assert found.metrics["a=b"].better == "lower"


@pytest.mark.parametrize(
    ("metrics", "told"),
    [
        (["dice"], ("--metric dice",)),
        (["dice=higher,weight"], ("--metric dice=higher,weight",)),
        (["dice=up"], ("metrics.dice.better", "'up'")),
        (["dice=higher,weight=-1"], ("metrics.dice.weight",)),
        (["dice=higher,colour=red"], ("metrics.dice.colour",)),
    ],
)
def test_faults_of_options(metrics, told):
    with faulted(RankingError, *told):
        read_definition(None, metrics)


@pytest.mark.parametrize("content", ["x = 1", "metrics = 3", "[metrics.dice]\nweight = 1", "x ="])
def test_faults_of_a_file(tmp_path, content):
    path = tmp_path / "table.toml"
    path.write_text(content, encoding="utf-8")
    with faulted(RankingError, "table.toml"):
        read_definition(path, [])
    with faulted(RankingError, "absent.toml"):
        read_definition(tmp_path / "absent.toml", [])
