"""Runs all benchmarks of speed and writes their table to benchmarks/speed.md.

    python -m benchmarks [--runs 5] [--only refuge justraigs]
    python -m benchmarks --against COMMIT [--runs 5] [--only refuge justraigs]

With ``--only`` the table is printed and not written. It takes about half an hour on two cores; nothing else
should run meanwhile. With ``--against`` the commands of rows that are whole processes run with the code of
another commit and with this one, in turn. Rows that became slower by more than a tenth are named, with the
status 1.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

from benchmarks import adam, again, cysts, displacement, edd2020, instances, justraigs, refuge, start, volumes
from benchmarks.against import slower
from benchmarks.measure import Contest, Row, rows_of

_PAGE = Path(__file__).resolve().parent / "speed.md"
_PACKAGES = (
    "numpy",
    "scipy",
    "simpleitk",
    "pydantic",
    "pillow",
    "zlib-ng",
    "scikit-learn",
    "pycocotools",
    "faster-coco-eval",
)

_CONTESTS: Mapping[str, Callable[[], Iterator[Contest]]] = {
    "refuge": refuge.contests,
    "justraigs": justraigs.contests,
    "edd2020": edd2020.contests,
    "adam": lambda: adam.contests(noises=(0.0,), rival=True),
    "cysts": cysts.contests,
    "volumes": volumes.contests,
}


def _rows_of(name: str, runs: int) -> list[Row]:
    rows = rows_of(_CONTESTS[name](), runs)
    return [*rows, *edd2020.rows_in_memory(runs=runs)] if name == "edd2020" else rows


_BENCHMARKS: Mapping[str, Callable[[int], list[Row]]] = {
    "start": lambda runs: start.rows(max(runs, 11)),
    **{name: partial(_rows_of, name) for name in _CONTESTS},
    "again": lambda runs: again.rows(),
    "instances": instances.rows,
    "displacement": displacement.rows,
}

_INTRODUCTION = """# Speed

Written by `python -m benchmarks`. Every time is the median of whole processes, from their start to
`metrics.json`, with worker processes and all intervals, unless the row says otherwise; the commands of a
table are run in turn, and one that takes more than 20 seconds only once. "Its time / ours" compares each
with the first row of its table. Peak memory is that of the largest process. A *floor* does only what nobody
can avoid, such as reading or decoding the same files; a *rival* is another program for the same task.
"""


def main() -> None:
    """Run the benchmarks and write their table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=_BENCHMARKS, metavar="NAME")
    parser.add_argument("--against", metavar="COMMIT", help="what git calls another commit")
    arguments = parser.parse_args()
    if arguments.against:
        names = [name for name in arguments.only or _CONTESTS if name in _CONTESTS]
        contests = (contest for name in names for contest in _CONTESTS[name]())
        found = slower(arguments.against, contests, arguments.runs)
        print("\nslower by more than a tenth:", "; ".join(found) or "none")
        sys.exit(bool(found))
    rows = [row for name in arguments.only or _BENCHMARKS for row in _BENCHMARKS[name](arguments.runs)]
    page = page_of(rows, machine())
    if arguments.only:
        print(f"\n{page}")
        return
    _PAGE.write_text(page, encoding="utf-8")


def machine() -> str:
    """Return in a line where and when the benchmarks ran."""
    processor = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    today = datetime.datetime.now(datetime.UTC).date()
    name = processor.group(1) if processor else platform.processor()
    return f"{today}: {os.cpu_count()} cores of {name}, Python {platform.python_version()}, {packages}."


def page_of(rows: Sequence[Row], where: str) -> str:
    """Return the page of all rows, a table for each title."""
    parts = [_INTRODUCTION, f"\n{where}\n"]
    for title in dict.fromkeys(row.title for row in rows):
        parts.append(f"\n## {title}\n\n| | seconds | its time / ours | peak MB |\n|---|---|---|---|\n")
        parts += [_line(row) for row in rows if row.title == title]
    return "".join(parts)


def _line(row: Row) -> str:
    peak = "" if row.peak_megabytes is None else f"{row.peak_megabytes:.0f}"
    return f"| {row.name} | {row.seconds:.3f} | {_ratio(row)} | {peak} |\n"


def _ratio(row: Row) -> str:
    return "" if row.ratio is None else f"{row.ratio:.2g}"


if __name__ == "__main__":
    main()
