"""What is told of kinds and metrics that can be declared: their entries, and the schema that editors use."""

import json
import tomllib

import jsonschema
import pytest

from evaluation.challenges.declared.declarable import FIELDS, METRICS, name_of
from evaluation.organiser.phase_schema import phase_schema
from test.challenges.declared.phases import SCREENING

HEAD = 'name = "a"\ntitle = "A"\nsubmission = "archive"\n'


def test_every_entry_is_described():
    """The docstring is the entry in the page."""
    tables = [*FIELDS, *METRICS]
    assert [name_of(table) for table in tables if not table.__doc__] == []
    keys = ((name_of(table), *item) for table in tables for item in table.model_fields.items())
    unnamed = {"kind", "metric"}
    assert [(name, key) for name, key, field in keys if key not in unnamed and not field.description] == []


@pytest.mark.parametrize(
    ("tables", "valid"),
    [
        (SCREENING, True),
        (SCREENING.replace('["auc"]', "{ auc = {} }"), True),
        (SCREENING.replace('["auc"]', '{ early = { metric = "auc" } }'), True),
        (SCREENING.replace('["auc"]', '["aucc"]'), True),  # it may be a function in metrics.py
        (SCREENING.replace('["auc"]', '["a.b"]'), False),
        (SCREENING.replace('["auc"]', '{ own = { metric = "own", share = 0.5 } }'), True),
        (SCREENING.replace('["auc"]', '{ own = { metric = "auc", share = 0.5 } }'), False),
        (SCREENING.replace('"number"', '"nummer"'), False),
        (SCREENING.replace("minimum", "minimun"), False),
        ('challenge = "refuge"\n', True),
        ("", False),
    ],
)
def test_the_schema_of_phase_toml_knows_declarations(tables, valid):
    validator = jsonschema.Draft202012Validator(json.loads(json.dumps(phase_schema())))
    assert validator.is_valid(tomllib.loads(HEAD + tables)) is valid
