"""`summary`: the main figures of a metrics.json as a table."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.cli.common import add_json
from evaluation.core.fault import PhaseError
from evaluation.io.json_files import read_json

_FURTHER = ("confidence_interval", "standard_deviation", "interval")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("metrics", type=Path, metavar="METRICS_JSON", help="a metrics.json that evaluate wrote")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the table. Raises `PhaseError` for any other file."""
    try:
        content = read_json(arguments.metrics)
        figures = _figures(content)
        _title(content)
    except (FileNotFoundError, KeyError, TypeError, AttributeError) as error:
        raise PhaseError(f"{arguments.metrics}: is not a metrics.json of this package ({error})") from None
    if arguments.json:
        shown = {"phase": content["phase"]["name"], "cases": content["cases"], "figures": figures}
        sys.stdout.write(json.dumps(shown, indent=2) + "\n")
    else:
        print_figures(content)
    return 0


def _figures(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    figures = [
        {"task": task, "metric": name, "value": one["value"], **{key: one.get(key) for key in _FURTHER}}
        for task, metrics in content["aggregates"].items()
        for name, one in metrics.items()
    ]
    figures += [
        {"task": "composite", "metric": name, "value": value, **dict.fromkeys(_FURTHER)}
        for name, value in content["ranking"].get("composites", {}).items()
    ]
    return figures


def _title(content: Mapping[str, Any]) -> str:
    cases = content["cases"]
    return f"{content['phase']['name']}: {cases['scored']} of {cases['expected']} cases scored"


def print_figures(content: Mapping[str, Any]) -> None:
    """Print the figures in the content of a metrics.json as a table."""
    from evaluation.cli.console import TableConsole, text_table

    rows, reasons = [], list[str]()
    for one in _figures(content):
        interval, deviation = one["confidence_interval"], one["standard_deviation"]
        bounds = f"{_shown(interval['lower'])} to {_shown(interval['upper'])}" if interval else ""
        if not bounds:
            reason = one["interval"] or _UNPUBLISHED
            reasons += [] if reason in reasons else [reason]
            bounds = f"none ({reasons.index(reason) + 1})"
        spread = "" if deviation is None else _shown(deviation)
        rows.append((one["task"], one["metric"].replace("_", " "), _shown(one["value"]), bounds, spread))
    headings = ("value", "95 % interval", "standard deviation")
    table = text_table(_title(content), ("task", "metric"), headings, rows)
    # A log has no width, and a folded table is unreadable.
    console = TableConsole(120, highlight=True)
    console.print(table)
    for number, reason in enumerate(reasons, start=1):
        console.print(f"({number}) no interval: {reason}")


_UNPUBLISHED = "this file publishes none; `report submission` shows all to organisers"


def _shown(number: float) -> str:
    """Return a number with the digits that the file has."""
    return f"{number:.12g}"
