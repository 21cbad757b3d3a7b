"""The size of an image."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height of an image in pixels."""

    width: int
    height: int

    def __str__(self) -> str:
        """Return for example ``1634 × 1634 pixels``."""
        return f"{self.width} × {self.height} pixels"
