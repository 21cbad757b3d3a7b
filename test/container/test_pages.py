"""The pages in docs/ as a whole, with the commands that need the engine."""

from __future__ import annotations

import pytest

from test.docs.pages import PAGES, blocks_of, copy_of_the_repository, prepare, run_page, shown_after

from .engine import docker

pytestmark = pytest.mark.container

WITH_CONTAINER = [page for page in PAGES if any(block.note == "container" for block in blocks_of(page))]


@pytest.mark.parametrize("page", WITH_CONTAINER, ids=lambda page: page.stem)
def test_every_command_runs(page, engine, tmp_path):
    copy = copy_of_the_repository(tmp_path)
    prepare(page, copy)
    for name in ("gzip", "pigz"):  # compressing an image well takes a minute
        program = tmp_path / "programs" / name
        program.write_text('#!/bin/sh\n[ "$1" = -9n ] && exec /bin/gzip -1n\nexec /bin/gzip "$@"\n')
        program.chmod(0o755)
    images = set()
    try:
        for block, output in run_page(page, copy, container=True):
            images |= {
                f"evaluation-{line.split()[1]}" for line in block.text.splitlines() if "build.sh" in line
            }
            for line in shown_after(page, block):
                assert line in output.splitlines(), f"{page.name} shows {line!r}, printed was\n{output}"
    finally:
        docker("rmi", "--force", *images, check=False)
