"""Every command of the pages in docs/ runs, and prints what the page shows."""

import re
import shlex
import subprocess
import tomllib

import pytest

from evaluation.cli.main import COMMANDS
from evaluation.phase.config import PhaseConfig

from .pages import (
    PAGES,
    REPOSITORY,
    blocks_of,
    copy_of_the_repository,
    images_of,
    prepare,
    run_page,
    runs,
    shown_after,
)

NAMES = {page.name for page in PAGES}


@pytest.fixture
def container(request, engine_answers) -> bool:
    """Tell whether the commands that need the engine run too."""
    return engine_answers and "not container" not in request.config.option.markexpr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_runs_and_prints_what_is_shown(page, container, tmp_path):
    copy = copy_of_the_repository(tmp_path)
    prepare(page, copy)
    ran = 0
    try:
        for block, output in run_page(page, copy, container):
            for line in shown_after(page, block):
                assert line in output.splitlines(), f"{page.name} shows {line!r}, printed was\n{output}"
            ran += 1
    finally:
        if container and (images := images_of(page)):
            subprocess.run(["docker", "rmi", "--force", *images], capture_output=True, check=False)
    assert ran == sum(block.language == "sh" and runs(block, container) for block in blocks_of(page)) > 1


def test_the_pages_are_there_and_name_only_files_that_exist():
    assert {"add-a-challenge.md", "for-participants.md", "host-a-phase.md"} <= NAMES
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_no_command_stands_outside_of_a_block_that_is_run():
    for page in PAGES:
        blocks = blocks_of(page)
        text = page.read_text(encoding="utf-8")
        assert {block.language for block in blocks} <= {"sh", "text", "python", "toml"}
        # Each opening fence was recognised, and nothing is indented as code.
        assert text.count("```") == 2 * len(blocks)
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        assert "python -m" not in prose
        assert not re.search(r"^    \S", prose, re.MULTILINE)


@pytest.mark.parametrize(
    "block",
    [block for page in PAGES for block in blocks_of(page) if block.language == "toml"],
    ids=lambda block: block.text.splitlines()[0],
)
def test_configuration_that_is_shown_is_valid(block):
    base = {"challenge": "justraigs", "name": "p", "title": "", "submission": "algorithm"}
    assert PhaseConfig.model_validate({**base, **tomllib.loads(block.text)})


def test_every_command_of_an_organiser_or_participant_is_shown():
    shown = {
        shlex.split(line)[3]
        for page in PAGES
        for block in blocks_of(page)
        for line in block.text.splitlines()
        if line.startswith("python -m evaluation")
    }
    assert shown <= set(COMMANDS)
    assert {"sample", "seal", "rehearse", "evaluate", "summary", "settings", "form", "unpack"} <= shown


def test_the_readme_points_to_the_pages():
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert all(f"docs/{name}" in readme for name in NAMES)
