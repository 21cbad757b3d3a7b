"""The tests of a session in several processes, and the Docker engine for tests of the container."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from .forks import PROCESS, Forks
from .repository import WEEKLY

_BRANCHES: Any = None
if "EVALUATION_BRANCHES" in os.environ:
    # Before the package is imported. With coverage.py tests took 3.7 times the processor time on Python 3.11;
    # slipcover stops counting a branch that has run, and costs a few seconds in all.
    import slipcover

    # Tests start others, which write nothing there.
    _FOLDER = Path(os.environ.pop("EVALUATION_BRANCHES")).absolute()
    _BRANCHES = slipcover.Slipcover(immediate=True, branch=True, source=["evaluation"])
    slipcover.ImportManager(_BRANCHES, slipcover.FileMatcher(sources=["evaluation"])).__enter__()


def _write_branches(process: str) -> None:
    """Write which branches of the package ran in this process, and which did not."""
    if _BRANCHES is not None:
        _FOLDER.mkdir(parents=True, exist_ok=True)
        text = json.dumps(_BRANCHES.get_coverage())
        (_FOLDER / f"{process}.json").write_text(text, encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the number of processes."""
    group = parser.getgroup("processes")
    group._addoption("-n", "--processes", type=int, default=0, help="run tests in so many processes")


def pytest_configure(config: pytest.Config) -> None:
    """Run tests in forks, where more than one process is wanted and libraries may be forked."""
    if config.option.processes > 1 and sys.platform == "linux":
        config.pluginmanager.register(Forks(config.option.processes, _scope, _write_branches))


def pytest_sessionfinish() -> None:
    """Write the branches that ran before tests were run in others, or in this process alone."""
    _write_branches("main")


# How long one example takes says more about the machine's load than about the code. Where a fault is planted
# (scripts/plant.py), one example that fails is enough: a smaller one takes longer to find than all else.
settings.register_profile(
    "evaluation", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "mutation",
    settings.get_profile("evaluation"),
    phases=[Phase.explicit, Phase.generate],
    derandomize=True,
    database=None,
)
settings.load_profile("evaluation")


def _scope(test: str) -> str:
    """Return the name of the tests that one process runs: those of a file, a page of commands, a phase."""
    return test if test.startswith(_ALONE) else test.partition("::")[0]


_ALONE = ("test/docs/test_pages.py::test_every_command", "test/golden/")


# Files that take long begin early: at the end, all processes have short ones to share. Tests of workers wait
# for limits of time, also while the first process builds the images that tests of containers need.
_LONG_FIRST = (
    "test/container/test_runs",
    "test/workers/",
    ("test/container/", "test/docs/", "test/test_leaves"),
    "test/golden/",
    "test/organiser/rescoring/",
    ("test/hostile/", "test/cli/", "test/organiser/"),
    (
        "test/test_package",
        "test/surroundings/",
        "test/challenges/",
        "test/examples/",
        "test/systems/",
    ),
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the weekly tests, or all others; several processes begin with the files that take long."""
    left_out = {item for item in items if (item.get_closest_marker("weekly") is not None) != WEEKLY}
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]

    def place(item: pytest.Item) -> int:
        places = (number for number, paths in enumerate(_LONG_FIRST) if item.nodeid.startswith(paths))
        return next(places, len(_LONG_FIRST))

    if config.option.processes > 1:
        items.sort(key=place)


def once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[], str]) -> str:
    """Return a text that the first process makes that needs it, while the others wait."""
    import fcntl  # not on Windows

    own = tmp_path_factory.getbasetemp()
    file = (own.parent if own.name.startswith(PROCESS) else own) / f"{name}.txt"
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
