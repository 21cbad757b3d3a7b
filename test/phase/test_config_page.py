"""The page of the keys of phase.toml: the published one, and how a key becomes words."""

import json

import pytest

from evaluation.organiser.schema_pages import config_page, phase_schema
from test.repository import REPOSITORY

# The schema of one key beside the line of facts that the page shows for it.
FACTS = {
    '{"type": "string", "default": "a"}': 'text, default `"a"`',
    '{"type": "string", "maxLength": 9}': "text of at most 9 characters, optional",
    '{"type": "boolean", "default": false}': "`true` or `false`, default `false`",
    '{"type": "integer", "minimum": 0, "default": 0}': "whole number of at least 0, default `0`",
    '{"type": "integer", "minimum": 0, "maximum": 1000}': "whole number from 0 to 1,000, optional",
    '{"type": "number", "exclusiveMinimum": 0, "maximum": 1}': "number above 0 and at most 1, optional",
    '{"enum": ["a", "b"], "default": "b"}': '`"a"` or `"b"`, default `"b"`',
    '{"type": "array", "items": {"type": "number", "minimum": 2}}': "list of numbers of at least 2, optional",
    '{"type": "array", "items": {"type": "string"}, "default": ["x"]}': 'list of texts, default `["x"]`',
    '{"type": "object", "additionalProperties": {"type": "number"}}': "table, each value number, optional",
    '{"type": "object", "additionalProperties": true, "default": {"k": 1}}': "table, default `{ k = 1 }`",
    '{"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}': (
        "text or list of texts, optional"
    ),
}


def test_the_published_page_is_the_one_that_is_made():
    published = (REPOSITORY / "docs/phase.md").read_text(encoding="utf-8")
    assert published == config_page(phase_schema()), (
        "run: python -m evaluation schema phase --words > docs/phase.md"
    )


@pytest.mark.parametrize(("schema", "facts"), FACTS.items())
def test_facts_of_a_key(schema, facts):
    key = {**json.loads(schema), "description": "What it is."}
    page = config_page({"properties": {"key": key}, "$defs": {}, "allOf": []})
    assert f"### `key`\n\n*{facts}*\n\nWhat it is.\n" in page


def test_a_required_key_says_so_and_lines_of_a_description_are_joined():
    key = {"type": "string", "description": "One\nsentence.\n\nAnother\nparagraph."}
    page = config_page({"properties": {"key": key}, "required": ["key"], "$defs": {}, "allOf": []})
    assert "*text, required*\n\nOne sentence.\n\nAnother paragraph.\n" in page
