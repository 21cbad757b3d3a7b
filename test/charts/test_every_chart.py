"""Every chart has a test in which a person computed where its marks are, on each page that has it.

The function of a chart lies in the rooms of charts, or beside the section of a report that alone shows it.
Such a test has two to five numbers, is marked with `@by_hand(the_chart, page="…")`, and reads positions, ends
of lines, axes and the order of names from the specification (`test/charts/picture.py`). What no page shows
with so few numbers (bins of many cases, labels that give way) has a test of the chart alone, marked with
`@by_hand(the_chart)`. How a chart looks is held by the specifications of its examples.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any

from evaluation.charts.chart import Chart
from test.charts.picture import computed
from test.repository import REPOSITORY

ROOMS = ("evaluation/charts", "evaluation/organiser/report")
PAGES = ("evaluation/charts/published.py", "evaluation/organiser/report")
COMPUTED = computed()


def chart_functions() -> dict[str, Callable[..., Any]]:
    """Return the functions that make a chart of data, by name."""
    found = {}
    for path in (path for room in ROOMS for path in sorted((REPOSITORY / room).rglob("*.py"))):
        module = importlib.import_module(".".join(path.relative_to(REPOSITORY).with_suffix("").parts))
        for name, function in inspect.getmembers(module, inspect.isfunction):
            made = inspect.get_annotations(function, eval_str=True).get("return")
            own = function.__module__ == module.__name__ and not name.startswith("_")
            if own and made in (Chart, Chart | None):
                found[name] = function
    return found


def test_a_person_computed_the_positions_of_every_chart_on_every_page():
    charts, missing = chart_functions(), []
    assert len(charts) > 15
    assert set(charts) == {name for name, page in COMPUTED if page}
    for room in PAGES:
        for path in sorted((REPOSITORY / room).rglob("*.py")) or [REPOSITORY / room]:
            if path.parent.name == "charts" and path.parent != REPOSITORY / "evaluation/charts":
                continue
            page = path.relative_to(REPOSITORY / "evaluation").as_posix()
            called = set(re.findall(r"\b(\w+)\(", path.read_text(encoding="utf-8"))) & set(charts)
            missing += [(name, page) for name in sorted(called) if (name, page) not in COMPUTED]
    assert missing == []
