"""The workflows of GitHub, here and in a new repository: pinned actions, and commands that exist."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from evaluation.cli.main import COMMANDS
from test.rooms import GONE

from .pages import REPOSITORY

WORKFLOW = ".github/workflows/test.yml"
PUBLISH = ".github/workflows/publish.yml"
# The workflow of a new repository, which a leaf writes.
TEMPLATES = [
    path.relative_to(REPOSITORY).as_posix()
    for path in (REPOSITORY / "evaluation").rglob("templates/evaluate.yml")
]
assert len(TEMPLATES) == ("starter" not in GONE)


def steps_of(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each job with each of its steps."""
    workflow = yaml.safe_load((REPOSITORY / name).read_text(encoding="utf-8"))
    for job, content in workflow["jobs"].items():
        yield from ((job, step) for step in content["steps"])


# The first version of each action that runs on Node 24; runners drop Node 20.
SINCE = {"checkout": 5, "setup-python": 6, "upload-artifact": 6, "download-artifact": 7}


@pytest.mark.parametrize("name", [WORKFLOW, PUBLISH, *TEMPLATES])
def test_a_workflow_pins_its_actions_may_read_and_keeps_no_credentials(name):
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    actions = re.findall(r"uses: *actions/([\w-]+)@[0-9a-f]{40} # v(\d+)\.\d+\.\d+$", text, re.MULTILINE)
    others = re.findall(
        r"uses: *(?!actions/)[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", text, re.MULTILINE
    )
    assert len(actions) + len(others) == text.count("uses:") > 0
    assert [action for action, version in actions if int(version) < SINCE[action]] == []
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    for _, step in steps_of(name):
        if "checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


def test_what_the_commands_name_exists():
    commands = [shlex.split(step["run"]) for _, step in steps_of(WORKFLOW) if "run" in step]
    named = [word for command in commands for word in command if "/" in word or word.endswith(".txt")]
    assert {"scripts/lint.sh", "./test.sh", "requirements-dev.txt", "test/metrics"} <= set(named)
    own = [name for name in named if not name.startswith(".venv/")]
    assert [name for name in own if not (REPOSITORY / name).exists()] == []
    for command in commands:
        if command[0].endswith(".sh"):
            assert (REPOSITORY / command[0]).stat().st_mode & 0o100, command


def test_linux_runs_what_continuous_integration_runs():
    lines = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    commands = {line.partition(" >")[0] for line in lines if re.match(r"(scripts/|\./test|\.venv/)", line)}
    assert len(commands) == 4
    assert {step["run"] for job, step in steps_of(WORKFLOW) if job == "linux" and "run" in step} == commands


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_new_repository_runs_commands_that_exist(template):
    runs = [step.get("run", "").split() for _, step in steps_of(template)]
    commands = [words[1] for words in runs if words[:1] == ["evaluation"]]
    assert commands == ["seal", "rehearse", "form", "check", "evaluate", "summary"]
    assert set(commands) <= COMMANDS.keys()
