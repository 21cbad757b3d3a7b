"""One browser and one sealed copy of each phase for all tests of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from test.in_process import library_in_process
from test.organiser.report.browser import browser
from test.organiser.report.submissions import Bundled, bundled

__all__ = ["bundled_phase", "chromium", "library_in_process"]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Chromium without a network."""
    with browser() as started:
        yield started


@pytest.fixture(autouse=True)
def closed_windows(request: pytest.FixtureRequest) -> Iterator[None]:
    """Close the windows that a test has opened; those of a file's fixtures are there before it."""
    if "chromium" not in request.fixturenames:
        yield
        return
    started = request.getfixturevalue("chromium")
    before = list(started.contexts)
    yield
    for window in started.contexts:
        if window not in before:
            window.close()


@pytest.fixture(scope="session")
def bundled_phase(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Bundled]:
    """Return a bundled phase by name, with its submission scored once."""
    folder = tmp_path_factory.mktemp("bundled")
    return lambda name: bundled(name, folder)
