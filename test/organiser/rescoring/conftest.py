"""Keeps challenges of other tests away from processes started here, and connections from other tests."""

import gc
import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def _own_challenges_alone() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if "EVALUATION_CHALLENGES" in os.environ:
            patch.delenv("EVALUATION_CHALLENGES")
        yield


@pytest.fixture(scope="module", autouse=True)
def _connections_are_collected() -> Iterator[None]:
    """Collect here what Dask leaves open: elsewhere its warning would be the fault of another test."""
    yield
    gc.collect()
