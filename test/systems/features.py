"""What other systems lack, for tests of one function in this process; `stand_in` runs whole commands so."""

from __future__ import annotations

import importlib

import pytest

WINDOWS: dict[str, dict[str, object]] = {
    "evaluation.io.files": {
        "_HAS_FOLDER_DESCRIPTORS": False,
        "_HAS_READV": False,
        "_NOT_IN_NAMES": frozenset("\\:"),
    },
    "evaluation.io.pixels": {"_HAS_MEMORY_FILES": False},
    "evaluation.workers.unpacking": {"_IS_WINDOWS": True},
}
IGNORING_CASE: dict[str, dict[str, object]] = {
    "evaluation.workers.unpacking": {"_ignores_case": lambda folder: True}
}


def imitate(features: dict[str, dict[str, object]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let modules find what they do on another system; they ask once, when they are imported."""
    for module, values in features.items():
        for name, value in values.items():
            monkeypatch.setattr(importlib.import_module(module), name, value)
