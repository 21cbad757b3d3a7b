"""The distribution of tests over processes, and the Docker engine for tests of the container."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

_BRANCHES: Any = None
if {"EVALUATION_BRANCHES", "PYTEST_XDIST_WORKER"} <= os.environ.keys():
    # Before the package is imported. With coverage.py tests took 3.7 times the processor time on Python 3.11;
    # slipcover stops counting a branch that has run, and costs a few seconds for each process.
    import slipcover

    _BRANCHES = slipcover.Slipcover(immediate=True, branch=True, source=["evaluation"])
    slipcover.ImportManager(_BRANCHES, slipcover.FileMatcher(sources=["evaluation"])).__enter__()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write which branches of the package ran in this process, and which did not."""
    if _BRANCHES is not None:
        folder = Path(os.environ["EVALUATION_BRANCHES"])
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{os.environ['PYTEST_XDIST_WORKER']}.json"
        path.write_text(json.dumps(_BRANCHES.get_coverage()), encoding="utf-8")


# How long one example takes says more about the machine's load than about the code. Every run draws other
# examples; --hypothesis-profile=thorough draws ten times as many.
for _name, _examples in (("evaluation", 50), ("thorough", 500)):
    settings.register_profile(
        _name, max_examples=_examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("evaluation")


def _scope(test: str) -> str:
    """Return the name of the tests that one process runs: the tests of a file, or a page of commands."""
    return test if test.startswith("test/docs/test_pages.py::test_every_command") else test.partition("::")[0]


# Files that take long begin early: at the end, all processes have short ones to share. Tests of workers wait
# for limits of time, also while the first process builds the images that tests of containers need.
_LONG_FIRST = (
    "test/container/test_runs",
    "test/workers/",
    ("test/container/", "test/docs/"),
    "test/organiser/rescoring/",
    ("test/hostile/", "test/cli/", "test/organiser/"),
    (
        "test/test_package",
        "test/test_leaves",
        "test/surroundings/",
        "test/challenges/",
        "test/examples/",
        "test/systems/",
    ),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files first that take long."""

    def place(item: pytest.Item) -> int:
        places = (number for number, paths in enumerate(_LONG_FIRST) if item.nodeid.startswith(paths))
        return next(places, len(_LONG_FIRST))

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep tests that share fixtures in one process, which makes them once."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return _scope(nodeid)

    return ByFile(config, log)


def once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[], str]) -> str:
    """Return a text that the first process makes that needs it, while the others wait."""
    import fcntl  # not on Windows

    own = tmp_path_factory.getbasetemp()
    file = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / f"{name}.txt"
    with file.open("a+", encoding="utf-8") as made:
        fcntl.flock(made, fcntl.LOCK_EX)
        if file.stat().st_size == 0:
            made.write(make())
    return file.read_text(encoding="utf-8")


@cache
def problem_of_engine() -> str | None:
    """Return why no Docker engine can be used, if so."""
    try:
        finished = subprocess.run(["docker", "info"], capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        return "docker is not installed"
    return finished.stderr.strip() if finished.returncode != 0 else None


@pytest.fixture(scope="session")
def engine_answers(tmp_path_factory: pytest.TempPathFactory) -> bool:
    """Tell whether a Docker engine can be used; with EVALUATION_REQUIRE_DOCKER=1 it must.

    The images without a phase are there then: the engine finds their layers for all processes.
    """
    problem = problem_of_engine()
    if problem is not None and os.environ.get("EVALUATION_REQUIRE_DOCKER") == "1":
        pytest.fail(f"EVALUATION_REQUIRE_DOCKER=1, but no Docker engine answers: {problem}")
    if problem is None:
        images_without_phase(tmp_path_factory)
    return problem is None


def images_without_phase(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the names of the images of the package, which the first process builds."""
    from evaluation.organiser.image.build import Recipe, build_without_phase

    return once(tmp_path_factory, "images", lambda: " ".join(build_without_phase(Recipe(), print))).split()


@pytest.fixture(scope="session")
def engine(engine_answers: bool) -> None:
    """Skip where no Docker engine answers."""
    if not engine_answers:
        pytest.skip(f"no Docker engine answers: {problem_of_engine()}")
