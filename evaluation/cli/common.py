"""Arguments, progress and reports of errors that commands share."""

import argparse
import os
import select
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from evaluation import __version__
from evaluation.core.fault import FormFault, PhaseError, printable
from evaluation.core.trouble import MachineTrouble, trouble_of

# --- Commands, their arguments and types of these ---


class Argument:
    """An argument of a command: its name, what it is in words, and its options as `argparse` takes them."""

    def __init__(self, name: str, words: str, **options: Any) -> None:
        self._name, self._options = name, {"help": words, **options}

    @classmethod
    def path(cls, name: str, metavar: str, words: str, **options: Any) -> "Argument":
        """Return an argument that is a file or folder."""
        return cls(name, words, type=Path, metavar=metavar, **options)

    @classmethod
    def flag(cls, name: str, words: str) -> "Argument":
        """Return an argument without a value."""
        return cls(name, words, action="store_true")

    @classmethod
    def choice(cls, name: str, words: str, *options: str) -> "Argument":
        """Return an argument that is one of some options, by default the first."""
        return cls(name, f"{words} (default: {options[0]})", choices=options, default=options[0])

    def add_to(self, parser: "argparse._ActionsContainer") -> None:
        """Declare the argument."""
        parser.add_argument(self._name, **self._options)


def add_all(arguments: Iterable[Argument], parser: "argparse._ActionsContainer") -> None:
    """Declare arguments."""
    for one in arguments:
        one.add_to(parser)


@dataclass(frozen=True)
class Handler:
    """A command: what declares its arguments, and what runs it and returns the exit status."""

    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def command(*arguments: Argument) -> Callable[[Callable[[argparse.Namespace], int]], Handler]:
    """Return the decorator of a function that runs a command with these arguments."""
    return partial(Handler, partial(add_all, arguments))


Value = TypeVar("Value", int, float, Fraction)


def _argument(
    read: Callable[[str], Value], fits: Callable[[Value], bool], expected: str
) -> Callable[[str], Value]:
    """Return the ``type`` of an argument whose value can be read and fits."""

    def convert(text: str) -> Value:
        with suppress(ValueError, ZeroDivisionError):
            if fits(value := read(text)):
                return value
        raise argparse.ArgumentTypeError(f"expected {expected}, found {text!r}")

    return convert


def whole_number(least: int) -> Callable[[str], int]:
    """Return the ``type`` of an argument that is a whole number of at least ``least``."""
    return _argument(int, lambda number: number >= least, f"a whole number of at least {least}")


share = _argument(Fraction, lambda number: 0 <= number <= 1, "a number from 0 to 1")  # 0.95 or 95/100
share_below_one = _argument(float, lambda number: 0 <= number < 1, "a number from 0 to below 1")

_PHASE = "a phase folder, or the name of one below ground-truth/"
PHASE = Argument("phase", _PHASE, metavar="PHASE")
PHASES = Argument("phases", _PHASE, nargs="+", metavar="PHASE")
WORKERS = Argument(
    "--workers", "number of worker processes (default: one per processor; 0: none)", type=int, metavar="N"
)
JSON = Argument.flag("--json", "print JSON for programs, no tables")


@contextmanager
def stdout_for_json(wanted: bool) -> Iterator[None]:
    """Send meanwhile to stderr, if ``wanted``, what libraries and challenges write to stdout."""
    if not wanted:
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


# --- Progress of long commands: a bar on a terminal, none in a log ---


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield a callback for the number of finished items; it shows a bar if stdout is a terminal."""
    if not sys.stdout.isatty():
        yield lambda done: None
        return
    from rich.progress import Progress

    with Progress(transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.update(task, completed=done)


# --- Error reports of all commands: which errors are expected, and how they are printed ---

EXPECTED = (PhaseError, FormFault, OSError, ModuleNotFoundError, MachineTrouble, MemoryError)
"""Errors that a user can correct; any other is a defect of the program and ends in a traceback."""

MACHINE, STOPPED, CLOSED_PIPE = 75, 130, 141
"""Exit statuses: the machine is short of something (EX_TEMPFAIL), after Ctrl-C, and if stdout is closed."""

USE_THE_PACKAGE = f"Use the installed package, challenge-evaluation {__version__}"
"""The way out for an organiser who runs an image, which holds no code for organisers."""


def is_of_organisers(error: ModuleNotFoundError) -> bool:
    """Return whether the whole organiser's part of the package is missing, as it is in an image."""
    return error.name == "evaluation.organiser"


def status_after(error: Exception) -> int:
    """Return the exit status for an expected error."""
    return 1 if trouble_of(error, "work") is None else MACHINE


_MOST_CHARACTERS = 10_000


def problems_of(error: Exception) -> list[str]:
    """Return an expected error for the user: one line for each problem, without control characters."""
    return [printable(problem, _MOST_CHARACTERS) for problem in _problems_of(error)]


def _problems_of(error: Exception) -> list[str]:
    if trouble := trouble_of(error, "work on"):
        return [str(trouble)]
    if isinstance(error, PhaseError):
        return list(error.problems)
    if isinstance(error, FormFault):
        return [str(fault) for fault in error.faults]
    if isinstance(error, ModuleNotFoundError):
        if is_of_organisers(error):
            return [f"the part of the package for organisers is not in this image. {USE_THE_PACKAGE}"]
        if error.msg != f"No module named {error.name!r}":
            return [error.msg]  # it names the extra
        return [
            f"the Python package {error.name!r} is not installed in {sys.prefix}: install this package with "
            "'pip install .', or run ./run.sh, which installs everything into .venv"
        ]
    if isinstance(error, OSError):
        return [f"{error.filename or 'a file'}: {error.strerror or error}"]
    return [str(error)]


def status_of(command: Callable[[], int], consequence: str = "") -> int:
    """Return the exit status of a command: its own, or 1, `MACHINE` or `STOPPED` after words on stderr.

    Where its output is not read to the end, as in `rank … | head`, the status is `CLOSED_PIPE`.

    ``consequence``: a last line on the missing result.
    """
    try:
        try:
            status = command()
        except SystemExit:  # of --help
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except EXPECTED as error:
        if isinstance(error, BrokenPipeError) and _is_closed():
            return CLOSED_PIPE
        tell(problems_of(error), consequence)
        return status_after(error)
    except KeyboardInterrupt:
        tell([f"Stopped by Ctrl-C; {consequence}" if consequence else "Stopped by Ctrl-C"])
        return STOPPED
    return status


def _is_closed() -> bool:
    """Return whether stdout is closed at the other end; its pending output is then discarded."""
    descriptor = sys.stdout.fileno()
    if hasattr(select, "poll"):  # not on Windows, where no other pipe is known to break
        poll = select.poll()
        poll.register(descriptor, 0)
        if not poll.poll(0):
            return False
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
    return True


def tell(problems: Iterable[str], consequence: str = "") -> None:
    """Write problems or notes to stderr, each on a line of its own."""
    sys.stderr.write(_lines([*problems, consequence] if consequence else problems))


def say(*lines: object) -> None:
    """Write results to stdout, each on a line of its own."""
    sys.stdout.write(_lines(lines))


_LONGEST_LINE = 16_000
"""Most characters of a line; the middle of a longer one is left out."""


def _lines(lines: Iterable[object]) -> str:
    """Return lines in which no name of a stranger, or path, begins another line or controls a terminal."""
    return "".join(f"{printable(line, _LONGEST_LINE)}\n" for line in lines)
