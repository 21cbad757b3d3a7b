"""The page of the kinds and metrics that can be declared, and the schema that editors use."""

import json
import tomllib

import jsonschema
import pytest

from evaluation.challenges.declared.rules import FIELDS, METRICS, name_of
from evaluation.organiser.schema_pages import catalogue_page, phase_schema
from test.challenges.declared.phases import SCREENING
from test.repository import REPOSITORY

HEAD = 'name = "a"\ntitle = "A"\nsubmission = "archive"\n'


def test_the_published_page_is_the_one_that_is_made():
    published = (REPOSITORY / "docs/catalogue.md").read_text(encoding="utf-8")
    assert published == catalogue_page(), "run: python -m evaluation schema catalogue > docs/catalogue.md"


@pytest.mark.parametrize("table", [*FIELDS, *METRICS], ids=name_of)
def test_every_entry_is_described(table):
    assert table.__doc__, "the docstring is the entry in the page"
    for key, field in table.model_fields.items():
        assert key in {"kind", "metric"} or field.description, key


@pytest.mark.parametrize("metric", [*METRICS], ids=name_of)
def test_every_metric_has_an_oracle_and_a_kind(metric):
    assert "Oracle:" in (metric.__doc__ or "")
    assert set(metric.kinds) <= set(FIELDS)
    assert metric.kinds


@pytest.mark.parametrize(
    ("tables", "valid"),
    [
        (SCREENING, True),
        (SCREENING.replace('["auc"]', "{ auc = {} }"), True),
        (SCREENING.replace('["auc"]', '{ early = { metric = "auc" } }'), True),
        (SCREENING.replace('["auc"]', '["aucc"]'), False),
        (SCREENING.replace('"number"', '"nummer"'), False),
        (SCREENING.replace("minimum", "minimun"), False),
        ('challenge = "refuge"\n', True),
        ("", False),
    ],
)
def test_the_schema_of_phase_toml_knows_declarations(tables, valid):
    validator = jsonschema.Draft202012Validator(json.loads(json.dumps(phase_schema())))
    assert validator.is_valid(tomllib.loads(HEAD + tables)) is valid
