"""Commands on files for participants: `form`, `unpack` and `summary`."""

import argparse
import json
import shutil
import sys

from evaluation.cli.common import JSON, PHASE, Argument, command
from evaluation.cli.console import figures_in, print_figures, title_of
from evaluation.core.fault import PhaseError
from evaluation.io.files import write_atomically
from evaluation.io.json_files import read_json
from evaluation.phase.form_file import format_in_words, write_form
from evaluation.phase.named import named_phase
from evaluation.workers.unpacking import unpack


@command(
    PHASE,
    Argument.flag("--words", "the format in words (Markdown), for the challenge's web page"),
    Argument.path("--output", "FILE", "where to write (default: standard output)"),
)
def run_form(arguments: argparse.Namespace) -> int:
    """Write the form. Raises `PhaseError` if the phase has faults."""
    form = named_phase(arguments.phase).form
    data = format_in_words(form).encode("utf-8") if arguments.words else write_form(form)
    if arguments.output is None:
        sys.stdout.buffer.write(data)
    else:
        write_atomically(arguments.output, data)
    return 0


@command(
    Argument.path("submission", "SUBMISSION", "a zip, a csv file or a folder"),
    Argument.path("folder", "FOLDER", "where to, empty or to be made"),
)
def run_unpack(arguments: argparse.Namespace) -> int:
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


@command(
    Argument.path("metrics", "METRICS_JSON", "a metrics.json that evaluate wrote"),
    JSON,
)
def run_summary(arguments: argparse.Namespace) -> int:
    """Print the table. Raises `PhaseError` for any other file."""
    try:
        content = read_json(arguments.metrics)
        figures = figures_in(content)
        title_of(content)
    except (FileNotFoundError, KeyError, TypeError, AttributeError) as error:
        raise PhaseError(f"{arguments.metrics}: is not a metrics.json of this package ({error})") from None
    if arguments.json:
        shown = {"phase": content["phase"]["name"], "cases": content["cases"], "figures": figures}
        sys.stdout.write(json.dumps(shown, indent=2) + "\n")
    else:
        print_figures(content)
    return 0
