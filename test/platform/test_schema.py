"""The published JSON schema, the types and a real metrics.json hold together."""

import copy
import json
from dataclasses import asdict

import pytest
from jsonschema import Draft202012Validator

from evaluation.core.aggregation import ConfidenceInterval, Estimate
from evaluation.evaluate import evaluate
from evaluation.platform.result_file import metrics_schema, render
from test.phases import loaded_phase, refuge_submission
from test.repository import REPOSITORY

PUBLISHED = REPOSITORY / "schemas" / "metrics.schema.json"


@pytest.fixture(scope="module")
def metrics(tmp_path_factory):
    """A real metrics.json with every section."""
    folder = tmp_path_factory.mktemp("schema")
    phase = loaded_phase(
        folder / "phase",
        24,
        keys={"publish_cases": True, "public_detail": "full", "subgroup_minimum": 1},
        tables="[[subgroups]]\ncolumn = 'glaucoma'",
    )
    result = evaluate(phase, refuge_submission(folder / "submission", 24), workers=0)
    return json.loads(render(asdict(result.metrics)))


@pytest.fixture(scope="module")
def validator():
    return Draft202012Validator(json.loads(PUBLISHED.read_text(encoding="utf-8")))


def test_the_schema_is_one():
    Draft202012Validator.check_schema(metrics_schema())


def test_a_real_metrics_json_is_valid(metrics, validator):
    assert set(metrics) == {"phase", "cases", "aggregates", "ranking", "subgroups", "case"}
    assert list(validator.iter_errors(metrics)) == []


def test_an_estimate_with_everything_and_with_nothing_more(metrics, validator):
    interval = ConfidenceInterval(0.0, 1.0, 0.5, "percentile")
    for estimate in (Estimate(0.5), Estimate(0.5, interval, {"wilson": interval}, 0.1, 0.5, 0.4, 0.6)):
        content = copy.deepcopy(metrics)
        content["aggregates"]["classification"]["auc"] = json.loads(render(asdict(estimate)))
        assert list(validator.iter_errors(content)) == []
    for section in ("phase", "cases", "aggregates", "ranking", "subgroups"):
        assert not validator.is_valid({key: value for key, value in metrics.items() if key != section})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["aggregates", "classification", "auc", "value"], None),
        (["aggregates", "classification", "auc", "median"], None),
        (["aggregates", "classification", "auc", "mode"], 0.5),
        (["aggregates", "classification", "a.b"], {"value": 1}),
        (["ranking", "components", "classification", "auc"], None),
        (["case", "V0001.png"], {}),
        (["cases", "worst"], 0.5),
        (["further"], {}),
    ],
)
def test_what_is_not_allowed(metrics, validator, path, value):
    content = copy.deepcopy(metrics)
    inner = content
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert list(validator.iter_errors(content)) != []
