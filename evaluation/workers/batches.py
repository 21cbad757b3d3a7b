"""Cases that are read and scored together: one message to a worker and one back."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluation.core.form import CaseForm
from evaluation.core.source import FileSource, JsonFileSource, Source

_MAX_CASES = 512
_MAX_CASES_WITH_FILES = 16
_BATCHES_PER_WORKER = 8


@dataclass(frozen=True, slots=True)
class Batch:
    """The positions of some cases in the form, and what readers need of them.

    ``content`` is written and understood by readers alone: in any other process it stays bytes, since what
    it says comes from a submission.
    """

    positions: tuple[int, ...]
    content: bytes


@dataclass(frozen=True, slots=True)
class Content:
    """What a reader needs of some cases: the folder of the submission, and where their values lie in it."""

    root: str
    cases: tuple[CaseForm, ...]
    sources: tuple[Mapping[str, Source], ...]

    def packed(self) -> bytes:
        """Return the bytes of which `unpacked` makes this again."""
        return pickle.dumps((self.root, self.cases, self.sources))

    @classmethod
    def unpacked(cls, data: bytes) -> Content:
        """Return the content of a batch; to be called in readers alone."""
        return cls(*pickle.loads(data))  # noqa: S301 - among readers, which trust no less than each other


def batches_of(
    root: str, cases: Sequence[CaseForm], sources: Sequence[Mapping[str, Source]], workers: int
) -> Iterator[Batch]:
    """Yield all cases in batches; those whose values lie in one file stay together where they can."""
    reads_files = any(isinstance(source, FileSource) for of_case in sources for source in of_case.values())
    for positions in _split(list(_groups(sources)), len(sources), workers, reads_files):
        chosen = tuple(cases[i] for i in positions), tuple(sources[i] for i in positions)
        yield Batch(tuple(positions), Content(root, *chosen).packed())


def parts_of(count: int, workers: int) -> Iterator[list[int]]:
    """Yield the positions of cases of which nothing was submitted, in batches."""
    return _split([[position] for position in range(count)], count, workers, reads_files=True)


def _split(groups: Iterable[list[int]], count: int, workers: int, reads_files: bool) -> Iterator[list[int]]:
    largest = _MAX_CASES_WITH_FILES if reads_files else _MAX_CASES
    size = max(1, min(largest, count // (_BATCHES_PER_WORKER * max(1, workers))))
    batch: list[int] = []
    for group in groups:
        if batch and len(batch) + len(group) > size:
            yield batch
            batch = []
        batch += group
        while len(batch) > largest:
            yield batch[:largest]
            batch = batch[largest:]
    if batch:
        yield batch


def _groups(sources: Sequence[Mapping[str, Source]]) -> Iterable[list[int]]:
    """Return the positions of all cases, those together whose values lie in one file."""
    groups: dict[str, list[int]] = {}
    for position, of_case in enumerate(sources):
        stacked = (
            source.path
            for source in of_case.values()
            if isinstance(source, JsonFileSource) and source.entries is not None
        )
        groups.setdefault(next(stacked, f"\0{position}"), []).append(position)
    return groups.values()
