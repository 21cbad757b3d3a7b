"""Which fault a test expects, without the words that tell it: those are in the table of `test.messages`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from types import TracebackType

import pytest

from evaluation.core.fault import Fault, FaultKind, FormFault, PhaseError, ReadError

_EXPECTED = re.compile(r"\bexpected .*?(?=, found | \(got |$)")


def faulted(
    error: type[PhaseError] | type[FormFault] | type[ReadError], *told: str, kind: FaultKind | None = None
) -> _Faulted:
    """Expect an error with a fault of a kind, in whose place and found value stands each of the texts.

    A text stands there whole: "1" is not in "10" or "V1". What was expected is left out, as it is words, so
    that texts are names, paths, lines, keys and values.
    """
    return _Faulted(error, told, kind)


class _Faulted:
    """A context like that of `pytest.raises`; no frame of the error keeps the error alive."""

    def __init__(self, error: type[Exception], told: Sequence[str], kind: FaultKind | None) -> None:
        self._raises, self._told, self._kind = pytest.raises(error), told, kind

    def __enter__(self) -> pytest.ExceptionInfo[Exception]:
        return self._raises.__enter__()

    def __exit__(
        self, error: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        is_expected = self._raises.__exit__(error, value, traceback)
        if is_expected:
            faults = list(_faults_of(value))
            met = [text for kind, text in faults if self._kind in (None, kind)]
            assert any(all(_stands_in(one, text) for one in self._told) for text in met), faults
        return is_expected


def _faults_of(error: BaseException | None) -> Iterator[tuple[FaultKind | None, str]]:
    """Yield the kind of each fault, where it has one, and its place with the found value."""
    if isinstance(error, PhaseError):
        yield from ((None, _EXPECTED.sub("", problem)) for problem in error.problems)
    elif isinstance(error, FormFault):
        yield from ((fault.kind, _place_and_found(fault)) for fault in error.faults)
    elif isinstance(error, ReadError):
        yield error.kind, _place_and_found(error.fault(""))


def _place_and_found(fault: Fault) -> str:
    return f"{fault.place}: {fault.found}"


def _stands_in(one: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text) is not None
