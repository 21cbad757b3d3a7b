"""Words of the templates: publications that the methods paragraph cites, and longer notes."""

import tomllib
from pathlib import Path
from typing import Any


def words_in(name: str) -> dict[str, Any]:
    """Return the content of a TOML file of the templates."""
    return tomllib.loads((Path(__file__).parent / "templates" / name).read_text(encoding="utf-8"))


CITATIONS: dict[str, str] = words_in("sources.toml")["citations"]
NOTES: dict[str, str] = words_in("notes.toml")
"""Longer notes above tables and below figures, by their subject."""
