"""The tables of `phase.toml` that declare a challenge: ``fields``, ``tasks``, ``ranking`` and ``composites``.

They are the options of the challenge "declared", written without the table ``[options]`` around them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.core.fault import PhaseError

DECLARED = "declared"
"""The name of the challenge whose options declare the challenge itself."""

TABLES = ("fields", "tasks", "ranking", "composites")


def moved_declaration(content: Mapping[str, Any], file: str) -> dict[str, Any]:
    """Return the content of a `phase.toml` with the tables of a declaration moved into its options.

    Raises `PhaseError` if they stand beside another challenge, or beside options.
    """
    challenge = content.get("challenge", DECLARED if "fields" in content else None)
    # Anything else than a table of tasks is meant as a selection of a challenge's own.
    tables = {key: content[key] for key in TABLES if key in content}
    if not isinstance(tables.get("tasks"), dict):
        tables.pop("tasks", None)
    if challenge == DECLARED and "options" in content:
        raise PhaseError(f"{file}: options: expected none, since a declared challenge has no others")
    if challenge != DECLARED and tables:
        keys = ", ".join(f"[{key}]" for key in tables)
        raise PhaseError(f"{file}: {keys}: expected only without 'challenge', found challenge {challenge!r}")
    if challenge != DECLARED:
        return dict(content)
    others = {key: value for key, value in content.items() if key not in tables}
    return {**others, "challenge": challenge, "options": tables}
