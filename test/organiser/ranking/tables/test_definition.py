"""The definition of a table from a TOML file and from options."""

import inspect
from decimal import Decimal

import pytest

from evaluation.organiser.ranking.result_tables import MetricDefinition, TableDefinition, read_definition
from evaluation.organiser.ranking.results import RankingError
from test.faults import faulted


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
    ("metrics", "problem"),
    [
        (["dice"], "--metric dice: expected NAME=higher or NAME=lower"),
        (["dice=higher,weight"], "--metric dice=higher,weight: expected NAME=higher"),
        (["dice=up"], "--metric: metrics.dice.better: input should be 'higher' or 'lower' (got 'up')"),
        (["dice=higher,weight=-1"], "metrics.dice.weight: input should be greater than or equal to 0"),
        (["dice=higher,colour=red"], "--metric: unknown key metrics.dice.colour"),
    ],
)
def test_faults_of_options(metrics, problem):
    with pytest.raises(RankingError) as error:
        read_definition(None, metrics)
    assert problem in str(error.value)


@pytest.mark.parametrize("content", ["x = 1", "metrics = 3", "[metrics.dice]\nweight = 1", "x ="])
def test_faults_of_a_file(tmp_path, content):
    path = tmp_path / "table.toml"
    path.write_text(content, encoding="utf-8")
    with faulted(RankingError, "table.toml"):
        read_definition(path, [])
    with faulted(RankingError, "absent.toml"):
        read_definition(tmp_path / "absent.toml", [])
