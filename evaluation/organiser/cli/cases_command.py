"""`cases`: writes or completes the case table of a phase from its files."""

import argparse
import sys
from pathlib import Path

from evaluation.cli.common import add_phase, progress_bar
from evaluation.io.pixels import values_in_words
from evaluation.organiser.case_files import NAME, table_from_files
from evaluation.phase.named import phase_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add_phase(parser)
    add("--images", type=Path, metavar="FOLDER", help="read names and sizes from the images in this folder")
    add(
        "--labels",
        type=Path,
        metavar="CSV",
        help="take over the columns of this table, which has a column name (or case) and a row for each case",
    )
    add("--key", metavar="COLUMN", help="the column of --labels that holds the names of the cases")
    add("--add", action="store_true", help="add rows to a table that has some already")
    add(
        "--archive",
        type=Path,
        nargs="+",
        default=[],
        metavar="JSON",
        help="take the names of the items of an archive that grand-challenge.org exports; where these have "
        "addresses of images alone, also give the export of the images",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the table and print the changes; return 1 where files disagree. Raises `PhaseError`."""
    folder = phase_folder(arguments.phase)
    with progress_bar("files", 0) as progress:
        table = table_from_files(
            folder,
            arguments.images,
            arguments.labels,
            progress,
            arguments.archive,
            key=arguments.key,
            add=arguments.add,
        )
    table.write()
    lines = [f"{table.path}: {len(table.rows)} cases, {table.added} of them new"]
    if table.renamed:
        lines.append(f"written without the extension of files: {table.renamed} names")
    if table.left_out:
        names = values_in_words([*table.left_out.values()])
        lines.append(f"without a row, which --add writes: {names}")
    if table.filled:
        lines.append(f"filled: {', '.join(f'{name} ({count})' for name, count in table.filled.items())}")
    if table.empty:
        counts = ", ".join(f"{name} ({count})" for name, count in table.empty.items() if name != NAME)
        lines.append(f"still empty: {counts}")
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stderr.write("".join(f"differs: {line}\n" for line in table.differing))
    return 1 if table.differing else 0
