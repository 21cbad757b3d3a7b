"""The JSON schema of `phase.toml`."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from pydantic import BaseModel

from evaluation.challenges.declared.declarable import METRICS, card_of
from evaluation.phase.config import DECLARED, FILE_NAME, PhaseConfig
from evaluation.phase.registry import challenge_named, known_challenges
from evaluation.platform.result_file import without_null

_WORDS = files("evaluation.organiser") / "templates" / "phase-keys.toml"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Titles only repeat the names; editors do not use the other keys.
_LEFT_OUT = ("title", "discriminator")


def phase_schema() -> dict[str, Any]:
    """Return the schema; which options are valid depends on the challenge.

    Editors complete and check the keys with it. Values that depend on other files or on the tasks, such as
    names of metrics, are only checked when the phase is loaded.
    """
    schema = _described(PhaseConfig)
    definitions, conditions = schema["$defs"], []
    for name in known_challenges():
        prefix = f"options.{name}"
        template = f"#/$defs/{prefix}.{{model}}"
        options = _described(challenge_named(name).options, ref_template=template)
        nested = options.pop("$defs", {})
        definitions |= {f"{prefix}.{inner}": part for inner, part in nested.items()}
        if name == DECLARED:
            _declare(schema, options, definitions, prefix)
            continue
        definitions[prefix] = options
        chosen = {"properties": {"challenge": {"const": name}}}
        has_options = {"properties": {"options": {"$ref": f"#/$defs/{prefix}"}}}
        conditions.append({"if": chosen, "then": has_options})
    challenge = schema["properties"]["challenge"]
    challenge.pop("pattern")
    challenge["enum"] = list(known_challenges())
    return {"$schema": _DIALECT, "title": FILE_NAME, **schema, "allOf": conditions}


def _described(model: type[BaseModel], **options: Any) -> dict[str, Any]:
    """Return the schema of a model, whose keys and those of its tables are described in `phase-keys.toml`."""
    schema = model.model_json_schema(**options)
    tables = {model.__name__: schema, **schema.get("$defs", {})}
    for table, words in tomllib.loads(_WORDS.read_text(encoding="utf-8")).items():
        for key, description in words.items() if table in tables else ():
            keys = tables[table]["properties"]
            keys[key] = dict(sorted({**keys[key], "description": description}.items()))
    return tidied(schema)


def _declare(
    schema: dict[str, Any], options: Mapping[str, Any], definitions: dict[str, Any], prefix: str
) -> None:
    """Add the tables that declare a challenge to the keys of a phase, which then names no challenge."""
    properties = schema["properties"]
    for key, part in options["properties"].items():
        if key in properties:
            own = properties[key].pop("description")
            description = f"{own} Of a declared challenge: {part['description']}"
            table = {name: value for name, value in part.items() if name != "description"}
            properties[key] = {"anyOf": [properties[key], table], "description": description}
        else:
            properties[key] = part
    schema["required"] = [key for key in schema["required"] if key != "challenge"]
    schema["anyOf"] = [{"required": ["challenge"]}, {"required": options["required"]}]
    metrics = definitions[f"{prefix}.TaskTable"]["properties"]["metrics"]
    names = []
    (tables,) = metrics["patternProperties"].values()
    for table in tables["anyOf"]:
        metric = definitions[table["$ref"].removeprefix("#/$defs/")]
        names.append(metric["properties"]["metric"]["const"])
        described = METRICS.named(names[-1])
        assert described is not None
        metric["description"] = card_of(described)
        # A metric may be named by the key of its table, or all of them by a list.
        metric["required"] = [key for key in metric["required"] if key != "metric"]
    own = {"type": "string", "pattern": "^[a-z][a-z0-9_]*$", "not": {"enum": names}}
    definitions["OwnMetric"] = {
        "type": "object",
        "description": "A function in `metrics.py`, whose keyword arguments are further keys.",
        "properties": {"metric": own},
        "required": ["metric"],
    }
    tables["anyOf"].append({"$ref": "#/$defs/OwnMetric"})
    listed = {"type": "array", "items": {"anyOf": [{"enum": names}, own]}, "minItems": 1}
    table = {key: metrics.pop(key) for key in list(metrics) if key != "description"}
    metrics["anyOf"] = [table, listed]


def tidied(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without pydantic's own keys, and without null, which TOML does not have."""
    schema = without_null(schema)
    tidy = {key: value for key, value in schema.items() if key not in _LEFT_OUT}
    if tidy.get("default") is None or "$ref" in tidy:
        tidy.pop("default", None)
    for key in ("properties", "patternProperties", "$defs"):
        if key in tidy:
            tidy[key] = {name: tidied(part) for name, part in tidy[key].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(tidy.get(key), dict):
            tidy[key] = tidied(tidy[key])
    # A constant in each table of a choice tells the tables apart.
    alternatives = tidy.pop("oneOf", None) or tidy.get("anyOf")
    if alternatives:
        tidy["anyOf"] = [tidied(part) for part in alternatives]
    return tidy
