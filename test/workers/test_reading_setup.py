"""Readers of a declared challenge know its fields, and neither its metrics nor what these are given."""

import json
import os
import subprocess
import sys

import pytest

from evaluation.challenges.declared.names import names_by_module
from evaluation.core.form import Form
from evaluation.phase.config import DECLARED
from evaluation.phase.registry import read_configuration, tasks_of_form, tasks_to_read
from evaluation.workers.reader import ReaderSetup
from test.repository import REPOSITORY

FOLDERS = sorted(file.parent for file in REPOSITORY.glob("examples/**/phase.toml"))
# What a reader does with its setup, in a process of its own for each form that is given.
LOOK = """
import json, os, sys
from evaluation.core.form import Form
from evaluation.phase.registry import tasks_to_read
for form in json.load(sys.stdin):
    if os.fork() == 0:
        tasks_to_read(Form(**form))
        print(*sorted(sys.modules), flush=True)
        os._exit(0)
    os.wait()
"""


def form_of(folder):
    """Return the form of the phase in a folder, without cases."""
    found = read_configuration(folder)
    return Form(
        challenge=found.challenge.name,
        phase=found.config.name,
        submission=found.config.submission,
        tasks=tuple(task.name for task in found.tasks),
        missing="reject",
        options=found.options.form_options(),
        sockets={},
        cases=(),
    )


def read(tasks):
    return [
        (
            task.name,
            task.title,
            task.optional,
            [(field.name, field.kind, field.archive) for field in task.fields],
        )
        for task in tasks
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_a_reader_knows_the_fields_of_every_example_and_no_metric():
    forms = [form_of(folder) for folder in FOLDERS]
    setups = [ReaderSetup.of(form, ".") for form in forms]
    names = ("challenge", "phase", "submission", "tasks", "missing", "options", "sockets", "cases")
    contents = [{name: getattr(setup.form, name) for name in names} for setup in setups]
    content = json.dumps(contents)
    assert "metric" not in content
    looked = subprocess.run(
        [sys.executable, "-c", LOOK], input=content, capture_output=True, check=True, text=True
    )
    of_metrics = names_by_module()["metric"].keys() - names_by_module()["kind"].keys()
    for form, setup, line in zip(forms, setups, looked.stdout.splitlines(), strict=True):
        assert form.challenge == DECLARED
        assert read(tasks_to_read(setup.form)) == read(tasks_of_form(form))
        modules = line.split()
        assert sorted(of_metrics.intersection(modules)) == []
        assert set(setup.modules) <= set(modules)
