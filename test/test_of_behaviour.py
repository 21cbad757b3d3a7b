"""Tests hold what the package does: neither its private names nor the words of its faults.

A patched private name breaks with each change of structure. A limit can be an argument with a default, or a
test makes the situation in which it is reached.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from evaluation.core.fault import Fault, FaultKind, FormFault
from test.faults import faulted
from test.repository import REPOSITORY

FAULTS = ("PhaseError", "FormFault", "ReadError", "MachineTrouble")
MOCKS = ("patch.object", "mock.patch", "mock.patch.object")
PATCHED = {
    "test/failing_calls.py": "the folders that were swept, as every process begins with none",
    "test/in_process.py": "the challenges that were loaded, as every process begins with none",
    "test/io/conftest.py": "from which size on images are large, of which a true one takes minutes",
    "test/metrics/test_free_response.py": "portions, so that a few candidates have several",
    "test/metrics/test_lesion_wise.py": "blocks and boxes, so that volumes of some voxels have many",
    "test/metrics/test_nearest.py": "costs that are measured, to reach each way on volumes of some voxels",
    "test/oracles.py": "libraries, which are watched and do what they did",
    "test/organiser/image/test_build.py": "where a distribution has its recipe, in the package itself",
    "test/systems/features.py": "what modules find on another system when they are imported",
    "test/workers/test_situations.py": "the server of workers, for one that writes down what it imports",
}
"""The files that patch a private name, or one that only the run knows, and why there is no other way."""


def trees(*words: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield the files of tests that have any of some words, parsed."""
    for path in sorted((REPOSITORY / "test").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in words):
            yield path.relative_to(REPOSITORY).as_posix(), ast.parse(text)


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Yield every call of a method, and the method's name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node, node.func.attr


def patched(tree: ast.AST) -> Iterator[str]:
    """Yield the names that are patched, "_" for one that is only known when the test runs."""
    for call, method in calls(tree):
        if method == "setattr" or (method in {"object", "patch"} and ast.unparse(call.func) in MOCKS):
            texts = [one.value for one in call.args[:2] if isinstance(one, ast.Constant)]
            names = [text.rpartition(".")[2] for text in texts if isinstance(text, str)]
            yield names[0] if names else "_"


def worded(tree: ast.AST) -> Iterator[str]:
    """Yield the faults whose words are matched."""
    for call, method in calls(tree):
        if method == "raises" and any(keyword.arg == "match" for keyword in call.keywords):
            expected = ast.unparse(call.args[0])
            yield from (fault for fault in FAULTS if fault in expected)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def test_private_names_are_patched_only_where_there_is_no_other_way():
    found = {
        file for file, tree in trees("setattr", "patch") if any(is_private(name) for name in patched(tree))
    }
    assert found == PATCHED.keys()


def test_no_test_matches_the_words_of_a_fault():
    assert [(file, fault) for file, tree in trees("match=") for fault in worded(tree)] == []


@pytest.mark.parametrize(
    ("told", "kind", "is_met"),
    [
        (("a.csv, line 2", "10"), FaultKind.WRONG_VALUE, True),
        ((), None, True),
        (("1",), None, False),  # as a part of 10
        (("width",), None, False),  # as it is what was expected
        (("10",), FaultKind.MALFORMED, False),
        (("b.csv",), FaultKind.WRONG_VALUE, False),  # of another kind
    ],
)
def test_a_fault_is_named_by_its_kind_its_place_and_the_value_found(told, kind, is_met):
    faults = (
        Fault(FaultKind.WRONG_VALUE, "a.csv", "1 of width", "10", line=2),
        Fault(FaultKind.MISSING, "b.csv", "a table", "none"),
    )
    with nullcontext() if is_met else pytest.raises(AssertionError), faulted(FormFault, *told, kind=kind):
        raise FormFault(faults)
