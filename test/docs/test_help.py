"""Every example in `--help` runs on a fresh clone."""

import pytest

from evaluation.cli.main import COMMANDS

from .pages import copy_of_the_repository, run_commands


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_of_a_command_runs(name, tmp_path):
    copy = copy_of_the_repository(tmp_path)
    example = COMMANDS[name].example
    assert f"python -m evaluation {name} " in f"{example} "
    run_commands(example, copy)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_the_example(name, tmp_path):
    copy = copy_of_the_repository(tmp_path)
    shown = run_commands(f"python -m evaluation {name} --help", copy)
    assert shown.endswith("\n".join(f"  {line}" for line in COMMANDS[name].example.splitlines()))


@pytest.mark.parametrize("script", ["run.sh", "build.sh", "export.sh"])
def test_scripts_print_their_usage(script, tmp_path):
    shown = run_commands(f"./{script} --help", copy_of_the_repository(tmp_path))
    assert f"./{script} " in shown
