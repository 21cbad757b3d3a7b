"""Reads tables, and says what is wrong with one in the words of this package: key, expected and found."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from evaluation.core.fault import most_similar, shorten
from evaluation.phase.renamed import new_key, new_word

Schema = Mapping[str, Any]
Table = TypeVar("Table", bound=BaseModel)


class InvalidTableError(ValueError):
    """Raised for content that is not a table of its type."""

    def __init__(self, table: type[BaseModel], error: ValidationError) -> None:
        super().__init__(str(error))
        self._table, self._error = table, error

    def problems(self, file: str, prefix: str = "") -> list[str]:
        """Return one line for every fault, see `describe_validation`."""
        return describe_validation(file, self._error, prefix, self._table)


def read_table(table: type[Table], content: object) -> Table:
    """Return the table of that type with the content of a file. Raises `InvalidTableError`."""
    try:
        return table.model_validate(content)
    except ValidationError as error:
        raise InvalidTableError(table, error) from None


def describe_validation(
    file: str, error: ValidationError, prefix: str = "", model: type[BaseModel] | None = None
) -> list[str]:
    """Return one line for every fault that pydantic found: file, key, what was expected and found.

    ``model`` is the validated one; with it, an unknown key is answered with those that exist.
    """
    schema = {} if model is None else model.model_json_schema()
    return [f"{file}: {_complaint(fault, prefix, schema)}" for fault in error.errors()]


def _complaint(fault: Mapping[str, Any], prefix: str, schema: Schema) -> str:
    here, known_keys = _place(fault["loc"], schema)
    key = prefix + here
    context = fault.get("ctx", {})
    match fault["type"]:
        case "extra_forbidden" if now := new_key(fault["loc"]):
            return f"{key}: is {now} now"
        case "literal_error" if now := new_word(fault["loc"][-1], fault["input"]):
            return f"{key}: {fault['input']!r} is {now!r} now"
        case "extra_forbidden" | "unexpected_keyword_argument":
            near = suggestion(str(fault["loc"][-1]), known_keys)
            if not near and known_keys and fault["loc"][0] in ("fields", "tasks"):
                near = f"; known are {', '.join(known_keys)}"
            return f"unknown key {key}{near}"
        case "missing":
            return f"{key} is missing"
        case "union_tag_invalid":
            known = [tag.strip("'") for tag in context["expected_tags"].split(", ")]
            tag, which = context["tag"], context["discriminator"].strip("'")
            near = suggestion(tag, known) or _parts_suggestion(tag, known)
            return f"{key}: {tag!r} is no known {which}{near}; known are {', '.join(known)}"
        case "usual_name":
            return f"{key}: {fault['msg']}"
        case "string_pattern_mismatch" if fault["loc"][-1] == "[key]":
            expected = "a name that begins with a small letter and has small letters, digits and underscores"
            return f"{key.removesuffix('.[key]')}: expected {expected}"
        case "union_tag_not_found":
            return f"{key}.{context['discriminator'].strip(chr(39))} is missing"
        case "tuple_type" | "list_type":
            return f"{key}: expected a list, found {shorten(repr(fault['input']), 300)}"
        case "dict_type" | "model_type" | "dataclass_type":
            return f"{key}: expected a table, found {shorten(repr(fault['input']), 300)}"
    message = fault["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    found = repr(fault["input"])
    if not key or (isinstance(fault["input"], Mapping) and len(found) > _MOST_OF_TABLE):
        return f"{key}: {message}" if key else message  # a whole table says little of one key
    return f"{key}: {message} (got {shorten(found, 300)})"


def suggestion(found: str, known: Iterable[str]) -> str:
    """Return for example ``: did you mean 'dice'?``, or nothing where no known name is close."""
    close = most_similar(found, known)
    return f": did you mean {close!r}?" if close else ""


def _parts_suggestion(found: str, known: Iterable[str]) -> str:
    """Return the same of names that have a word like it, or its letters as initials, at most four."""
    words = {name: name.split("_") for name in known}
    near = [
        repr(name)
        for name, of in words.items()
        if most_similar(found, of) or "".join(word[0] for word in of) == found.casefold()
    ]
    return f": did you mean {' or '.join(near[:_MOST_SUGGESTED])}?" if near else ""


_MOST_SUGGESTED = 4
_MOST_OF_TABLE = 100


def _place(location: Sequence[str | int], schema: Schema) -> tuple[str, tuple[str, ...]]:
    """Return the key at a location, without pydantic's tags for a choice of tables, and all keys there."""
    definitions: Mapping[str, Schema] = schema.get("$defs", {})
    parts: list[str] = []
    here: Sequence[Schema] = (schema,)
    known: tuple[str, ...] = ()
    for part in location:
        if any(sum(one.get("type") != "null" for one in table.get("anyOf", ())) > 1 for table in here):
            here = [table for table in here if "anyOf" not in table]  # the part tells which of them was tried
            continue
        tables = [definitions.get(table.get("$ref", "").removeprefix("#/$defs/"), table) for table in here]
        known = tuple(dict.fromkeys(key for table in tables for key in table.get("properties", ())))
        tagged = [
            {"$ref": mapping[part]}
            for table in tables
            if part in (mapping := table.get("discriminator", {}).get("mapping", {}))
        ]
        if tagged:
            here = tagged
            continue
        parts.append(str(part))
        here = [inner for table in tables for inner in _inside(table, part)]
    return ".".join(parts), known


def _inside(table: Schema, part: str | int) -> list[Schema]:
    """Return the schemas that the value of a key, or an entry of a list, may follow."""
    found = table.get("properties", {}).get(part)
    if found is None and isinstance(part, str):
        found = next(iter(table.get("patternProperties", {}).values()), table.get("additionalProperties"))
    elif found is None:
        found = table.get("items")
    if not isinstance(found, Mapping):
        return []
    return [found, *found.get("anyOf", ())]
