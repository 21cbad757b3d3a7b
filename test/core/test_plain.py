"""Tables that are read without pydantic, judged by pydantic: it reads the same, or nothing is read."""

import math
import tomllib
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from functools import cache
from itertools import product
from typing import Annotated

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.challenge import Options
from evaluation.core.keys import Check, option
from evaluation.core.plain import UnfitError, plain_values, read_plain
from evaluation.phase.config import PhaseConfig
from evaluation.phase.registry import challenge_named
from evaluation.phase.validation import InvalidTableError, read_table
from test.repository import PHASES, REPOSITORY

NEEDED = {"challenge": "refuge", "name": "p", "title": "P", "submission": "algorithm"}
NAMES = ("adam", "cysts", "edd2020", "justraigs", "refuge")
OPTIONS = {name: challenge_named(name).options for name in NAMES}
TABLES = {PhaseConfig: NEEDED} | {table: {} for table in OPTIONS.values()}
VALUES = [
    *(None, True, False, 0, 1, 2, -1, 12, 13, 160, 100_001, 10**400, 0.0, 0.5, 1.5, -0.5, math.nan, math.inf),
    *("", "a", "A", "a b", "1", "a\n", "ä", "\ud800", "all", "archive", "absolute", "best", "worst", "full"),
    *("a.b", "a/b", "a.csv", "fovea.csv", "/a.csv", "clip", "voc_xml", "11_points", "extent", "elements"),
    *("linear", "pooled", "disc", "interpolated", "first_kept_point", "iou_d_with_missed", "wilson"),
    *("map_d_map_g_and_dev_g", "x" * 64, "x" * 65, "0.35", "1_0", "NaN", datetime(2024, 1, 1, tzinfo=UTC)),
    *([], ["a"], ["a", "a"], ["roc"], ["roc", "roc"], [1], [1, 2.5], [2, 1], [0.5, 0.5], [math.inf], ("a",)),
    *([None], [[]], [{}], {}, {"a": "b"}, {"a": 3}, {"a": 13}, {"a": None}, {"a": {}}, {1: 2}),
    *({"a.b": "wilson"}, {"disc": "discs"}, {"disc": "lesions"}, {"disc": ""}, {"in-sample": {"BE": 1}}),
    *({"in-sample": {"cyst": 1}}, {"in-sample": {"BE": -1}}, {"dice_cup": 0.25}, {"dice_cup": "0.25"}),
    *({"dice_cup": -1}, {"dice_cup": math.inf}, {"fovea": 1}, {"dice_cup": "nan"}, {"dice_cup": "x"}),
    *([{"column": "a"}], [{"column": "a"}] * 2, [{"column": "a", "bins": [2, 1]}], [{"bins": []}]),
    *([{"column": "a", "minimum": 1}], [{"column": "a", "minimum": 1, "audience": "organiser"}]),
    *({"budget_seconds": 60}, {"budget_seconds": 0}, {"hours": 1}, {"limit": 1, "period_days": 1}),
    *({"period_days": 1}, {"opens_at": datetime(2024, 1, 1, tzinfo=UTC)}, {"opens_at": datetime(2024, 1, 1)}),
    *({"limit_seconds": 60}, {"limit_seconds": 60, "target_seconds": 60}, {"limit_seconds": math.nan}),
]


@cache
def adapter(table):
    return pydantic.TypeAdapter(table)


def is_read(table, content):
    """Return whether a table is read without pydantic, after a comparison with what pydantic reads."""
    try:
        found = read_plain(table, content)
    except UnfitError:
        return False
    # The representation tells 1 from 1.0 and True.
    assert repr(found) == repr(adapter(table).validate_python(content)), content
    return True


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_every_key_with_every_value(table):
    keys = [field.name for field in fields(table)]
    read = {key for key, value in product(keys, VALUES) if is_read(table, {**TABLES[table], key: value})}
    assert read == set(keys)


@given(st.data())
def test_several_keys_at_once(data):
    table = data.draw(st.sampled_from(list(TABLES)))
    keys = st.sampled_from([field.name for field in fields(table)])
    is_read(table, TABLES[table] | data.draw(st.dictionaries(keys, st.sampled_from(VALUES), max_size=3)))


@pytest.mark.parametrize("content", [None, [], "a", 1, {}, {**NEEDED, "colour": "red"}, {**NEEDED, 1: 2}])
def test_what_is_no_table_is_left_to_pydantic(content):
    assert not is_read(PhaseConfig, content)
    with pytest.raises(InvalidTableError):
        read_table(PhaseConfig, content)


@pytest.mark.parametrize("phase", PHASES)
def test_bundled_phases_need_no_pydantic(phase):
    content = tomllib.loads((REPOSITORY / "ground-truth" / phase / "phase.toml").read_text(encoding="utf-8"))
    config = read_plain(PhaseConfig, content)
    options = read_plain(OPTIONS[config.challenge], config.options)
    assert read_plain(OPTIONS[config.challenge], plain_values(options)) == options


@pytest.mark.parametrize("table", OPTIONS.values(), ids=OPTIONS)
def test_values_are_those_that_pydantic_writes(table):
    assert plain_values(table()) == adapter(table).dump_python(table(), mode="json")


class Colour(Enum):
    RED = "red"


def _upper(text):
    return text.upper()


class WithValidator(Options):
    name: str = option("a", "A name.")

    @pydantic.field_validator("name")
    @classmethod
    def _upper(cls, name):
        return name.upper()


class WithAnnotation(Options):
    name: Annotated[str, pydantic.AfterValidator(_upper)] = option("a", "A name.")


class WithField(Options):
    name: str = pydantic.Field(default="B", min_length=1)


class WithOtherType(Options):
    name: str = option("B", "A name.")
    colour: Colour = option(Colour.RED, "A colour.")


@pytest.mark.parametrize("table", [WithValidator, WithAnnotation, WithField, WithOtherType])
def test_declarations_of_pydantic_are_left_to_it(table):
    with pytest.raises(UnfitError):
        read_plain(table, {"name": "b"} if table is not WithOtherType else {"colour": "red"})
    read = read_table(table, {"name": "b"} if table in (WithValidator, WithAnnotation) else {})
    assert read.name == "B"
    assert read_table(table, read.as_values()) == read
    with pytest.raises(InvalidTableError, match="name"):
        read_table(table, {"name": 3})


def test_a_check_may_change_its_value_and_a_table_has_a_default_of_its_own():
    class Table(Options):
        name: Annotated[str, Check(_upper)] = option("a", "A name.")
        names: dict[str, str] = option({"a": "b"}, "Names.")
        listed: list[str] = option(["a"], "A list.")

    first, second = read_table(Table, {"name": "b"}), read_table(Table, {})
    assert (first.name, second.name) == ("B", "a")
    first.names["c"] = "d"
    first.listed.append("b")
    assert (second.names, second.listed) == ({"a": "b"}, ["a"])


def test_values_of_json():
    options = read_table(OPTIONS["refuge"], {"weights": {"dice_cup": 0.1}})
    assert options.weights.dice_cup == Decimal("0.1")
    assert options.as_values()["weights"]["dice_cup"] == "0.1"
    assert options.form_options() == {"unlisted_labels": "error"}
