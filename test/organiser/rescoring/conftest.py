"""Keeps challenges of other tests away from processes started here."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def _own_challenges_alone() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if "EVALUATION_CHALLENGES" in os.environ:
            patch.delenv("EVALUATION_CHALLENGES")
        yield
