"""The kinds of fields and the metrics that can be declared, imported when they are named."""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Annotated, Any, Generic, Literal, TypeVar, cast, get_args, get_origin

import pydantic
from pydantic_core import PydanticKnownError, core_schema

from evaluation.challenges.declared.tables import FieldTable, MetricTable
from evaluation.core.entry_points import Group, loaded, other_entries, own_entries, place_of
from evaluation.core.fault import PhaseError
from evaluation.core.keys import Key

Name = Annotated[str, Key(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
"""The name of a field, a task, a metric or a composite."""

_Table = TypeVar("_Table", FieldTable, MetricTable)

_OF_PHASE: ContextVar[Mapping[str, type[MetricTable]]] = ContextVar("metrics of the phase that is read")


@contextmanager
def beside(tables: Mapping[str, type[MetricTable]]) -> Iterator[None]:
    """Let metrics of a phase's own be found by their names while the phase is read."""
    token = _OF_PHASE.set(tables)
    try:
        yield
    finally:
        _OF_PHASE.reset(token)


def name_of(table: type[FieldTable] | type[MetricTable]) -> str:
    """Return the name under which a kind or a metric is declared, none for a base of several."""
    key = table.model_fields["kind" if issubclass(table, FieldTable) else "metric"].annotation
    return get_args(key)[0] if get_origin(key) is Literal else ""


@dataclass(frozen=True)
class Declarable(Generic[_Table]):
    """The tables below a base, told apart by a key: each is an entry point, see `core.entry_points`.

    Only the modules of those that are named are imported. As an annotation of pydantic's it reads a table of
    the class that the key names; a choice of all classes is built for a JSON schema alone.
    """

    base: type[_Table]
    key: Literal["kind", "metric"]

    @property
    def group(self) -> Group:
        """The group of entry points."""
        return cast(Group, f"evaluation.{self.key}s")

    def named(self, name: str) -> type[_Table] | None:
        """Return the table of a name, None for an unknown one. Raises `PhaseError` where it is of no use."""
        place = place_of(self.group, name)
        if place is None:
            own: type[_Table] | None = cast(Any, _OF_PHASE.get({}).get(name))
            return own if self.key == "metric" else None
        table = loaded(place)
        if isinstance(table, type) and issubclass(table, self.base) and name_of(table) == name:
            return table
        expected = f"a {self.base.__name__} with {self.key}: Literal[{name!r}]"
        raise PhaseError(f"{place}, which an installed package names: expected {expected}, found {table!r}")

    def __iter__(self) -> Iterator[type[_Table]]:
        """Yield all tables: ours, then those of other packages."""
        names = (*own_entries(self.group), *other_entries(self.group))
        return (table for table in map(self.named, names) if table is not None)

    def prepare(self, names: Sequence[str]) -> None:
        """Import and build our tables of some names, for all processes that are forked from this one."""
        for name in sorted(own_entries(self.group).keys() & set(names)):
            loaded(own_entries(self.group)[name]).model_rebuild()

    def _read(self, content: object) -> _Table:
        """Return the table with the content of a file. Raises pydantic's errors, as for a choice of all."""
        if isinstance(content, self.base):
            return content
        if not isinstance(content, dict):
            raise PydanticKnownError("model_attributes_type")
        name = content.get(self.key)
        if name is None:
            raise PydanticKnownError("union_tag_not_found", {"discriminator": repr(self.key)})
        table = self.named(name) if isinstance(name, str) else None
        if table is None:
            known = ", ".join(repr(name_of(one)) for one in self)
            context = {"discriminator": repr(self.key), "tag": str(name), "expected_tags": known}
            raise PydanticKnownError("union_tag_invalid", context)
        try:
            return table.model_validate(content)
        except pydantic.ValidationError as error:
            if table is _OF_PHASE.get({}).get(str(name)):
                raise  # no schema has it among the choices
            raise _within(str(name), error) from None

    def __get_pydantic_core_schema__(self, source: object, handler: pydantic.GetCoreSchemaHandler) -> Any:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, schema: Any, handler: pydantic.GetJsonSchemaHandler) -> Any:
        choice: Any = Annotated[reduce(or_, self), pydantic.Discriminator(self.key)]
        return handler(pydantic.TypeAdapter(choice).core_schema)


def _within(name: str, error: pydantic.ValidationError) -> pydantic.ValidationError:
    """Return faults of a table where pydantic places those in a choice of tables."""
    faults: list[Any] = [{**fault, "loc": (name, *fault["loc"])} for fault in error.errors()]
    return pydantic.ValidationError.from_exception_data(error.title, faults)


FIELDS = Declarable(FieldTable, "kind")  # type: ignore[type-abstract]
METRICS = Declarable(MetricTable, "metric")  # type: ignore[type-abstract]


def names_of(kinds: Sequence[type[FieldTable]]) -> list[str]:
    """Return the names of kinds, and of those below a base of several."""
    below = ([kind] if name_of(kind) else (one for one in FIELDS if issubclass(one, kind)) for kind in kinds)
    return [name_of(one) for of_kind in below for one in of_kind]


def metrics_for(kind: str | None) -> list[str]:
    """Return the names of the metrics that score a kind; none of an unknown one."""
    table = FIELDS.named(kind) if kind is not None else None
    return [name_of(one) for one in METRICS if table and issubclass(table, one.kinds)]


# --- What a metric is, as its function on arrays, its class and the bases of that tell it ---


def card_of(table: type[MetricTable]) -> str:
    """Return definition, range and what a phase adds to them, then oracle and source of a metric.

    Definition, range and source are told by the public function on arrays that has the metric's name. Where
    there is none, they are in the docstring of the class. In each case its bases add what is `common`.
    """
    definition, about, proof = _told_by(table)
    if name_of(table) in own_entries("evaluation.metrics"):
        from evaluation import metrics  # all of its topics

        if function := getattr(metrics, name_of(table), None):
            summary, of_arrays, source = _told_by(function)
            about = " ".join(filter(None, (_sentences(of_arrays)[0], definition, about)))
            definition = re.sub(r"^Return (?:the )?(.)", lambda first: first[1].upper(), summary)
            proof = f"{proof} Source: {source}" if source and "Source: " not in proof else proof
    first, *rest = _sentences(about)
    common = [vars(base).get("common", "") for base in reversed(table.__mro__)]
    text = " ".join(filter(None, (first, *common, *rest)))
    return "\n\n".join(filter(None, (definition, text, proof)))


def _told_by(described: object) -> tuple[str, str, str]:
    """Return the first paragraph of a docstring, what follows, and the oracle or else the source."""
    text = inspect.cleandoc(described.__doc__ or "").partition(">>>")[0]
    text, mark, proof = text.partition("Oracle: ")
    if not mark:
        text, _, proof = text.partition("Source: ")
    definition, _, about = text.strip().partition("\n\n")
    return definition, " ".join(about.split()), " ".join((mark + proof).split())


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=\.) ", text, maxsplit=1)
