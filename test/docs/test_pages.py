"""Every command of README.md and of the pages in docs/ runs, and prints what the page shows."""

import importlib
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from evaluation.challenges.declared.rules import DeclaredOptions
from evaluation.phase.config import FUNCTIONS, PhaseConfig, moved_declaration
from evaluation.phase.registry import functions_beside
from evaluation.phase.validation import read_table
from test.repository import REPOSITORY
from test.rooms import gone_of, is_of_a_gone_leaf
from test.started import run

from .pages import (
    PAGES,
    TEXTS,
    blocks_of,
    copy_of_the_repository,
    images_of,
    prepare,
    run_page,
    runs,
    shown_after,
)

README = PAGES[0]
WITH_COMMANDS = [page for page in PAGES if any(runs(block, container=False) for block in blocks_of(page))]
# Notes behind the language of a fence: commands for an engine, and those that run all tests.
NOTES = {"", "container", "tests"}


@pytest.fixture
def container(request) -> bool:
    """Tell whether the commands that need the engine run too."""
    wanted = "not container" not in request.config.option.markexpr
    return wanted and request.getfixturevalue("engine_answers")


def holds(whole: object, part: object) -> bool:
    """Tell whether a JSON value is part of another: equal, or an object with some of its keys."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and holds(whole[key], value) for key, value in part.items())
    return whole == part


def shows(shown: list[str], output: str) -> bool:
    """Tell whether a page shows an output whole, or with a line `…` wherever lines are left out."""
    lines = ["(?:.*\\n)+?" if line == "…" else f"{re.escape(line)}\\n" for line in shown]
    return not shown or re.fullmatch("".join(lines), f"{output.strip(chr(10))}\n") is not None


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
def test_every_command_of_a_page_runs_and_prints_what_is_shown(page, container, tmp_path):
    if gone := gone_of(page.read_text(encoding="utf-8")):
        pytest.skip(f"its commands need {', '.join(sorted(gone))}")
    builds = container and any(block.note == "container" for block in blocks_of(page))
    copy = copy_of_the_repository(tmp_path, builds)
    prepare(page, copy)
    ran = 0
    try:
        for block, output in run_page(page, copy, container):
            shown = shown_after(page, block)
            assert shows(shown, output), f"{page.name} shows\n{chr(10).join(shown)}\nprinted was\n{output}"
            ran += 1
        if page is README:
            (shown,) = (json.loads(block.text) for block in blocks_of(page) if block.language == "json")
            written = json.loads((copy / "output/refuge-onsite/metrics.json").read_text(encoding="utf-8"))
            assert holds(written, shown)
    finally:
        if container and (images := images_of(page)):
            subprocess.run(["docker", "rmi", "--force", *images], capture_output=True, check=False)
    assert ran == sum(runs(block, container) for block in blocks_of(page)) > 0


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MkDocs make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.stem)
def test_links_name_files_and_headings_that_exist(page):
    text = page.read_text(encoding="utf-8")
    for target, _, anchor in (link.partition("#") for link in re.findall(r"\]\(([^)\s]+)\)", text)):
        if "://" in target:
            continue
        file = page.parent / target if target else page
        assert file.exists() or is_of_a_gone_leaf(file), f"{page.name}: {target}"
        assert not anchor or anchor in anchors_of(file), f"{page.name}: {target}#{anchor}"


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.stem)
def test_paths_in_the_repository_exist(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for name in re.findall(r"`((?:benchmarks|docs|evaluation|examples|scripts|test)/[\w./-]+)`", text):
        path = REPOSITORY / name
        assert path.exists() or is_of_a_gone_leaf(path), f"{page.name}: {name}"


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.stem)
def test_names_in_the_code_exist(page):
    for name in re.findall(r"`(evaluation(?:\.[a-z_]\w*)+)`", page.read_text(encoding="utf-8")):
        module, _, attribute = name.rpartition(".")
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            assert hasattr(importlib.import_module(module), attribute), f"{page.name}: {name}"


def test_no_command_stands_outside_of_a_block_that_is_run():
    for page in PAGES:
        blocks = blocks_of(page)
        text = page.read_text(encoding="utf-8")
        assert {block.language for block in blocks} <= {"sh", "text", "python", "toml", "json"}
        assert {block.note for block in blocks if not block.note.startswith("file=")} <= NOTES
        # Each opening fence was recognised, and nothing is indented as code.
        assert text.count("```") == 2 * len(blocks)
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        assert "python -m evaluation" not in prose
        assert not re.search(r"^    \S", prose, re.MULTILINE)


COMPLETE = [
    block
    for page in PAGES
    for block in blocks_of(page)
    if block.language == "toml" and re.match(r"(challenge = .*\n)?name = ", block.text)
]
"""Examples of a `phase.toml` that are whole, as `cat > phase.toml` would take them."""


@pytest.mark.parametrize("block", COMPLETE, ids=lambda block: block.text.splitlines()[0])
def test_a_whole_example_is_sealed_as_it_stands(block, tmp_path):
    phase = tmp_path / "phase"
    name = tomllib.loads(block.text).get("challenge")
    if name is not None:
        shutil.copytree(REPOSITORY / f"ground-truth/{name}-onsite", phase)
    phase.mkdir(exist_ok=True)
    (phase / "phase.toml").write_text(block.text, encoding="utf-8")
    if name is None:
        sample = pytest.importorskip("evaluation.organiser.starter.repository")
        sample.write_sample(phase, tmp_path / "submission")
    done = run("seal", phase)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "block",
    [block for page in PAGES for block in blocks_of(page) if block.language == "toml"],
    ids=lambda block: block.text.splitlines()[0],
)
def test_configuration_that_is_shown_is_valid(block, tmp_path):
    content = tomllib.loads(block.text)
    base = {"challenge": "justraigs", "name": "p", "title": "", "submission": "algorithm"}
    if isinstance(content.get("tasks"), dict):
        fields = {"fields": {"likelihood": {"kind": "number"}}}
        del base["challenge"]
        content = moved_declaration({**base, **fields, **content}, "phase.toml")
        functions = [
            block.text
            for page in PAGES
            for block in blocks_of(page)
            if block.language == "python" and "(prediction, reference" in block.text
        ]
        (tmp_path / "metrics.py").write_text("\n".join(functions), encoding="utf-8")
        content["options"][FUNCTIONS] = functions_beside(tmp_path)
        assert read_table(DeclaredOptions, content["options"])
    assert read_table(PhaseConfig, {**base, **content})
