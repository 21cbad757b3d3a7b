"""Tables of `phase.toml` that declare a part of a challenge."""

from __future__ import annotations

from typing import Any

import pydantic
from pydantic import BaseModel, ConfigDict


class DeclaredTable(BaseModel):
    """A table that rejects unknown keys and does not convert values from other types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def key(description: str, default: Any = ..., **bounds: Any) -> Any:
    """Declare a key of a `DeclaredTable` with its description, which the documentation shows."""
    return pydantic.Field(default=default, description=description, **bounds)


def title_of(name: str) -> str:
    """Return the default title of a name: ``"surface_dice"`` gives "Surface dice"."""
    words = name.replace("_", " ").replace("-", " ")
    return words[:1].upper() + words[1:]
