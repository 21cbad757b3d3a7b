"""Publications that figures follow and that the methods paragraph cites, from `templates/sources.toml`."""

import tomllib
from pathlib import Path
from typing import Any


def words_in(name: str) -> dict[str, Any]:
    """Return the content of a TOML file of the templates."""
    return tomllib.loads((Path(__file__).parent / "templates" / name).read_text(encoding="utf-8"))


_SOURCES = words_in("sources.toml")
CITATIONS: dict[str, str] = _SOURCES["citations"]
NOTES: dict[str, str] = words_in("notes.toml")
"""Longer notes above tables and below figures, by their subject."""
WIESENFARTH = "Wiesenfarth et al. 2021"


def followed(challenge: str, what: str, otherwise: str = "") -> str:
    """Return the figure of the challenge's paper with the same content, or ``otherwise``."""
    figure = _SOURCES["figures"].get(challenge, {}).get(what)
    return f"{figure} of {_SOURCES['papers'][challenge]}" if figure else otherwise


def wiesenfarth(figure: str) -> str:
    """Return the published model of a figure: a kind of figure of challengeR."""
    return f"the {figure} of {WIESENFARTH}"
