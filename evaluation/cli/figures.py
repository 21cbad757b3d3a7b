"""The figures of a metrics.json as a table on the terminal or in a log."""

from collections.abc import Mapping
from typing import Any

_FURTHER = ("confidence_interval", "with_unseen_failures", "standard_deviation", "interval")


def figures_in(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the figures and composites in the content of a metrics.json, a dictionary each."""
    return [
        {"task": task, "metric": name, "value": one["value"], **{key: one.get(key) for key in _FURTHER}}
        for tasks in (content["aggregates"], {"composite": content["ranking"].get("composites", {})})
        for task, metrics in tasks.items()
        for name, one in metrics.items()
    ]


def title_of(content: Mapping[str, Any]) -> str:
    """Return the phase, and how many of its cases were scored."""
    cases = content["cases"]
    return f"{content['phase']['name']}: {cases['scored']} of {cases['expected']} cases scored"


def print_figures(content: Mapping[str, Any]) -> None:
    """Print the figures in the content of a metrics.json as a table."""
    from evaluation.cli.console import TableConsole, text_table  # which neither help nor JSON needs

    rows, reasons = [], list[str]()
    for one in figures_in(content):
        deviation = one["standard_deviation"]
        bounds, unseen = (_between(one[name]) for name in ("confidence_interval", "with_unseen_failures"))
        if not bounds:
            reason = one["interval"] or _UNPUBLISHED
            reasons += [] if reason in reasons else [reason]
            bounds = f"none ({reasons.index(reason) + 1})"
        spread = "" if deviation is None else _shown(deviation)
        name = one["metric"].replace("_", " ")
        rows.append((one["task"], name, _shown(one["value"]), bounds, unseen, spread))
    headings = ("value", "95 % interval", "unseen failures", "standard deviation")
    table = text_table(title_of(content), ("task", "metric"), headings, rows)
    # A log has no width, and a folded table is unreadable.
    console = TableConsole(120, highlight=True)
    console.print(table)
    for number, reason in enumerate(reasons, start=1):
        console.print(f"({number}) no interval: {reason}")


_UNPUBLISHED = "this file publishes none; `report submission` shows all to organisers"


def _between(interval: Mapping[str, float] | None) -> str:
    return f"{_shown(interval['lower'])} to {_shown(interval['upper'])}" if interval else ""


def _shown(number: float) -> str:
    """Return a number with the digits that the file has."""
    return f"{number:.12g}"
