"""Readers of a declared challenge know its fields, and neither its metrics nor what these are given."""

import json
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
# What a reader does with its setup, in a process of its own.
LOOK = """
import json, sys
from evaluation.core.form import Form
from evaluation.phase.registry import tasks_to_read
tasks_to_read(Form(**json.load(sys.stdin)))
json.dump(sorted(sys.modules), sys.stdout)
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


@pytest.fixture(params=FOLDERS, ids=[folder.parent.name for folder in FOLDERS])
def form(request):
    return form_of(request.param)


def test_a_reader_has_the_fields_of_every_example(form):
    setup = ReaderSetup.of(form, ".")
    assert read(tasks_to_read(setup.form)) == read(tasks_of_form(form))


def test_a_reader_knows_no_metric(form):
    assert form.challenge == DECLARED
    setup = ReaderSetup.of(form, ".")
    names = ("challenge", "phase", "submission", "tasks", "missing", "options", "sockets", "cases")
    content = json.dumps({name: getattr(setup.form, name) for name in names})
    assert "metric" not in content
    looked = subprocess.run(
        [sys.executable, "-c", LOOK], input=content, capture_output=True, check=True, text=True
    )
    modules = json.loads(looked.stdout)
    of_metrics = names_by_module()["metric"].keys() - names_by_module()["kind"].keys()
    assert sorted(of_metrics.intersection(modules)) == []
    assert set(setup.modules) <= set(modules)
