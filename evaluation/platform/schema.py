"""The JSON schema of `metrics.json`, generated from the types that are written."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from evaluation.platform.result_file import MetricsFile

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Keys that a dotted path finds, see `result_file.render`.
_KEY = "^[^.$]+$"


def metrics_schema() -> dict[str, Any]:
    """Return the schema: closed objects, keys without dots, absent values left out rather than null."""
    schema = _strict(TypeAdapter(MetricsFile).json_schema())
    return {"$schema": _DIALECT, **schema, "title": "metrics.json"}


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    # Titles only repeat the names; a default says nothing about what is written.
    strict = {key: _strict(value) for key, value in node.items() if key not in ("title", "default")}
    if "properties" in node:
        properties = node["properties"]
        strict["properties"] = {name: _strict(_without_null(value)) for name, value in properties.items()}
        strict["required"] = [name for name, value in properties.items() if _without_null(value) is value]
        strict["additionalProperties"] = False
    elif node.get("type") == "object":
        strict["propertyNames"] = {"pattern": _KEY}
    return strict


def _without_null(node: Any) -> Any:
    """Return a property's schema without the alternative null, the same object where there is none."""
    alternatives = node.get("anyOf", [])
    others = [alternative for alternative in alternatives if alternative != {"type": "null"}]
    if len(others) == len(alternatives):
        return node
    return others[0] if len(others) == 1 else {**node, "anyOf": others}
