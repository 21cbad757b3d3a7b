"""`cases`: writes or completes the case table of a phase from its files."""

import argparse
from collections.abc import Mapping

from evaluation.cli.common import PHASE, Argument, command, progress_bar, say, tell
from evaluation.io.pixels import values_in_words
from evaluation.organiser.annotation_files.writing import read_for, write_reference
from evaluation.organiser.case_files import NAME, CompletedTable, table_from_files
from evaluation.organiser.cli.shared import MAPPING
from evaluation.phase.cases import FILE_NAME
from evaluation.phase.named import phase_folder


@command(
    PHASE,
    Argument.path("--images", "FOLDER", "read names and sizes from the images in this folder"),
    Argument.path(
        "--labels",
        "CSV",
        "take over the columns of this table, which has a column name (or case) and a row for each case",
    ),
    Argument("--key", "the column of --labels that holds the names of the cases", metavar="COLUMN"),
    Argument.flag("--add", "add rows to a table that has some already"),
    Argument.path(
        "--boxes",
        "FILE",
        "write the reference from annotations: COCO, LabelMe, Pascal VOC or CVAT, a file or a folder of "
        "files, or a folder of YOLO",
    ),
    Argument.flag(
        "--empty", "cases that the annotations do not name have no objects, instead of being a fault"
    ),
    *MAPPING,
    Argument.path(
        "--archive",
        "JSON",
        "take the names of the items of an archive that grand-challenge.org exports; where these have "
        "addresses of images alone, also give the export of the images",
        nargs="+",
        default=[],
    ),
)
def run(arguments: argparse.Namespace) -> int:
    """Write the table and print the changes; return 1 where files disagree. Raises `PhaseError`."""
    folder = phase_folder(arguments.phase)
    lines: list[str] = []

    def completed(named: Mapping[str, tuple[str, str]]) -> CompletedTable:
        with progress_bar("files", 0) as progress:
            return table_from_files(
                folder,
                arguments.images,
                arguments.labels,
                progress,
                arguments.archive,
                key=arguments.key,
                add=arguments.add,
                named=named,
            )

    if arguments.boxes is None:
        table = completed({})
    else:
        has_sizes = arguments.images is not None or (folder / FILE_NAME).exists()
        found = read_for(arguments.boxes, completed({}).forms() if has_sizes else (), arguments.coco)
        sizes = {
            image: ("", "") if size is None else (str(size.width), str(size.height))
            for image, size in found.images.items()
        }
        table = completed(sizes)
        lines += write_reference(folder, found, table.forms(), arguments)
    table.write()
    lines.append(f"{table.path}: {len(table.rows)} cases, {table.added} of them new")
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
    say(*lines)
    tell(f"differs: {line}" for line in table.differing)
    return 1 if table.differing else 0
