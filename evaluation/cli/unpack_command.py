"""`unpack`: unpacks a submission into the layout of /input."""

import argparse
import shutil
from pathlib import Path

from evaluation.workers.unpacking import unpack


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("submission", type=Path, metavar="SUBMISSION", help="a zip, a csv file or a folder")
    add("folder", type=Path, metavar="FOLDER", help="where to, empty or to be made")


def run(arguments: argparse.Namespace) -> int:
    """Unpack a submission. Raises `FormFault` or `OSError` if it cannot be unpacked."""
    submission, folder = arguments.submission, arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(0, "is not empty", str(folder))
    if submission.is_dir():
        shutil.copytree(submission, folder, symlinks=True, dirs_exist_ok=True)
    else:
        unpack(submission, folder)
    return 0
