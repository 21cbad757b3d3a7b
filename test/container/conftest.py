"""Builds each image once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.cli.main import main
from evaluation.organiser.image.build import Recipe, build_image
from test.conftest import once

from .engine import HARDENED, REPOSITORY, evaluate, submission_of


@pytest.fixture(scope="session")
def image_of(engine: None, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Return a function from the name of a phase to the name of its image, built at the first call."""

    def build(phase: str) -> str:
        return build_image(REPOSITORY / "ground-truth" / phase, Recipe(), print).name

    return lambda phase: once(tmp_path_factory, phase, lambda: build(phase))


@pytest.fixture(scope="session")
def image(image_of: Callable[[str], str]) -> str:
    """Return the image of the phase that is the default everywhere."""
    return image_of("refuge-onsite")


@pytest.fixture(scope="session")
def undisturbed(image: str, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return `metrics.json` of that phase's bundled submission."""
    folder = tmp_path_factory.mktemp("undisturbed")
    folder.chmod(0o755)
    metrics = evaluate(image, submission_of("refuge-onsite", folder), *HARDENED).metrics
    assert metrics is not None
    return metrics


@pytest.fixture(scope="session")
def exported(image: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what `export` writes for that image, compressed in a fraction of the time of its default."""

    def export() -> str:
        folder = tmp_path_factory.mktemp("export")
        phase = REPOSITORY / "ground-truth" / image.removeprefix("evaluation-")
        assert main(["export", str(phase), "--output", str(folder), "--compression", "2"]) == 0
        return str(folder)

    return Path(once(tmp_path_factory, "exported", export))
