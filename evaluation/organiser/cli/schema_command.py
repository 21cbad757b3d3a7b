"""`schema`: the JSON schemas of metrics.json, leaderboard.json and phase.toml, and the catalogue."""

import argparse
import json
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add(
        "file",
        nargs="?",
        choices=["metrics", "leaderboard", "phase", "catalogue", "platform"],
        default="metrics",
        help="of which file; catalogue: the page of the kinds and metrics that a phase can declare; "
        "platform: the page of what is known of the platforms (default: %(default)s)",
    )
    add("--output", type=Path, metavar="FOLDER", help="write the catalogue and its families there as pages")
    add("--words", action="store_true", help="the keys of phase.toml as a page in Markdown, of phase alone")


def run(arguments: argparse.Namespace) -> int:
    """Print the schema, or a page."""
    if arguments.file == "catalogue":
        from evaluation.io.files import write_atomically
        from evaluation.organiser.schema_pages import catalogue_pages

        pages = catalogue_pages()
        if arguments.output is None:
            sys.stdout.write(pages["catalogue.md"])
        for name, text in pages.items() if arguments.output else ():
            write_atomically(arguments.output / name, text.encode())
        return 0
    if arguments.file == "platform":
        from evaluation.organiser.schema_pages import platform_page

        sys.stdout.write(platform_page())
        return 0
    if arguments.file == "phase":
        from evaluation.organiser.schema_pages import phase_schema as schema
    elif arguments.file == "metrics":
        from evaluation.platform.result_file import metrics_schema as schema
    else:
        from evaluation.organiser.ranking.leaderboard_file import leaderboard_schema as schema

    if arguments.words:
        from evaluation.core.fault import PhaseError
        from evaluation.organiser.schema_pages import config_page

        if arguments.file != "phase":
            raise PhaseError(f"--words: expected the file phase, found {arguments.file}")
        sys.stdout.write(config_page(schema()))
    else:
        sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
    return 0
