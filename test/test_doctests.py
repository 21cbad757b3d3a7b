"""The examples in docstrings give the stated output."""

import doctest
from importlib import import_module

import pytest

from test.repository import REPOSITORY

WITH_EXAMPLES = sorted(
    path.relative_to(REPOSITORY).with_suffix("")
    for path in (REPOSITORY / "evaluation").rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=str)
def test_examples(path):
    module = import_module(".".join(path.parts))
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
