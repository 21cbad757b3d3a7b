"""Which fault a test expects, without the words that tell it: those are in the table of `test.messages`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from evaluation.core.fault import Fault, FaultKind, FormFault, PhaseError, ReadError

_EXPECTED = re.compile(r"\bexpected .*?(?=, found | \(got |$)")


@contextmanager
def faulted(
    error: type[PhaseError] | type[FormFault] | type[ReadError], *told: str, kind: FaultKind | None = None
) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expect an error with a fault of a kind, in whose place and found value stands each of the texts.

    A text stands there whole: "1" is not in "10" or "V1". What was expected is left out, as it is words, so
    that texts are names, paths, lines, keys and values.
    """
    with pytest.raises(error) as raised:
        yield raised
    faults = list(_faults_of(raised.value))
    assert any(kind in (None, of) and all(_stands_in(one, text) for one in told) for of, text in faults), (
        f"none of {told} of kind {kind} in {faults}"
    )


def _faults_of(error: Exception) -> Iterator[tuple[FaultKind | None, str]]:
    """Yield the kind of each fault, where it has one, and its place with the found value."""
    if isinstance(error, PhaseError):
        yield from ((None, _EXPECTED.sub("", problem)) for problem in error.problems)
        return
    for fault in error.faults if isinstance(error, FormFault) else [error.fault("")]:
        yield fault.kind, _place_and_found(fault)


def _place_and_found(fault: Fault) -> str:
    return f"{fault.place}: {fault.found}"


def _stands_in(one: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text) is not None
