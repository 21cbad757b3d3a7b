"""The page of the kinds and metrics that can be declared, and the schema that editors use."""

import json
import re
import tomllib

import jsonschema
import pytest

from evaluation.challenges.declared.declarable import FIELDS, METRICS, name_of
from evaluation.cli.main import main
from evaluation.organiser.schema_pages import catalogue_pages, phase_schema
from test.challenges.declared.phases import SCREENING
from test.repository import REPOSITORY

HEAD = 'name = "a"\ntitle = "A"\nsubmission = "archive"\n'


def test_the_published_pages_are_those_that_the_command_writes(tmp_path):
    assert main(["schema", "catalogue", "--output", str(tmp_path)]) == 0
    written = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    docs = REPOSITORY / "docs"
    published = {path.name: path.read_text(encoding="utf-8") for path in docs.glob("metrics-*.md")}
    published["catalogue.md"] = (docs / "catalogue.md").read_text(encoding="utf-8")
    assert published == written, "run: python -m evaluation schema catalogue --output docs"


def test_every_metric_is_in_one_family_and_its_table_of_questions():
    pages = catalogue_pages()
    first = pages.pop("catalogue.md")
    entries = [name for text in pages.values() for name in re.findall(r"^## Metric `(\w+)`", text, re.M)]
    assert sorted(entries) == sorted(map(name_of, METRICS))
    questions, _, usual = first.partition("## Usual names")
    rows = "\n".join(row for row in questions.splitlines() if row.startswith("| "))
    asked = re.findall(r"\[`(\w+)`\]", rows)
    assert sorted(asked) == sorted(entries)
    for name in ("NSD", "HD95", "IoU", "AUPRC", "QWK", "clDice", "mAP"):
        assert f" {name}" in usual.partition("## Keys")[0]
    assert max(len(text.split()) for text in (first, *pages.values())) < 9_000


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
