"""Builds each image once."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from .engine import REPOSITORY


@pytest.fixture(scope="session")
def image_of(engine: None) -> Callable[[str], str]:
    """Return a function from the name of a phase to the name of its image, built at the first call."""
    built: dict[str, str] = {}

    def build(phase: str) -> str:
        if phase not in built:
            finished = subprocess.run(
                [REPOSITORY / "build.sh", phase], capture_output=True, text=True, timeout=900
            )
            assert finished.returncode == 0, finished.stdout + finished.stderr
            built[phase] = f"evaluation-{phase}"
        return built[phase]

    return build


@pytest.fixture(scope="session")
def images_of_the_package(engine: None) -> dict[str, str]:
    """Return the names of the images without a phase, by the targets that they are: builder and base."""
    finished = subprocess.run(
        [REPOSITORY / "build.sh", "--base"], capture_output=True, text=True, timeout=900
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    names = finished.stdout.splitlines()[-2:]
    return {name.removeprefix("evaluation-").partition(":")[0]: name for name in names}


@pytest.fixture(scope="session")
def image(image_of: Callable[[str], str]) -> str:
    """Return the image of the phase that is the default everywhere."""
    return image_of("refuge-onsite")
