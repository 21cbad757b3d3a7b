"""`summary`: the main figures of a metrics.json as a table."""

import argparse
import json
import sys
from pathlib import Path

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
        figures = [
            {"task": task, "metric": name, "value": one["value"], **{key: one.get(key) for key in _FURTHER}}
            for task, metrics in content["aggregates"].items()
            for name, one in metrics.items()
        ]
        figures += [
            {"task": "composite", "metric": name, "value": value, **dict.fromkeys(_FURTHER)}
            for name, value in content["ranking"].get("composites", {}).items()
        ]
        cases, phase = content["cases"], content["phase"]["name"]
        title = f"{phase}: {cases['scored']} of {cases['expected']} cases scored"
    except (FileNotFoundError, KeyError, TypeError, AttributeError) as error:
        raise PhaseError(f"{arguments.metrics}: is not a metrics.json of this package ({error})") from None
    if arguments.json:
        content = {"phase": phase, "cases": cases, "figures": figures}
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
        return 0
    from evaluation.cli.console import TableConsole, text_table

    rows = []
    for one in figures:
        interval, deviation = one["confidence_interval"], one["standard_deviation"]
        bounds = f"{interval['lower']:.4f} – {interval['upper']:.4f}" if interval else ""
        spread = "" if deviation is None else f"{deviation:.4f}"
        rows.append((one["task"], one["metric"].replace("_", " "), f"{one['value']:.4f}", bounds, spread))
    table = text_table(title, ("task", "metric"), ("value", "95 % interval", "standard deviation"), rows)
    # A log has no width, and a folded table is unreadable.
    console = TableConsole(120, highlight=True)
    console.print(table)
    for one in figures:
        if one["interval"]:
            console.print(f"no interval of {one['task']}.{one['metric']}: {one['interval']}")
    return 0
