"""Draws the pictures of README.md and of the pages in docs/ anew, from reports as they look now.

    .venv/bin/python -m scripts.pictures [FOLDER, default docs]

It needs Debian's chromium and takes a minute. A machine draws the same bytes again; fonts differ elsewhere.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from test.organiser.report.boards import ranked_teams
from test.organiser.report.browser import browser

REPOSITORY = Path(__file__).resolve().parents[1]
TEAMS = ("Amber", "Birch", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Heath")
_COLOURS = 64
_MOST_MILLISECONDS = 600_000


@dataclass(frozen=True)
class Shot:
    """A picture: of which report, how large (pixels), in which theme, from which section on."""

    report: str
    width: int
    height: int
    theme: str = "light"
    section: str = ""


PICTURES = {
    "declared.png": Shot("declared", 1100, 780),
    "leaderboard.png": Shot("leaderboard", 1100, 1080),
    "report-metrics.png": Shot("submission", 1100, 1080),
    "report-pictures.png": Shot("submission", 1100, 800, section="pictures"),
    "report-phone.png": Shot("submission", 390, 844, "dark", "classification"),
    "gallery-organs.png": Shot("organs", 1100, 700, section="pictures"),
    "gallery-cells.png": Shot("cells", 1100, 700, section="pictures"),
    "gallery-disease.png": Shot("disease", 1100, 900, section="classification"),
    "gallery-polyps.png": Shot("polyps", 1100, 900, section="detection"),
    "gallery-months.png": Shot("months", 1100, 800, section="survival"),
}
GALLERY = {
    "organs": "ct-segmentation",
    "cells": "instances",
    "disease": "classification",
    "polyps": "detection",
    "months": "survival",
}
"""The templates of the reports in docs/gallery.md, by the names that its commands give them."""


def _run(folder: Path, *arguments: str) -> None:
    program = [sys.executable, "-m", "evaluation", *arguments]
    subprocess.run(program, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own


def reports(folder: Path) -> None:
    """Write the reports of all pictures into a folder, as a reader's commands do."""
    shutil.copytree(REPOSITORY / "ground-truth/refuge-onsite", folder / "refuge-onsite")
    _run(folder, "seal", "refuge-onsite")
    submission = ("--input", str(REPOSITORY / "test/input/refuge-onsite"), "--output", "submission.html")
    _run(folder, "report", "submission", "--ground-truth", "refuge-onsite", *submission)
    _run(folder, "new", "abdomen", "--like", "ct-segmentation")
    _run(folder, "seal", "abdomen/phase")
    submission = ("--input", "abdomen/submission", "--public", "--output", "declared.html")
    _run(folder, "report", "submission", "--ground-truth", "abdomen/phase", *submission)
    for name, like in GALLERY.items():
        _run(folder, "new", name, "--like", like)
        _run(folder, "seal", f"{name}/phase")
        given = ("--ground-truth", f"{name}/phase", "--input", f"{name}/submission")
        _run(folder, "report", "submission", *given, "--output", f"{name}.html")
    board = ranked_teams(folder, TEAMS, 120, 1000).folder
    _run(folder, "report", "leaderboard", str(board), "--output", "leaderboard.html")


def drawn(started: Any, folder: Path, shot: Shot) -> bytes:
    """Return a picture of a report as PNG."""
    size = {"width": shot.width, "height": shot.height}
    with started.new_context(viewport=size, color_scheme=shot.theme, offline=True) as window:
        page = window.new_page()
        address = (folder / f"{shot.report}.html").as_uri()
        page.goto(f"{address}#{shot.section}".rstrip("#"), timeout=_MOST_MILLISECONDS)
        page.wait_for_selector("html[data-state=drawn]", state="attached", timeout=_MOST_MILLISECONDS)
        seen: bytes = page.screenshot()
    written = io.BytesIO()
    Image.open(io.BytesIO(seen)).convert("RGB").quantize(_COLOURS).save(written, "PNG", optimize=True)
    return written.getvalue()


def pictures() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each picture."""
    with tempfile.TemporaryDirectory() as given, browser() as started:
        reports(Path(given))
        for name, shot in PICTURES.items():
            yield name, drawn(started, Path(given), shot)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "docs"
    for picture, data in pictures():
        (target / picture).write_bytes(data)
        print(target / picture)  # noqa: T201 - a command of maintainers
