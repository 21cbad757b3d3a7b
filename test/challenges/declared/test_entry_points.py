"""Kinds, metrics and commands of other installed packages are used as ours are; ours are a table."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from evaluation.challenges.declared import tables
from evaluation.challenges.declared.declarable import FIELDS, METRICS, name_of
from evaluation.challenges.declared.own import OwnMetric
from test.challenges.declared.phases import declared_phase, write_table
from test.repository import REPOSITORY

DECLARED = "evaluation.challenges.declared."

MODULE = '''
"""Greet whoever asks."""

from typing import Literal

from evaluation.challenges.declared.regression import ErrorMetric
from evaluation.challenges.declared.scalars import NumberField
from evaluation.challenges.declared.tables import Measure
from evaluation.core.estimator import Mean
from evaluation.core.metric import Metric


class Percentage(NumberField):
    """A share in per cent."""

    kind: Literal["percentage"]


class SquaredError(ErrorMetric):
    """Mean of the squared differences. At least 0, lower is better."""

    metric: Literal["squared_error"]

    def measure(self, name, field_name, table):
        difference, worst, _ = self.difference(table)
        metric = Metric(name, self.title_of(name), Mean(name), best=0, worst=worst**2)
        return Measure.of_values(
            metric, field_name, lambda made, true: {name: difference(made, true) ** 2}, missing=float("inf")
        )


def add_arguments(parser):
    parser.add_argument("name")


def run(arguments):
    print("Good morning,", arguments.name)
    return 0
'''
POINTS = """\
[evaluation.kinds]
percentage = squares:Percentage
[evaluation.metrics]
squared_error = squares:SquaredError
misnamed_error = squares:SquaredError
lost_error = squares:LostError
auc = squares:SquaredError
[evaluation.commands]
greet = squares
"""
TABLES = """\
[fields.share]
kind = "percentage"
minimum = 0
maximum = 100
[tasks.shares]
metrics = ["{}"]
"""
CASES = {"name": ["A", "B", "C"], "share": [10, 20, 30]}


@pytest.fixture
def path(tmp_path):
    """Return PYTHONPATH with a package that is installed as pip would."""
    place = tmp_path / "site"
    (place / "squares-1.0.dist-info").mkdir(parents=True)
    (place / "squares.py").write_text(MODULE, encoding="utf-8")
    (place / "squares-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: squares\n")
    (place / "squares-1.0.dist-info" / "entry_points.txt").write_text(POINTS)
    return os.pathsep.join([str(place), str(REPOSITORY)])


def run(*arguments, path):
    """Run a command in a process that starts with this path."""
    command = [sys.executable, "-m", "evaluation", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_phase_is_scored_by_a_kind_and_a_metric_of_another_package(tmp_path, path):
    phase = declared_phase(tmp_path / "phase", TABLES.format("squared_error"), CASES)
    answers = {"case": ["A", "B", "C"], "share": [11, 22, 33]}
    write_table(tmp_path / "submission" / "predictions.csv", answers)
    done = run("seal", phase, path=path)
    assert done.returncode == 0, done.stderr
    output = tmp_path / "output"
    arguments = ("--ground-truth", phase, "--input", tmp_path / "submission", "--output", output)
    done = run("evaluate", *arguments, "--workers", "2", path=path)
    assert done.returncode == 0, done.stderr
    figures = json.loads((output / "metrics.json").read_text())["aggregates"]["shares"]
    assert figures["squared_error"]["value"] == pytest.approx((1 + 4 + 9) / 3, abs=1e-4)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("lost_error", "squares:LostError, which an installed package names: module 'squares' has no"),
        ("misnamed_error", "expected a MetricTable with metric: Literal['misnamed_error']"),
        ("auc", "expected a field whose reference is a class"),  # a name of ours stays ours
    ],
)
def test_what_another_package_names_wrongly_is_told(tmp_path, path, metric, message):
    phase = declared_phase(tmp_path / "phase", TABLES.format(metric), CASES)
    done = run("seal", phase, path=path)
    assert (done.returncode, message in done.stderr) == (1, True), done.stderr


def test_a_command_of_another_package_runs_and_is_listed(path):
    assert run("greet", "Ada", path=path).stdout == "Good morning, Ada\n"
    overview = run("--help", path=path).stdout
    assert "other packages:\n  greet      Greet whoever asks.\n" in overview


def test_the_table_has_each_class_under_its_own_name():
    for base, found in ((tables.FieldTable, FIELDS), (tables.MetricTable, METRICS)):
        known, below, left = set(found), set(), [base]
        while left:
            new = left.pop()
            # Those below `OwnMetric` are functions of phases that other tests have read.
            left += [] if new is OwnMetric else new.__subclasses__()
            below |= {new} if name_of(new) and new.__module__.startswith(DECLARED) else set()
        assert below == known
