"""The page `docs/phase.md`: every key of `phase.toml` in words, made of its JSON schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

_INTRODUCTION = """\
# The keys of phase.toml

`phase.toml` describes a phase. Four keys are required, all others have a default. A challenge that is not one
of the package's is declared with the tables `[fields]` and `[tasks]` in place of the key `challenge`, see
[kinds and metrics](catalogue.md).

```toml
challenge = "refuge"
name = "my-phase"
title = "My phase"
submission = "archive"
```

An unknown key or a value of the wrong type is an error. All errors are listed at once. A metric is named by
its task and its own name, for example `"segmentation.dice_cup"`.

Editors with a TOML language server complete and check the keys with the
[JSON schema](../schemas/phase.schema.json). For Taplo, the first line of the file is then
`#:schema ../../schemas/phase.schema.json`. These commands print the schema and this page; run them again if
you have added challenges of your own:

```sh
python -m evaluation schema phase
python -m evaluation schema phase --words
```
"""
_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "`true` or `false`",
    "object": "table",
}


def config_page(schema: Schema) -> str:
    """Return the page for the schema of `evaluation.phase.config_schema.phase_schema`, in Markdown."""
    return "\n".join([_INTRODUCTION, *_sections(schema)])


def _sections(schema: Schema) -> Iterator[str]:
    definitions: Mapping[str, Schema] = schema["$defs"]
    yield "## Keys of the phase\n"
    yield from _keys(schema, "", definitions)
    for key, part in schema["properties"].items():
        if table := _table_of(part):
            header = f"[[{key}]]" if part.get("type") == "array" else f"[{key}]"
            yield f"## `{header}`\n\n{_description(part, definitions)}\n"
            yield from _keys(definitions[table], f"{key}.", definitions)
        for table in _named_tables(part):
            yield f"## `[{key}.<name>]`\n\n{_description(definitions[table], definitions)}\n"
            yield from _keys(definitions[table], f"{key}.<name>.", definitions)
    for condition in schema["allOf"]:
        challenge = condition["if"]["properties"]["challenge"]["const"]
        options = definitions[f"options.{challenge}"]
        yield f"## Options of {challenge}\n\n{_description(options, definitions)}\n"
        yield from _keys(options, "options.", definitions)
        for key, part in options.get("properties", {}).items():
            if table := _table_of(part):
                yield from _keys(definitions[table], f"options.{key}.", definitions)


def _keys(table: Schema, prefix: str, definitions: Mapping[str, Schema]) -> Iterator[str]:
    required = table.get("required", ())
    for key, part in table.get("properties", {}).items():
        facts = f"{_type(part)}, {'required' if key in required else _default(part)}"
        yield f"### `{prefix}{key}`\n\n*{facts}*\n\n{_description(part, definitions)}\n"


def keys_in_words(table: Schema, definitions: Mapping[str, Schema]) -> Iterator[str]:
    """Yield an entry of a list for every key of a table, in Markdown."""
    required = table.get("required", ())
    for key, part in table.get("properties", {}).items():
        facts = f"{_type(part)}, {'required' if key in required else _default(part)}"
        yield f"- `{key}` ({facts}): {_description(part, definitions)}"
    yield ""


def _table_of(part: Schema) -> str:
    """Return the name of the definition that a key's value, or each of its entries, follows; else nothing."""
    reference: str = part.get("$ref", "") or part.get("items", {}).get("$ref", "")
    return reference.removeprefix("#/$defs/")


def _named_tables(part: Schema) -> Iterator[str]:
    """Yield the definition that each table in a table of tables follows, unless it is a choice of several."""
    for alternative in part.get("anyOf", (part,)):
        for table in alternative.get("patternProperties", {}).values():
            if name := _table_of(table):
                yield name


def _type(part: Schema, plural: str = "") -> str:
    if "$ref" in part:
        return f"table{plural}"
    if "enum" in part:
        return " or ".join(f"`{json.dumps(value)}`" for value in part["enum"])
    if "anyOf" in part:
        return " or ".join(_type(alternative) for alternative in part["anyOf"])
    if part.get("format") == "date-time":
        return f"date and time{plural}"
    if part["type"] == "array":
        return f"list of {_type(part['items'], 's')}"
    values = next(iter(part.get("patternProperties", {}).values()), part.get("additionalProperties"))
    if isinstance(values, Mapping):
        tables = "$ref" in values or all("$ref" in table for table in values.get("anyOf", ({},)))
        return f"table of tables{plural}" if tables else f"table, each value {_type(values)}"
    return _TYPES[part["type"]] + plural + _bounds(part)


def _bounds(part: Schema) -> str:
    low, high = part.get("minimum"), part.get("maximum")
    above, length = part.get("exclusiveMinimum"), part.get("maxLength")
    words = [
        f" of at most {length} characters" if length is not None else "",
        f" above {above:g}" if above is not None else "",
        f" and at most {high:g}" if above is not None and high is not None else "",
        f" from {low:g} to {high:,}" if low is not None and high is not None else "",
        f" of at least {low:g}" if low is not None and high is None else "",
    ]
    return "".join(words)


def _default(part: Schema) -> str:
    default = part.get("default")
    return "optional" if default in (None, [], {}) else f"default `{_toml(default)}`"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def _description(part: Schema, definitions: Mapping[str, Schema]) -> str:
    """Return the description of a key or of its table's definition, each paragraph on one line."""
    text: str = part["description"] if "description" in part else definitions[_table_of(part)]["description"]
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)
