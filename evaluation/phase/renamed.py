"""Words of `phase.toml` that others replace, for messages about the old ones and for files that have them."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

OF_THE_PLATFORM = ("score", "columns", "unranked_columns", "scoring_method")
"""Keys of the phase that are keys of its table ``platform``."""

_OF_FIELDS = {
    "axes": "dimensions",
    "names": "classes",
    "references": "reference_columns",
    "ignored": "excluded_table",
    "ignored_lesions": "excluded_lesions",
}
_REFERENCES = {"points": "reference_table", "keypoints": "reference_table", "boxes": "reference_table"}
_WORDS = {"leave_out": "exclude", "left_out": "excluded"}

_HEADER = re.compile(r"\s*\[+\s*(?P<path>[^\]]+?)\s*\]+")
_KEY = re.compile(r'\s*"?(?P<key>\w+)"?\s*=')
_WORD = re.compile(rf'(\b(?:absent|missed|unpredicted|lowest_threshold)\s*=\s*)"({"|".join(_WORDS)})"')


def new_key(location: Sequence[str | int]) -> str | None:
    """Return the key that replaces the one at a location in the file, None where there is none.

    location: of a key of the phase, or of a field: "fields", its name, its kind, the key.
    """
    match location:
        case (str(key),) if key in OF_THE_PLATFORM:
            return f"platform.{key}"
        case ("fields", str(name), str(kind), str(key)) if found := _of_field(kind, key):
            return f"fields.{name}.{found}"
    return None


def new_word(word: object) -> str | None:
    """Return the value that replaces another one of a key, None where there is none."""
    return _WORDS.get(word) if isinstance(word, str) else None


def _of_field(kind: str, key: str, lesions: bool = False) -> str | None:
    if key == "reference":
        return "reference_folder" if lesions else _REFERENCES.get(kind, "reference_column")
    return _OF_FIELDS.get(key)


def rewritten(text: str) -> str:
    """Return the text of a `phase.toml` with the words of today; comments and order stay.

    Raises `tomllib.TOMLDecodeError`.
    """
    fields: Mapping[str, Any] = tomllib.loads(text).get("fields", {})
    found: list[str] = []
    moved: list[str] = []
    path: list[str] = []
    pending = ""
    for line in text.splitlines(keepends=True):
        if not pending and (header := _HEADER.match(line)):
            if not path and moved:
                found += ["[platform]\n", *moved, "\n"]
                moved = []
            path = [part.strip().strip("\"'") for part in header["path"].split(".")]
        key = _KEY.match(line)
        if pending or (not path and key and key["key"] in OF_THE_PLATFORM):
            pending += line
            if _is_whole(pending):
                moved.append(pending)
                pending = ""
            continue
        if key and path[:1] == ["fields"]:
            # Of a table of its own, or of one in a line.
            name, begin = (path[1], "") if len(path) == 2 else (key["key"], "[{,]")
            line = _with_new_keys(line, fields.get(name), begin)
        found.append(_WORD.sub(lambda match: f'{match[1]}"{_WORDS[match[2]]}"', line))
    if moved:
        found += ["\n[platform]\n", *moved]
    return "".join(found)


def _with_new_keys(line: str, table: object, begin: str) -> str:
    """Return a line with today's keys of a field's table, each of which is behind ``begin``."""
    if not isinstance(table, dict):
        return line
    for old in table:
        if new := _of_field(str(table.get("kind")), old, "lesions" in table):
            line = re.sub(rf"({begin or '^'}\s*){old}(?=\s*=)", rf"\g<1>{new}", line)
    return line


def _is_whole(lines: str) -> bool:
    try:
        return bool(tomllib.loads(lines))
    except tomllib.TOMLDecodeError:
        return False
