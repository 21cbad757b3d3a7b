"""All tests of this folder seal and evaluate in their own process."""

from pathlib import Path

import pytest

from evaluation.organiser.cyst_benchmark.fuse_cysts import STEPS, Benchmark, run_step
from test.in_process import library_in_process
from test.repository import REPOSITORY

__all__ = ["library_in_process"]
ANNOTATIONS = REPOSITORY / "test/input/cysts-annotations"


@pytest.fixture(scope="package")
def built(tmp_path_factory) -> Path:
    """A folder with the tables (`work`) and the benchmark (`phase`) of the bundled annotations."""
    folder = tmp_path_factory.mktemp("built")
    for step in STEPS:
        run_step(step, Benchmark(ANNOTATIONS, folder / "work", folder / "phase"))
    return folder


@pytest.fixture(scope="package")
def work(built) -> Path:
    """The tables of the benchmark that is built."""
    return built / "work"
