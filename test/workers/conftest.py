"""Makes a challenge of ill-behaved cases known, in this process and in the workers that it starts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import evaluation.challenges

FOLDER = str(Path(__file__).parent / "challenges")


@pytest.fixture(scope="package", autouse=True)
def _known_challenge() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALUATION_CHALLENGES", FOLDER)
        patch.setattr(evaluation.challenges, "__path__", [*evaluation.challenges.__path__, FOLDER])
        yield
