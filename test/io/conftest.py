"""Hides from the tests of this folder the modules that a confined reader has not imported."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def counts_as_large(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function by which any image is read as large ones are, of which a true one takes minutes."""

    def patch(*limits: str) -> None:
        for name in limits:
            monkeypatch.setattr(f"evaluation.{name}", -1)

    return patch
