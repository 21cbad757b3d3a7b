"""Looks at what is left of a copy of the repository without leaf rooms: imports, commands, and what they say.

    python -m test.leafless '[{"gone": ["paper"], "lines": [["summary", "--help"]]}]'

Runs in the folder of the copy, and takes rooms away and puts them back. The first process imports what has no
room, without any leaf there. Each look is a fork of it with some leaves there: it imports these, the tests
that may need a leaf, and the table of commands, which takes two seconds instead of twenty.
Prints an object of JSON a line for each look.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from .rooms import ALL_LEAVES

OTHERS = (
    *("SimpleITK", "altair", "grand_challenge_forge.forge", "grand_challenge_metrics", "hypothesis"),
    *("hypothesis.extra.numpy", "jinja2", "jsonschema", "numpy.testing", "pandas", "pypdf", "rich.progress"),
    *("scipy.optimize", "scipy.stats", "sklearn.isotonic", "sklearn.metrics", "vl_convert", "yaml"),
    "zlib_ng.gzip_ng",
)
"""Packages that take long to import, and that many tests use."""
LATE = ("evaluation.cli.main", "evaluation.organiser.cli.completion_command")
"""The modules that look for rooms when they are imported."""
NEVER = ("evaluation.__main__", "test.leafless")
NAMES_A_ROOM = re.compile(rf"\brooms\b|importorskip|organiser\b\W+(import )?({'|'.join(ALL_LEAVES)})\b")
"""What stands in a module of the tests that may need a room; no other one knows of any."""


@contextlib.contextmanager
def without(leaves: Sequence[str], kept: Path, copy: Path = Path()) -> Iterator[None]:
    """Take rooms and their tests away from a copy into another folder, and put them back."""
    rooms = [copy / wing / "organiser" / leaf for leaf in leaves for wing in ("evaluation", "test")]
    away = {room: kept / f"{room.parts[-3]}-{room.name}" for room in rooms if room.is_dir()}
    for room, place in away.items():
        shutil.move(room, place)
    try:
        yield
    finally:
        for room, place in away.items():
            shutil.move(place, room)


def modules_of(folder: str) -> list[str]:
    """Return the names of the modules below a folder, of tests those that may need a room."""
    found = []
    for path in sorted(Path(folder).rglob("*.py")):
        if folder == "evaluation" or NAMES_A_ROOM.search(path.read_text(encoding="utf-8")):
            parts = path.with_suffix("").parts
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return [name for name in found if name not in NEVER]


def failures(modules: Sequence[str]) -> dict[str, str]:
    """Import modules, and return the last lines of what was raised by those that cannot be."""
    failed = {}
    for name in modules:
        try:
            importlib.import_module(name)
        except pytest.skip.Exception:
            continue  # a module of tests that says what it needs
        except Exception:
            failed[name] = traceback.format_exc()[-600:]
    return failed


def said(arguments: Sequence[str]) -> tuple[int, str]:
    """Return the status of a command in a process of its own, and all that it printed."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        process = os.fork()
        if process == 0:
            from evaluation.cli.main import main

            for number in (1, 2):
                os.dup2(printed.fileno(), number)
            try:
                status = main(arguments)
            except SystemExit as ended:
                status = int(ended.code or 0)
            except BaseException:
                status = 70
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        printed.seek(0)
        return status, printed.read()


def named_commands() -> set[str]:
    """Return the commands that the help of any command or the completion names."""
    from evaluation.cli.main import COMMANDS, parser_of

    named: set[str] = set()
    for name, command in COMMANDS.items():
        module = importlib.import_module(f"evaluation.{command.module}")
        named |= set(re.findall("-m evaluation ([a-z]+)", parser_of(name, module).format_help()))
    return named | set(re.findall("__fish_use_subcommand -a ([a-z]+)", said(["completion", "fish"])[1]))


def look(lines: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return what cannot be imported here, which commands there are, and what they say."""
    importlib.invalidate_caches()
    del sys.modules["test.rooms"]  # it looks for rooms, and was imported where all were there
    failed = failures([*modules_of("evaluation"), *modules_of("test")])
    from evaluation.cli.main import COMMANDS

    return {
        "failed": failed,
        "tests": [name for name in sys.modules if name.startswith("test.")],
        "commands": sorted(COMMANDS),
        "named": sorted(named_commands()),
        "said": [said(line) for line in lines],
    }


def look_in_a_fork(lines: Sequence[Sequence[str]]) -> None:
    """Print what a look finds, or why it ended early."""
    process = os.fork()
    if process == 0:
        try:
            sys.stdout.write(json.dumps(look(lines)) + "\n")
        except BaseException:
            sys.stdout.write(json.dumps({"failed": {"the look": traceback.format_exc()}}) + "\n")
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(process, 0)


def main() -> None:
    """Look at the copy without the rooms of each argument."""
    for name in OTHERS:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as kept:
        with without(ALL_LEAVES, Path(kept)):
            if failed := failures([name for name in modules_of("evaluation") if name not in LATE]):
                sys.exit(f"without any leaf: {failed}")
        for wanted in json.loads(sys.argv[1]):
            with without(wanted["gone"], Path(kept)):
                look_in_a_fork(wanted["lines"])


if __name__ == "__main__":
    main()
