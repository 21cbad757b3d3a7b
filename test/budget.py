"""Which tests that take long a run tries: as many as a budget of time has room for, others at each commit.

`durations.json` holds how many seconds each of them took, and the fixtures that tests of a file share:
`pytest --store-durations` writes it. What takes less than a second, or is new, is not in it and always tried.
A choice that fits the budget, such as the tests of a file, is tried whole, and with `EVALUATION_THOROUGH=1`
everything.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from .repository import THOROUGH, commit

BUDGET = float(os.environ.get("EVALUATION_TEST_SECONDS", "260"))
"""Seconds of the tests that are chosen, which processes share; 0 for those that every run tries."""
LONG = 1.0
"""Seconds from which on a test or a fixture takes long."""
ALWAYS = (
    "test/docs/test_pages.py::test_every_command_of_the_readme",
    "test/container/test_platform.py::test_streams_and_statuses",
    "test/test_leaves.py::test_the_tests_of_the_rest_are_collected[all]",
    "test/workers/test_scorers.py",
    "test/workers/test_situations.py",
)
"""How the names of tests begin that each run tries whatever they take."""
_FILE = Path(__file__).with_name("durations.json")


@cache
def known() -> Mapping[str, float]:
    """Return the seconds of tests and shared fixtures that take long, by their name."""
    seconds: dict[str, float] = json.loads(_FILE.read_text(encoding="utf-8"))
    return seconds


def shared_by(item: pytest.Item) -> str:
    """Return the name of the fixtures that a test shares with others of its file, with their parameters."""
    file = item.nodeid.partition("::")[0]
    fixtures = item._fixtureinfo.name2fixturedefs  # type: ignore[attr-defined]
    names = sorted(
        name for name, found in fixtures.items() if found[-1].scope == "module" and found[-1].baseid == file
    )
    if not names:
        return ""
    call = getattr(item, "callspec", None)
    values = [f"{name}={call.params[name]}" for name in names if call and name in call.params]
    return " ".join([file, *names, *values])


def beyond_the_budget(
    items: Sequence[pytest.Item],
    budget: float = BUDGET,
    seconds_of: Mapping[str, float] | None = None,
    seed: str | None = None,
    thorough: bool = THOROUGH,
) -> set[str]:
    """Return the names of the tests that a run leaves out; tests that share a dear fixture stay together.

    ``seconds_of``: what is known of how long they take. ``seed``: by default the commit.
    """
    if thorough:
        return set()
    seconds_of = known() if seconds_of is None else seconds_of
    together: dict[str, list[str]] = defaultdict(list)
    for item in items:
        if not item.nodeid.startswith(ALWAYS):
            shared = shared_by(item)
            together[shared if shared in seconds_of else item.nodeid].append(item.nodeid)
    costs = {
        name: seconds_of.get(name, 0) + sum(seconds_of.get(test, 0) for test in tests if test != name)
        for name, tests in together.items()
    }
    long = sorted(name for name, seconds in costs.items() if seconds >= LONG)
    if sum(costs[name] for name in long) <= budget:
        return set()
    random.Random(commit() if seed is None else seed).shuffle(long)
    left, left_out = float(budget), set()
    for name in long:
        if left <= 0:
            left_out.update(together[name])
        left -= costs[name]
    return left_out


class Store:
    """A plugin of pytest that writes how long tests and shared fixtures took, and keeps what did not run."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)
        self._shared: dict[str, str] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note what tests share."""
        self._shared = {item.nodeid: shared_by(item) for item in items}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what a part of a test took."""
        shared = self._shared[report.nodeid] if report.when == "setup" else ""
        self._seconds[shared or report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write the file, without tests that there are no more in a file of which any was collected."""
        names = {*self._shared, *self._shared.values()}
        files = {name.partition("::")[0] for name in self._shared}
        kept = {
            name: seconds
            for name, seconds in known().items()
            if name not in self._seconds and (name in names or re.split("::| ", name)[0] not in files)
        }
        found = {name: round(seconds, 1) for name, seconds in self._seconds.items() if seconds >= LONG}
        text = json.dumps({**kept, **found}, indent=0, sort_keys=True, ensure_ascii=False)
        _FILE.write_text(f"{text}\n", encoding="utf-8")
