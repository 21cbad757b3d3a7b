"""`form`: the participants' part of a phase, as a file for `check` or in words."""

import argparse
import sys
from pathlib import Path

from evaluation.cli.common import add_phase
from evaluation.io.files import write_atomically
from evaluation.phase.form_file import format_in_words, write_form
from evaluation.phase.named import named_phase


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add_phase(parser)
    add("--words", action="store_true", help="the format in words (Markdown), for the challenge's web page")
    add("--output", type=Path, metavar="FILE", help="where to write (default: standard output)")


def run(arguments: argparse.Namespace) -> int:
    """Write the form. Raises `PhaseError` if the phase has faults."""
    form = named_phase(arguments.phase).form
    data = format_in_words(form).encode("utf-8") if arguments.words else write_form(form)
    if arguments.output is None:
        sys.stdout.buffer.write(data)
    else:
        write_atomically(arguments.output, data)
    return 0
