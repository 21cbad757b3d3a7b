"""Tables of benchmarks in pages of the documentation."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path


def write_table(page: Path, name: str, lines: Sequence[str]) -> None:
    """Put lines between the marks `<!-- name -->` and `<!-- /name -->` of a page. Raises `ValueError`."""
    between = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
    table = "\n".join(["", *lines, "", ""])
    text, count = between.subn(lambda _: table, page.read_text(encoding="utf-8"))
    if count != 1:
        raise ValueError(f"{page}: expected the marks of {name} once, found {count}")
    page.write_text(text, encoding="utf-8")


def simulate(description: str | None, name: str, lines: Callable[[int], Sequence[str]]) -> None:
    """Print the lines of a simulation, or write them into a page between its marks, as the arguments ask.

    lines: takes the number of sets that are drawn.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    arguments = parser.parse_args()
    found = lines(arguments.sets)
    if arguments.write is None:
        print(*found, sep="\n")
    else:
        write_table(arguments.write, name, found)
