"""Cases that are read and scored together: one message to a worker and one back."""

import dataclasses
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import Row
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.core.outcome import Outcome, Scored
from evaluation.core.sources import IndexedSource, is_of_stack

# --- Many instances of a dataclass or named tuple as columns, which pickle several times faster ---

Instance = TypeVar("Instance")


@dataclass(frozen=True, slots=True)
class Columns(Generic[Instance]):
    """Instances of a dataclass or named tuple as one column per field; others, and a mixture, unchanged.

    A column of such instances is itself in columns.
    """

    kind: type[Instance] | None
    values: "tuple[Columns[Any], ...] | list[Instance]"

    @classmethod
    def of(cls, instances: Sequence[Instance]) -> "Columns[Instance]":
        """Return the columns of some instances."""
        kind = type(instances[0]) if instances else None
        if kind is not None and dataclasses.is_dataclass(kind):
            names = [field.name for field in dataclasses.fields(kind)]
        else:
            names = list(getattr(kind, "_fields", ()))
        if not names or set(map(type, instances)) != {kind}:
            return cls(None, list(instances))
        return cls(kind, tuple(Columns.of(list(map(attrgetter(name), instances))) for name in names))

    def instances(self) -> list[Instance]:
        """Return the instances."""
        if isinstance(self.values, list):
            return self.values
        assert self.kind is not None
        return list(map(self.kind, *(column.instances() for column in self.values)))


_MAX_CASES = 512
_BATCHES_PER_WORKER = 8
# Cost of reading or scoring a case in pixels: a file of a few lines takes as long as 2^16 pixels.
_CASE_COST = 1 << 16
_MAX_COST = 1 << 27
# Below it, a process takes longer to start than to do its batch: a pool starts no more than it has batches.
_LEAST_COST = 1 << 21


@dataclass(frozen=True, slots=True)
class Batch:
    """The positions of some cases in the form, and the location of their values for readers.

    ``content`` comes from a submission: only readers write and unpack it; in any other process it stays
    bytes.
    """

    positions: tuple[int, ...]
    content: bytes


@dataclass(frozen=True, slots=True)
class Content:
    """The folder of a submission and the sources of the values of some cases, for a reader."""

    root: str
    cases: tuple[CaseForm, ...]
    sources: tuple[Mapping[str, IndexedSource], ...]

    def packed(self) -> bytes:
        """Return the bytes that `unpacked` reads."""
        fields: dict[str, list[int]] = {}
        for number, of_case in enumerate(self.sources):
            for name in of_case:
                fields.setdefault(name, []).append(number)
        columns = {
            name: (chosen, Columns.of([self.sources[number][name] for number in chosen]))
            for name, chosen in fields.items()
        }
        return pickle.dumps((self.root, Columns.of(self.cases), columns))

    @classmethod
    def unpacked(cls, data: bytes) -> "Content":
        """Return the content of a batch; to be called in readers alone."""
        # Among readers, which trust no less than each other:
        root, cases, columns = pickle.loads(data)  # noqa: S301
        forms = cases.instances()
        sources: list[dict[str, IndexedSource]] = [{} for _ in forms]
        for name, (chosen, of_field) in columns.items():
            for number, source in zip(chosen, of_field.instances(), strict=True):
                sources[number][name] = source
        return cls(root, tuple(forms), tuple(sources))


def batches_of(
    root: str,
    cases: Sequence[CaseForm],
    sources: Sequence[Mapping[str, IndexedSource]],
    fields: Sequence[Field],
    workers: int,
) -> Iterator[Batch]:
    """Yield all cases in batches; cases with values in one file stay together if possible."""
    for positions in _split(list(_groups(sources)), costs_of(cases, fields), workers):
        chosen = tuple(cases[i] for i in positions), tuple(sources[i] for i in positions)
        yield Batch(tuple(positions), Content(root, *chosen).packed())


def parts_of(cases: Sequence[CaseForm], fields: Sequence[Field], workers: int) -> Iterator[list[int]]:
    """Yield the positions of cases without submitted values in batches."""
    return _split([[position] for position in range(len(cases))], costs_of(cases, fields), workers)


def costs_of(cases: Sequence[CaseForm], fields: Sequence[Field]) -> list[int]:
    """Return the approximate cost of reading or scoring each case, in pixels."""
    return [_CASE_COST + sum(field.kind.pixels(case) for field in fields) for case in cases]


def _split(groups: Iterable[list[int]], costs: Sequence[int], workers: int) -> Iterator[list[int]]:
    """Split groups of cases into batches of about equal cost, small enough that no worker waits long."""
    most = min(_MAX_COST, max(_LEAST_COST, sum(costs) // (_BATCHES_PER_WORKER * max(1, workers))))
    batch: list[int] = []
    cost = 0
    for group in groups:
        of_group = sum(costs[position] for position in group)
        if batch and (cost + of_group > most or len(batch) + len(group) > _MAX_CASES):
            yield batch
            batch, cost = [], 0
        batch += group
        cost += of_group
        while len(batch) > _MAX_CASES:
            yield batch[:_MAX_CASES]
            batch = batch[_MAX_CASES:]
            cost = sum(costs[position] for position in batch)
    if batch:
        yield batch


def _groups(sources: Sequence[Mapping[str, IndexedSource]]) -> Iterable[list[int]]:
    """Return the positions of all cases, grouped by the file of their values."""
    groups: dict[str, list[int]] = {}
    for position, of_case in enumerate(sources):
        place = f"\0{position}"
        for source in of_case.values():
            if is_of_stack(source):
                place = source.file
                break
        groups.setdefault(place, []).append(position)
    return groups.values()


# --- The outcomes of a batch on their way from a scorer, which is trusted, to the main process ---


@dataclass(frozen=True, slots=True)
class _Joined:
    """Arrays that are equal but for their length, one behind the other."""

    values: NDArray[Any]
    lengths: list[int]


_PackedColumn = NDArray[Any] | _Joined | list[Any]


def _packed_column(column: list[Any]) -> _PackedColumn:
    """Return a column as one array where all entries are floats, or arrays of one form."""
    kinds = set(map(type, column))
    if kinds == {float}:
        return np.array(column)
    if kinds == {np.ndarray}:
        forms = {(array.dtype, array.shape[1:]) for array in column if array.ndim}
        if len(forms) == 1 and all(array.ndim for array in column) and not column[0].dtype.hasobject:
            return _Joined(np.concatenate(column), list(map(len, column)))
    return column


def _unpacked_column(packed: _PackedColumn) -> list[Any]:
    if isinstance(packed, np.ndarray):
        entries: list[Any] = packed.tolist()
        return entries
    if isinstance(packed, _Joined):
        ends, values = np.cumsum(packed.lengths).tolist(), packed.values
        return [values[end - length : end] for end, length in zip(ends, packed.lengths, strict=True)]
    return packed


_Layout = tuple[tuple[str, tuple[str, ...]], ...]
"""The tasks of a case, each with the names of its columns."""


def packed_outcomes(outcomes: Sequence[Outcome]) -> bytes:
    """Return the outcomes as bytes for `unpacked_outcomes`. Raises the exceptions of pickle.

    The rows of a task are packed column by column, which takes fewer bytes and less time.
    """
    numbers_of: dict[_Layout, list[int]] = {}
    others: dict[int, Outcome] = {}
    about: dict[int, tuple[tuple[str, ...], str | None, tuple[str, ...]]] = {}
    for number, outcome in enumerate(outcomes):
        if not isinstance(outcome, Scored):
            others[number] = outcome
            continue
        layout = tuple((task, tuple(row)) for task, row in outcome.rows.items())
        numbers_of.setdefault(layout, []).append(number)
        if outcome.worst or outcome.failure is not None or outcome.undefined:
            about[number] = outcome.worst, outcome.failure, outcome.undefined
    tables = []
    for layout, numbers in numbers_of.items():
        rows = [outcomes[number].rows for number in numbers]  # type: ignore[union-attr]
        columns = [
            [_packed_column([of_case[task][name] for of_case in rows]) for name in names]
            for task, names in layout
        ]
        tables.append((layout, numbers, columns))
    return pickle.dumps((tables, about, others))


def unpacked_outcomes(data: bytes | memoryview) -> list[Outcome]:
    """Return the outcomes. Raises the exceptions of pickle."""
    tables, about, others = pickle.loads(data)  # noqa: S301 - of a scorer
    outcomes: dict[int, Outcome] = dict(others)
    for layout, numbers, columns in tables:
        rows: list[dict[str, Row]] = [{} for _ in numbers]
        for (task, names), of_task in zip(layout, columns, strict=True):
            cells = zip(rows, *map(_unpacked_column, of_task), strict=True)
            for row, *of_case in cells:
                row[task] = dict(zip(names, of_case, strict=True))
        for number, row in zip(numbers, rows, strict=True):
            outcomes[number] = Scored(row, *about.get(number, ()))
    return [outcomes[number] for number in range(len(outcomes))]
