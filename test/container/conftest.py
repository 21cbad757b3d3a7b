"""Builds each image once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

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


@pytest.fixture(scope="session")
def exported(image: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what export.sh writes for that image, compressed with gzip -1 in a third of the time of -6."""
    programs = tmp_path_factory.mktemp("programs")
    for name in ("gzip", "pigz"):
        (programs / name).write_text("#!/bin/sh\nexec /bin/gzip -1n\n")
        (programs / name).chmod(0o755)
    phase = image.removeprefix("evaluation-")
    finished = subprocess.run(
        [REPOSITORY / "export.sh", phase],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return REPOSITORY / "export" / phase
