"""Tables of `phase.toml` that declare a part of a challenge."""

from __future__ import annotations

from typing import Any

import pydantic
from pydantic import BaseModel, ConfigDict


class DeclaredTable(BaseModel):
    """A table whose unknown keys are errors, and whose values are not converted from other types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def key(description: str, default: Any = ..., **bounds: Any) -> Any:
    """Declare a key of a `DeclaredTable` with its description, which the documentation shows."""
    return pydantic.Field(default=default, description=description, **bounds)


def title_of(name: str) -> str:
    """Return the default title of what has a name: ``"surface_dice"`` is "Surface dice"."""
    words = name.replace("_", " ").replace("-", " ")
    return words[:1].upper() + words[1:]
