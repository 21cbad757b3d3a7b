"""Tables of keys: what is read, converted and refused, and the options of challenges as values of JSON."""

import tomllib
from decimal import Decimal
from typing import Annotated, Literal

import pydantic
import pytest

from evaluation.core.challenge import Options
from evaluation.core.keys import IN_FORM, Key, KeyTable, Listed, Weight
from evaluation.phase.config import PhaseConfig
from evaluation.phase.registry import challenge_named
from evaluation.phase.validation import InvalidTableError, read_table
from test.repository import PHASES, REPOSITORY


class Strict(KeyTable):
    number: float = Key(default=0.5, gt=0, description="A number.")
    names: Listed[str] = Key(default=(), description="Names.")
    weight: Weight = Key(default=Decimal(1), description="A weight.")


class Lenient(Options):
    number: float = Key(default=0.5, description="A number.")
    name: Annotated[str, pydantic.AfterValidator(str.upper), IN_FORM] = Key(
        default="A", description="A name."
    )
    listed: dict[str, list[str]] = Key(default={"a": []}, description="Lists.")

    @pydantic.model_validator(mode="after")
    def _not_twice(self):
        if self.name in self.listed:
            raise ValueError("name is a list too")
        return self


@pytest.mark.parametrize(
    ("table", "content", "values"),
    [
        (Strict, {}, {"number": 0.5, "names": (), "weight": Decimal(1)}),
        (Strict, {"number": 1, "names": ["a"]}, {"number": 1.0, "names": ("a",), "weight": Decimal(1)}),
        (Strict, {"weight": 0.1}, {"number": 0.5, "names": (), "weight": Decimal("0.1")}),
        (Strict, {"weight": "0.10"}, {"number": 0.5, "names": (), "weight": Decimal("0.10")}),
        (Lenient, {"number": "0.1", "name": "b"}, {"number": 0.1, "name": "B", "listed": {"a": []}}),
    ],
)
def test_content_that_is_read(table, content, values):
    assert vars(read_table(table, content)) == values


@pytest.mark.parametrize(
    ("table", "content", "problem"),
    [
        (Strict, {"numbr": 1}, "f: unknown key k.numbr: did you mean 'number'?"),
        (Strict, {"number": "1"}, "f: k.number: input should be a valid number (got '1')"),
        (Strict, {"number": 0}, "f: k.number: input should be greater than 0 (got 0)"),
        (Strict, {"names": [1]}, "f: k.names.0: input should be a valid string (got 1)"),
        (Strict, {"names": "a"}, "f: k.names: expected a list, found 'a'"),
        (Strict, {"weight": -1}, "f: k.weight: input should be greater than or equal to 0 (got -1)"),
        (Lenient, {"colour": 1}, "f: unknown key k.colour"),
        (Lenient, {"name": "a", "listed": {"A": []}}, "f: k.: name is a list too (got "),
    ],
)
def test_content_that_is_refused(table, content, problem):
    with pytest.raises(InvalidTableError) as caught:
        read_table(table, content)
    (found,) = caught.value.problems("f", "k.")
    assert found.startswith(problem)


class Chosen(KeyTable):
    which: Literal["all"] | tuple[str, ...]
    inner: dict[str, bool | Strict] = Key(default={}, strict=False)


def test_a_choice_of_types_is_refused_by_the_keys_alone():
    with pytest.raises(InvalidTableError) as caught:
        read_table(Chosen, {"which": 3, "inner": {"a": {"numbr": 1}}})
    assert caught.value.problems("f") == [
        "f: which: input should be 'all' (got 3)",
        "f: which: expected a list, found 3",
        "f: inner.a: input should be a valid boolean (got {'numbr': 1})",
        "f: unknown key inner.a.numbr: did you mean 'number'?",
    ]


def test_each_table_has_a_default_of_its_own():
    first, second = Lenient(), Lenient()
    first.listed["a"].append("b")
    assert second.listed == {"a": []}


def test_only_marked_options_enter_the_form():
    assert Lenient(name="b").form_options() == {"name": "B"}
    assert Lenient(name="b").recorded() == {"number": 0.5, "name": "B", "listed": {"a": []}}


def test_a_weight_is_written_as_exact_text():
    options = read_table(challenge_named("refuge").options, {"weights": {"dice_cup": 0.1}})
    assert options.as_values()["weights"]["dice_cup"] == "0.1"
    assert options.form_options() == {"unlisted_labels": "error"}


@pytest.mark.parametrize("phase", PHASES)
def test_options_are_read_again_from_their_values(phase):
    content = tomllib.loads((REPOSITORY / "ground-truth" / phase / "phase.toml").read_text(encoding="utf-8"))
    config = read_table(PhaseConfig, content)
    table = challenge_named(config.challenge).options
    options = read_table(table, config.options)
    assert read_table(table, options.as_values()) == options
    assert all(options.as_values()[key] == value for key, value in options.form_options().items())
