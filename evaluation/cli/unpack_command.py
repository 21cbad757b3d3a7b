"""`unpack`: unpacks a submission into the layout of /input."""

import argparse
import shutil

from evaluation.workers.unpacking import unpack


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
