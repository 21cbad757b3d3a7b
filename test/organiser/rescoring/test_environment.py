"""The environment of a process, by which results are kept and workers compared."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version

import pytest

from evaluation.organiser.rescoring.task import environment
from test.repository import REPOSITORY

PROGRAM = "from evaluation.organiser.rescoring.task import environment; print(environment().sources, end='')"


def sources_in(folder) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_a_changed_metric_is_another_environment_and_a_copy_is_not(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "evaluation", tmp_path / "evaluation", ignore=ignored)
    assert sources_in(tmp_path) == environment().sources
    with (tmp_path / "evaluation" / "metrics" / "overlap.py").open("a") as file:
        file.write("# changed\n")
    assert sources_in(tmp_path) != environment().sources


def test_a_difference_is_put_into_words():
    here = environment()
    assert here.difference(replace(here)) is None
    assert (
        here.difference(replace(here, version="9")) == f"version {here.version} of the package here, 9 there"
    )
    assert "numpy 0 there" in here.difference(replace(here, libraries="numpy 0"))
    assert "other sources" in here.difference(replace(here, sources=""))


@pytest.mark.parametrize("library", ["numpy", "scikit-learn", "pandas", "zlib-ng"])
def test_libraries_that_compute_or_decode_are_compared(library):
    assert f"{library} {version(library)}" in environment().libraries
