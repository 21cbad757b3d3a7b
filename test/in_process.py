"""The library's functions in the process of the tests, where another process is not the point of a test."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from evaluation import library
from evaluation.phase import registry


def run_here(
    function: str, arguments: Mapping[str, Any], progress: Callable[[int], None] | None = None
) -> Any:
    """Run a function, named "module:function", as `evaluation.isolated.run_isolated` does, but here."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)(
        **arguments, progress=progress or (lambda done: None)
    )


@pytest.fixture(scope="module", autouse=True)
def library_in_process() -> Iterator[None]:
    """Seal and evaluate without a new process each time, which takes half a second to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "run_isolated", run_here)
        yield


def forget_challenges(patch: pytest.MonkeyPatch) -> None:
    """Let the files of challenges be loaded anew, as another process does."""
    for name in ("_files", "_challenges"):
        patch.setattr(registry, name, {})
