"""The JSON schema of `phase.toml`, the options of every known challenge included."""

from __future__ import annotations

from typing import Any

from evaluation.phase.config import FILE_NAME, PhaseConfig
from evaluation.phase.registry import challenge_named, known_challenges
from evaluation.platform.schema import without_null

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Titles only repeat the names, and the form of a submission is not the editor's concern.
_LEFT_OUT = ("title", "in_form")


def phase_schema() -> dict[str, Any]:
    """Return the schema; which options are valid depends on the challenge.

    Editors complete and check the keys with it. What depends on the phase's other files or on its tasks, such
    as the names of metrics, is only checked when the phase is loaded.
    """
    schema = _tidied(PhaseConfig.model_json_schema())
    definitions, conditions = schema.setdefault("$defs", {}), []
    for name in known_challenges():
        prefix = f"options.{name}"
        options = _tidied(
            challenge_named(name).options.model_json_schema(ref_template=f"#/$defs/{prefix}.{{model}}")
        )
        nested = options.pop("$defs", {})
        definitions |= {prefix: options, **{f"{prefix}.{inner}": part for inner, part in nested.items()}}
        conditions.append(
            {
                "if": {"properties": {"challenge": {"const": name}}},
                "then": {"properties": {"options": {"$ref": f"#/$defs/{prefix}"}}},
            }
        )
    challenge = schema["properties"]["challenge"]
    challenge.pop("pattern")
    challenge["enum"] = list(known_challenges())
    return {"$schema": _DIALECT, "title": FILE_NAME, **schema, "allOf": conditions}


def _tidied(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without what is only pydantic's, and without null, which TOML does not have."""
    schema = without_null(schema)
    tidy = {key: value for key, value in schema.items() if key not in _LEFT_OUT}
    if tidy.get("default") is None or "$ref" in tidy:
        tidy.pop("default", None)
    for key in ("properties", "$defs"):
        if key in tidy:
            tidy[key] = {name: _tidied(part) for name, part in tidy[key].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(tidy.get(key), dict):
            tidy[key] = _tidied(tidy[key])
    if "anyOf" in tidy:
        tidy["anyOf"] = [_tidied(part) for part in tidy["anyOf"]]
    return tidy
