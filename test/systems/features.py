"""What other systems lack, for tests of one function in this process; `stand_in` runs whole commands so."""

from __future__ import annotations

from types import ModuleType

import pytest

from evaluation.io import files, pixels
from evaluation.workers import unpacking

WINDOWS: dict[ModuleType, dict[str, object]] = {
    files: {
        "_HAS_FOLDER_DESCRIPTORS": False,
        "_HAS_READV": False,
        "_NOT_IN_NAMES": frozenset("\\:"),
    },
    pixels: {"_HAS_MEMORY_FILES": False},
    unpacking: {"_IS_WINDOWS": True},
}
IGNORING_CASE: dict[ModuleType, dict[str, object]] = {unpacking: {"_ignores_case": lambda folder: True}}


def imitate(features: dict[ModuleType, dict[str, object]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let modules find what they do on another system; they ask once, when they are imported."""
    for module, values in features.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)
