"""Compares the golden figures with what the code computes, or writes them: see ``scripts/golden.sh``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from test.golden.figures import computed, differences
from test.golden.inputs import make
from test.golden.sources import FOLDER, SOURCES, Source


def compared(source: Source, write: bool) -> list[str]:
    """Return what differs of a phase, with the file; nothing differs that is written anew."""
    if not source.input.exists():
        if not write:
            return [f"{source.input.relative_to(FOLDER)}: expected the phase's input; --write makes it"]
        source.folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory() as between:
            make(source, Path(between), source.input)
    with tempfile.TemporaryDirectory() as between:
        try:
            texts = computed(source, Path(between))
        except RuntimeError as error:
            return [f"{source.folder.name}: {error}"]
    found = []
    for name, text in texts.items():
        file = source.folder / name
        if write:
            file.write_text(text, encoding="utf-8")
        else:
            before = file.read_text(encoding="utf-8") if file.exists() else "{}"
            found += [f"{file.relative_to(FOLDER)}: {line}" for line in differences(before, text)]
    return found


def main() -> int:
    """Compare or write the figures of the phases named, or of all; 1 where any differs."""
    parser = argparse.ArgumentParser(prog="scripts/golden.sh")
    parser.add_argument("--write", action="store_true", help="write the figures anew, and input that lacks")
    parser.add_argument("phases", nargs="*", metavar="PHASE", help="folders of test/golden (default: all)")
    options = parser.parse_args()
    if unknown := [name for name in options.phases if name not in SOURCES]:
        parser.error(f"unknown: {', '.join(unknown)}; test/golden has {', '.join(SOURCES)}")
    sources = [SOURCES[name] for name in options.phases or SOURCES]
    differing = 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for lines in pool.map(lambda source: compared(source, options.write), sources):
            differing += len(lines)
            sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.write(f"{len(sources)} phases, {differing} values differ\n")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
