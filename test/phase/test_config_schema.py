"""The schema of phase.toml against the tables it is made of; jsonschema judges on its own."""

import json
import tomllib
from typing import get_args

import jsonschema
import pytest

from evaluation.core.keys import KeyTable
from evaluation.organiser.phase_schema import phase_schema
from evaluation.phase.config import TABLES, PhaseConfig
from evaluation.phase.registry import challenge_named, known_challenges
from test.repository import PHASES, REPOSITORY

SCHEMA = phase_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
WORDS = tomllib.loads(
    (REPOSITORY / "evaluation/organiser/templates/phase-keys.toml").read_text(encoding="utf-8")
)
VALID = {
    "challenge": "refuge",
    "name": "p",
    "title": "P",
    "submission": "archive",
    "subgroups": [{"column": "camera", "bins": [1, 2.5]}],
    "options": {"weights": {"dice_cup": "0.5"}, "vertical_diameter": "extent"},
}
INVALID = {
    "unknown key": {"colour": "red"},
    "unknown challenge": {"challenge": "polyps"},
    "text for a number": {"seed": "1"},
    "beyond a bound": {"resamples": 100_001},
    "not of the choices": {"missing": "skip"},
    "unknown key of a table": {"limits": {"hours": 1}},
    "key of a table missing": {"subgroups": [{"bins": [1]}]},
    "option of another challenge": {"options": {"continuity_mm": 0.1}},
    "value of an option": {"options": {"vertical_diameter": "diagonal"}},
    "unknown key of an option": {"options": {"weights": {"fovea": 1}}},
}


def tables_of(table):
    """Return a table and those of its keys, however deep, that are tables too."""
    found = [table]
    for key in table.model_fields.values():
        for kind in (key.annotation, *get_args(key.annotation)):
            if isinstance(kind, type) and issubclass(kind, KeyTable):
                found += tables_of(kind)
    return found


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert VALIDATOR.is_valid(VALID)
    for key in ("challenge", "name"):
        assert not VALIDATOR.is_valid({name: value for name, value in VALID.items() if name != key})
    assert set(SCHEMA["properties"]) == {*PhaseConfig.model_fields, *TABLES}
    assert '"null"' not in json.dumps(SCHEMA)


def test_bundled_phases_are_valid():
    for phase in PHASES:
        text = (REPOSITORY / "ground-truth" / phase / "phase.toml").read_text(encoding="utf-8")
        assert list(VALIDATOR.iter_errors(tomllib.loads(text))) == [], phase


@pytest.mark.parametrize("change", INVALID.values(), ids=INVALID)
def test_what_the_phase_would_reject_is_invalid(change):
    assert not VALIDATOR.is_valid(VALID | change)


def test_every_key_is_described_in_sentences():
    options = (challenge_named(name).options for name in known_challenges())
    for table in (found for root in (PhaseConfig, *options) for found in tables_of(root)):
        for name, key in table.model_fields.items():
            description = WORDS.get(table.__name__, {}).get(name, key.description) or ""
            assert description.endswith("."), f"{table.__name__}.{name}"
            assert description[0] == "`" or description[0].isupper(), f"{table.__name__}.{name}"
