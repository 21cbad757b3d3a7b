"""JSON schemas, generated from the types that are written."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from evaluation.platform.result_file import MetricsFile

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Keys that a dotted path finds, see `result_file.render`.
_KEY = "^[^.$]+$"


def metrics_schema() -> dict[str, Any]:
    """Return the schema of `metrics.json`; its keys have no dots."""
    return schema_of(MetricsFile, "metrics.json", _KEY)


def schema_of(kind: type, title: str, keys: str | None = None) -> dict[str, Any]:
    """Return the schema of a dataclass as it is written: closed objects, absent values left out.

    ``keys`` is a pattern for the keys of mappings, None if all are allowed.
    """
    schema = _strict(TypeAdapter(kind).json_schema(), keys)
    return {"$schema": _DIALECT, **schema, "title": title}


def _strict(node: Any, keys: str | None) -> Any:
    if isinstance(node, list):
        return [_strict(item, keys) for item in node]
    if not isinstance(node, dict):
        return node
    # Titles repeat the names, and defaults do not describe written files.
    strict = {key: _strict(value, keys) for key, value in node.items() if key not in ("title", "default")}
    if "properties" in node:
        properties = node["properties"]
        strict["properties"] = {
            name: _strict(without_null(value), keys) for name, value in properties.items()
        }
        strict["required"] = [name for name, value in properties.items() if without_null(value) is value]
        strict["additionalProperties"] = False
    elif node.get("type") == "object" and keys is not None:
        strict["propertyNames"] = {"pattern": keys}
    return strict


def without_null(node: Any) -> Any:
    """Return a property's schema without the alternative null, the same object if it has none."""
    alternatives = node.get("anyOf", [])
    others = [alternative for alternative in alternatives if alternative != {"type": "null"}]
    if len(others) == len(alternatives):
        return node
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    return {**rest, **others[0]} if len(others) == 1 else {**rest, "anyOf": others}
