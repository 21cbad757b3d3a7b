"""`summary`: the main figures of a metrics.json as a table."""

import argparse
import json
import sys

from evaluation.core.fault import PhaseError
from evaluation.io.json_files import read_json


def run(arguments: argparse.Namespace) -> int:
    """Print the table. Raises `PhaseError` for any other file."""
    try:
        content = read_json(arguments.metrics)
        rows = [
            (
                task,
                name,
                estimate["value"],
                estimate.get("confidence_interval"),
                estimate.get("standard_deviation"),
                estimate.get("interval"),
            )
            for task, metrics in content["aggregates"].items()
            for name, estimate in metrics.items()
        ]
        rows += [
            ("composite", name, value, None, None, None)
            for name, value in content["ranking"].get("composites", {}).items()
        ]
        cases = content["cases"]
        title = f"{content['phase']['name']}: {cases['scored']} of {cases['expected']} cases scored"
    except (FileNotFoundError, KeyError, TypeError, AttributeError) as error:
        raise PhaseError(f"{arguments.metrics}: is not a metrics.json of this package ({error})") from None
    if arguments.json:
        names = ("task", "metric", "value", "confidence_interval", "standard_deviation", "interval")
        figures = [dict(zip(names, row, strict=True)) for row in rows]
        content = {"phase": content["phase"]["name"], "cases": cases, "figures": figures}
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
        return 0
    from evaluation.cli.console import TableConsole, text_table

    cells = [
        (
            task,
            name.replace("_", " "),
            f"{value:.4f}",
            f"{interval['lower']:.4f} – {interval['upper']:.4f}" if interval else "",
            "" if deviation is None else f"{deviation:.4f}",
        )
        for task, name, value, interval, deviation, _ in rows
    ]
    table = text_table(title, ("task", "metric"), ("value", "95 % interval", "standard deviation"), cells)
    # A log has no width, and a folded table is unreadable.
    console = TableConsole(120, highlight=True)
    console.print(table)
    for task, name, *_, reason in rows:
        if reason:
            console.print(f"no interval of {task}.{name}: {reason}")
    return 0
