"""Makes a challenge of ill-behaved cases known, in this process and in the workers that it starts."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import evaluation.challenges

FOLDER = str(Path(__file__).parent / "challenges")
# From the start, since the process from which workers are forked may be started by a test of any folder.
os.environ["EVALUATION_CHALLENGES"] = FOLDER


@pytest.fixture(scope="package", autouse=True)
def _known_challenge() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation.challenges, "__path__", [*evaluation.challenges.__path__, FOLDER])
        yield
