"""Arguments that several commands of organisers have, and what is made of them."""

from __future__ import annotations

import argparse
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from evaluation.cli.common import Argument, Handler, say, whole_number

if TYPE_CHECKING:
    from evaluation.organiser.report_library import Report

Parts: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""The sub-commands of a command, to which one can be added."""


SEED = Argument("--seed", "of the draw (default: %(default)s)", type=whole_number(0), default=0)
FIGURES = Argument.path(
    "--figures", "FOLDER", "also write every figure there as SVG, PDF, PNG, CSV and Vega-Lite"
)
MAPPING = (
    Argument("--field", "the field of the annotations, where several could hold them", metavar="NAME"),
    Argument(
        "--class",
        "the class of the phase that a label of the annotations means; LABEL= leaves these out",
        dest="classes",
        action="append",
        default=[],
        metavar="LABEL=CLASS",
    ),
    Argument.flag("--without-crowds", "leave out annotations of COCO with iscrowd"),
    Argument.path("--coco", "FILE", "the COCO file with the images and classes of COCO results"),
)
"""How annotations are mapped."""


# --- The parts of `fuse` and `report`, some of which are in leaf rooms ---


def add_fused(parts: Parts, package: str, name: str, summary: str) -> argparse.ArgumentParser:
    """Return the new parser of a part of `fuse`; a template in its package names the files."""
    read = (files(package) / "templates" / f"fuse-{name}.txt").read_text(encoding="utf-8")
    layout = argparse.RawDescriptionHelpFormatter
    return parts.add_parser(name, help=summary, description=read, formatter_class=layout)


def report_folder(arguments: argparse.Namespace) -> Path:
    """Return the folder of the report on a reference, by default beside the reference."""
    output: Path = arguments.output
    return arguments.report or output.with_name(f"{output.name}-report")


def add_report(parts: Parts, name: str, content: str, handler: Handler) -> None:
    """Add a part of `report`."""
    summary = f"Write {content}, for the organiser."
    parser = parts.add_parser(name, help=summary, description=summary)
    parser.set_defaults(write=handler.run)
    handler.add_arguments(parser)


def write_report(report: Report, arguments: argparse.Namespace) -> int:
    """Write a report and its figures, and return the exit status."""
    report.write(arguments.output)
    if arguments.figures is not None:
        report.write_figures(arguments.figures)
    say(arguments.output)
    return 0
