"""The fenced blocks of README.md and of the pages in docs/, and how they are run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from test.repository import PHASES, REPOSITORY
from test.started import WITHOUT_WORKERS, run, write_program

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
TEXTS = [
    *PAGES,
    REPOSITORY / "examples" / "README.md",
    REPOSITORY / "examples" / "published" / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    REPOSITORY / "SECURITY.md",
    REPOSITORY / "CHANGELOG.md",
]
"""All that a reader is sent to; commands are run of the pages alone."""
_FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_READ = ("evaluation", "scripts", "test/input")


@dataclass(frozen=True)
class Block:
    """A fenced block: commands, a file to write, or lines that the commands before it print."""

    language: str
    note: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    return [
        Block(language, note, text)
        for language, note, text in _FENCE.findall(page.read_text(encoding="utf-8"))
    ]


def runs(block: Block, container: bool) -> bool:
    """Tell whether a block is commands that are run: with an engine or without, and never all tests."""
    return block.language == "sh" and (block.note == "" or (block.note == "container" and container))


def images_of(page: Path) -> set[str]:
    """Return the names of the images that a page builds."""
    lines = [line.split() for block in blocks_of(page) for line in block.text.splitlines()]
    built = {
        f"evaluation-{line[1]}"
        for line in lines
        if line and line[0] in ("./build.sh", "./export.sh") and line[1] in PHASES
    }
    built |= {
        f"evaluation-{line[4]}" for line in lines if line[:4] == ["python", "-m", "evaluation", "build"]
    }
    built |= {f"evaluation-{line[2]}:run" for line in lines if line[:2] == ["./run.sh", "--audience"]}
    built |= {f"evaluation-{line[4]}-codabench" for line in lines if line[5:7] == ["--for", "codabench"]}
    return built | {line[line.index("--tag") + 1] for line in lines if "--tag" in line}


def copy_of_the_repository(folder: Path, builds: bool) -> Path:
    """Return a fresh clone, as it were: a `python` of its own is beside it, and `.venv` is there already.

    Commands are forks of a process that has imported them, and score in their own process; those that scripts
    call, as ./run.sh does, score with workers. Other programs start from nothing, with the byte code, which
    comes along. What is only read is a link, unless the page ``builds`` images of it.
    """
    copy = folder / "repository"
    shutil.copytree(
        REPOSITORY / "ground-truth", copy / "ground-truth", ignore=shutil.ignore_patterns("manifest.json")
    )
    for name in _READ:
        (copy / name).parent.mkdir(exist_ok=True)
        if builds:
            shutil.copytree(REPOSITORY / name, copy / name)
        else:
            (copy / name).symlink_to(REPOSITORY / name)
    for path in (*REPOSITORY.glob("*.sh"), *REPOSITORY.glob("requirements*.txt")):
        shutil.copy(path, copy)
    for name in ("Dockerfile", ".dockerignore", "README.md"):
        shutil.copy(REPOSITORY / name, copy)
    programs = folder / "programs"
    programs.mkdir()
    environment = copy / ".venv"
    (environment / "bin").mkdir(parents=True)
    shutil.copy(REPOSITORY / "requirements.txt", environment)
    # Compressing an image as well as ./export.sh does takes ten seconds more.
    fast = '[[ "$*" != *"evaluation export "* ]] || set -- "$@" --compression 1'
    write_program(programs / "python", f"{fast}\n{WITHOUT_WORKERS}")
    write_program(environment / "bin" / "python", fast)
    return copy


def run_page(page: Path, copy: Path, container: bool) -> Iterator[tuple[Block, str]]:
    """Run a page's blocks in order; yield each block of commands with all that it printed."""
    for block in blocks_of(page):
        if block.note.startswith("file="):
            file = copy / block.note.removeprefix("file=")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif runs(block, container):
            yield block, run_commands(block.text, copy, local=block.note != "container")


def run_commands(text: str, copy: Path, local: bool = True) -> str:
    """Return all that commands print in a copy of the repository; fail where one of them fails.

    ``local`` keeps ./run.sh from using the engine.
    """
    path = f"{copy.parent / 'programs'}:{os.environ['PATH']}"
    finished = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", text],
        cwd=copy,
        env={
            **os.environ,
            "PATH": path,
            "COLUMNS": "120",
            **({"EVALUATION_ENGINE": "local"} if local else {}),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=900,
    )
    assert finished.returncode == 0, f"{text}\n{finished.stdout}"
    return "\n".join(line.rstrip() for line in finished.stdout.splitlines())


def shown_after(page: Path, block: Block) -> list[str]:
    """Return the lines that the page shows as the output of a block of commands."""
    blocks = blocks_of(page)
    after = blocks[blocks.index(block) + 1 :][:1]
    return [line for other in after if other.language == "text" for line in other.text.splitlines()]


def prepare(page: Path, copy: Path) -> None:
    """Write the files that a page assumes: the participants' forms, submission and outputs of a run."""
    if page.name == "for-participants.md":
        shutil.copytree(copy / "test/input/refuge-onsite", copy / "my-submission")
        (outputs,) = (copy / "test/input/justraigs-phase1").glob("*/output")
        shutil.copytree(outputs, copy / "my-runs" / "stack_0001" / "output")
        for phase, form in (("refuge-onsite", "form.json"), ("justraigs-phase1", "algorithm-form.json")):
            assert run("form", phase, "--output", form, cwd=copy).returncode == 0
