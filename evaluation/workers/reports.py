"""What crosses from a reader to the main process and to scorers: reports and values.

Each class is packed in a reader and unpacked elsewhere, where every part is checked.
"""

import dataclasses
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluation.core.fault import Fault, FaultKind, Faults, PhaseError, printable, quotation, shorten
from evaluation.core.field import Field, Kind
from evaluation.core.form import CaseForm
from evaluation.core.limits import Totals
from evaluation.core.trouble import WORDS_FOR_LACKS, MachineTrouble
from evaluation.io.handover import (
    HandoverError,
    Packed,
    array_of,
    decode,
    encode,
    list_of,
    number_within,
    size_of,
    text_of,
    whole_number,
)
from evaluation.workers.batches import Batch

# --- Reports of readers on a submission, as they are handed over (`evaluation.io.handover`) ---

_LENGTH = struct.Struct("<Q")
_MAX_COUNT = 1 << 40
_MAX_SECONDS = 1e9
_MAX_TEXT = 240  # twice as long as messages show, so that they are the same
_MAX_PROBLEMS = 1000
MAX_PROBLEM = 600
"""The length of an organiser's problem, in characters, beyond which it is cut."""
_MAX_NOTICE = 10_000
REPORT_BYTES = 1 << 27
"""The most bytes of a report, apart from values."""
Parts = list[bytes | memoryview]


@dataclass(frozen=True)
class IndexReport:
    """The content of the listing, tables and list of jobs of a submission; see `SubmissionIndex`.

    ``formats``: the names of the formats of the files that are still to be decoded.
    """

    faults: Faults
    tasks: tuple[str, ...]
    notices: tuple[str, ...]
    run_seconds: tuple[float | None, ...]
    batches: tuple[Batch, ...]
    formats: tuple[str, ...] = ()

    def packed(self) -> Parts:
        """Return the parts of a document."""
        batches = [
            [np.array(batch.positions, np.int64), np.frombuffer(batch.content, np.uint8)]
            for batch in self.batches
        ]
        faults = pack_faults(self.faults)
        return encode([faults, self.tasks, self.notices, self.run_seconds, batches, self.formats])

    @classmethod
    def unpacked(cls, data: memoryview, tasks: Sequence[str], cases: int) -> "IndexReport":
        """Return the report on a form with the given tasks and number of cases. Raises `HandoverError`."""
        faults, found, notices, run_seconds, packed, formats = list_of(decode(data), 6)
        batches = []
        for entry in list_of(packed):
            positions, content = list_of(entry, 2)
            numbers = array_of(positions, ["<i8"], 1).tolist()
            batches.append(Batch(tuple(numbers), array_of(content, ["|u1"], 1).tobytes()))
        if sorted(position for batch in batches for position in batch.positions) != list(range(cases)):
            raise HandoverError("expected every case once")
        names = set(map(text_of, list_of(found)))
        if not names.issubset(tasks):
            raise HandoverError("expected tasks of the form")
        seconds = tuple(
            None if one is None else number_within(one, 0, _MAX_SECONDS) for one in list_of(run_seconds)
        )
        if len(seconds) not in (0, cases):
            raise HandoverError("expected a run time of every case")
        return cls(
            unpack_faults(faults),
            tuple(name for name in tasks if name in names),
            tuple(printable(text_of(notice), _MAX_NOTICE) for notice in list_of(notices)[:_MAX_PROBLEMS]),
            seconds,
            tuple(batches),
            tuple(map(text_of, list_of(formats))),
        )


@dataclass(frozen=True)
class BatchReport:
    """The report on the cases of a batch, by their number in it.

    ``died`` says why a case was not read to its end, ``problems`` lists faults of the form. ``again`` names
    the cases whose values are too large to be handed over, with the digests of their files. ``tallies``, of a
    check alone: by field the number of values, under the empty text, and of those of which each clause of
    `oddities` holds.
    """

    faults: Faults = field(default_factory=Faults)
    died: Mapping[int, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    again: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    used: Totals = field(default_factory=Totals)
    tallies: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def packed(self, values: Packed) -> Parts:
        """Return the parts of the report, followed by the parts of the values, which others unpack."""
        died, again = ([[key, value] for key, value in of.items()] for of in (self.died, self.again))
        used = [self.used.bytes, self.used.items]
        report = encode([pack_faults(self.faults), died, self.problems, again, used, self.tallies])
        return [_LENGTH.pack(sum(map(len, report))), *report, *encode(values)]

    @classmethod
    def unpacked(cls, data: memoryview, cases: int) -> "tuple[BatchReport, memoryview]":
        """Return the report on ``cases`` cases, and the packed values. Raises `HandoverError`."""
        if len(data) < _LENGTH.size:
            raise HandoverError("cut short")
        (length,) = _LENGTH.unpack(data[: _LENGTH.size])
        end = _LENGTH.size + length
        faults, died, problems, again, used, tallies = list_of(decode(data[_LENGTH.size : end]), 6)
        last = cases - 1
        report = cls(
            unpack_faults(faults),
            {whole_number(key, last): printable(text_of(value)) for key, value in map(_pair, list_of(died))},
            tuple(printable(text_of(each), MAX_PROBLEM) for each in list_of(problems)[:_MAX_PROBLEMS]),
            {whole_number(key, last): _texts_by_name(value) for key, value in map(_pair, list_of(again))},
            Totals(*(whole_number(number, _MAX_COUNT) for number in list_of(used, 2))),
            {name: _counts(found, cases) for name, found in _items(tallies)},
        )
        return report, data[end:]


def _items(packed: Packed) -> list[tuple[str, Packed]]:
    if not isinstance(packed, dict) or len(packed) > _MAX_PROBLEMS:
        raise HandoverError("expected a few parts by name")
    return list(packed.items())


def _counts(packed: Packed, cases: int) -> dict[str, int]:
    return {printable(text, _MAX_NOTICE): whole_number(count, cases) for text, count in _items(packed)}


def packed_trouble(trouble: MachineTrouble) -> Parts:
    """Return the machine's trouble in a worker as the parts of a message."""
    return encode([trouble.operation, trouble.file, trouble.lack])


_OPERATIONS = {"decode", "list", "read", "run", "score", "unpack", "write"}
_OWN = "a worker process"


def unpacked_trouble(data: memoryview, quoted: bool) -> MachineTrouble:
    """Return the trouble of a message, ``quoted`` from a process that may say anything.

    Operation and lack are words of our own then, and the file is between quotation marks. Raises
    `HandoverError`.
    """
    operation, file, lack = map(text_of, list_of(decode(data), 3))
    if not quoted:
        return MachineTrouble(operation, file, lack)
    if operation not in _OPERATIONS or lack not in WORDS_FOR_LACKS:
        raise HandoverError("expected words for the machine's trouble")
    return MachineTrouble(operation, file if file == _OWN else quotation(file), lack)


_MAX_SAID = 20


def said_by_readers(problems: Iterable[str]) -> PhaseError:
    """Return problems that processes told which had read the submission, marked as their words.

    A file may have taken such a process over, so the words are quoted, and are few.
    """
    distinct = list(dict.fromkeys(printable(problem, MAX_PROBLEM) for problem in problems))
    quoted = [problem.replace('"', r"\x22") for problem in distinct[:_MAX_SAID]]
    lines = [f'a process that had read the submission says: "{problem}"' for problem in quoted]
    if len(distinct) > _MAX_SAID:
        lines.append(f"and {len(distinct) - _MAX_SAID} more problems")
    return PhaseError(*lines)


def packed_problems(error: PhaseError) -> Parts:
    """Return the organiser's problems in a worker as the parts of a message."""
    return encode(list(error.problems))


def unpacked_problems(data: memoryview, quoted: bool) -> PhaseError:
    """Return the organiser's problems of a message, ``quoted`` from a process that may say anything.

    Raises `HandoverError`.
    """
    problems = [printable(text_of(each), MAX_PROBLEM) for each in list_of(decode(data))[:_MAX_PROBLEMS]]
    return said_by_readers(problems) if quoted else PhaseError(*problems)


def files_of(values: memoryview) -> dict[str, str]:
    """Return the files of one case by field. Raises `HandoverError`."""
    (files,) = list_of(decode(values), 1)
    return _texts_by_name(files)


def _pair(packed: Packed) -> tuple[Packed, Packed]:
    first, second = list_of(packed, 2)
    return first, second


def _texts_by_name(packed: Packed) -> dict[str, str]:
    if not isinstance(packed, dict):
        raise HandoverError("expected texts by name")
    return {text_of(name): text_of(value) for name, value in packed.items()}


def pack_faults(faults: Faults) -> Packed:
    """Return faults as a part of a document."""
    # A long text is cut, before it takes memory.
    kept = [
        [shorten(part, 4 * _MAX_TEXT) if isinstance(part, str) else part for part in fault]
        for fault in map(dataclasses.astuple, faults)
    ]
    return [kept, [[kind.value, count] for kind, count in faults.more.items()]]


def _text_of_fault(packed: Packed) -> str:
    """Return a text of a fault in the length and the characters in which messages show it."""
    return printable(text_of(packed), _MAX_TEXT)


def unpack_faults(packed: Packed) -> Faults:
    """Return the faults that `pack_faults` packed. Raises `HandoverError`."""
    kept, more = _pair(packed)
    faults = Faults(map(_fault, list_of(kept)))
    counts = map(_pair, list_of(more))
    faults.add((), {_kind(kind): whole_number(count, _MAX_COUNT) for kind, count in counts})
    return faults


def _fault(packed: Packed) -> Fault:
    kind, file, expected, found, line, place, hint = list_of(packed, 7)
    number = None if line is None else whole_number(line, _MAX_COUNT)
    place, hint = (None if part is None else _text_of_fault(part) for part in (place, hint))
    file, expected, found = map(_text_of_fault, (file, expected, found))
    return Fault(_kind(kind), file, expected, found, number, place, hint)


def _kind(packed: Packed) -> FaultKind:
    try:
        return FaultKind(text_of(packed))
    except ValueError:
        raise HandoverError("expected a kind of fault") from None


# --- The values of the cases of a batch on their way from a reader to a scorer, field by field ---


class ValuesOfBatch:
    """Collects values up to ``room_bytes``; None: values are not wanted.

    Small values of one field (`Kind.in_arrays`) are packed together, as arrays; large ones, such as masks,
    one by one.
    """

    def __init__(self, fields: Mapping[str, Field], room_bytes: float | None) -> None:
        self._fields = fields
        self._room = room_bytes
        self._values: dict[str, dict[int, Any]] = {name: {} for name in fields}

    def drop(self) -> None:
        """Drop all values; further ones are not wanted."""
        self._room = None
        self._values = {}

    def add(self, number: int, predictions: Mapping[str, Any]) -> bool:
        """Keep the values of one case as `add_all` does."""
        return self.add_all({name: {number: value} for name, value in predictions.items()})

    def add_all(self, predictions: Mapping[str, Mapping[int, Any]]) -> bool:
        """Keep values by field and case; return false if they are wanted and there is no room for them.

        Raises `PhaseError` for a value that cannot be handed over, whose kind is at fault.
        """
        if self._room is None:
            return True
        kept: dict[str, Mapping[int, Any]] = {}
        size = 0.0
        for name, values in predictions.items():
            kind = self._fields[name].kind
            if (small := kind.in_arrays) is not None:
                kept[name] = values
                size += small.item_bytes * sum(map(small.items, values.values()))
                continue
            kept[name] = {number: kind.pack(value) for number, value in values.items()}
            try:
                size += sum(map(size_of, kept[name].values()))
            except TypeError as error:
                raise PhaseError(f"field {name}: {type(kind).__name__}.pack: {error}") from None
        if size > self._room:
            return False
        self._room -= size
        for name, values in kept.items():
            self._values[name] |= values
        return True

    def packed(self) -> Packed:
        """Return the numbers and values of the cases by field."""
        packed: dict[str, Packed] = {}
        for name, values in self._values.items():
            if values:
                small, in_order = self._fields[name].kind.in_arrays, list(values.values())
                of_field = in_order if small is None else small.pack_all(in_order)
                packed[name] = [np.array(list(values), np.int64), of_field]
        return packed


class PackedValues:
    """The values of a batch as a scorer gets them; none is trusted."""

    def __init__(self, document: bytes | memoryview, fields: Mapping[str, Field]) -> None:
        """Decode a reader's document. Raises `HandoverError`, a `ValueError`."""
        packed = decode(document)
        if not isinstance(packed, dict) or not packed.keys() <= fields.keys():
            raise HandoverError("expected values by field")
        self._values: dict[str, dict[int, Any]] = {}
        self._packed_one_by_one: dict[str, Kind] = {}
        for name, of_field in packed.items():
            numbers, values = list_of(of_field, 2)
            numbers = array_of(numbers, ["<i8"], 1).tolist()
            kind = fields[name].kind
            if (small := kind.in_arrays) is not None:
                values = small.unpack_all(values, len(numbers))
            else:
                self._packed_one_by_one[name] = kind
            self._values[name] = dict(zip(numbers, list_of(values, len(numbers)), strict=True))

    def of_case(self, number: int, case: CaseForm) -> dict[str, Any]:
        """Return the values of a case by field. Raises `HandoverError`."""
        found = {}
        for name, values in self._values.items():
            if number in values:
                value = values[number]
                if name in self._packed_one_by_one:
                    value = self._packed_one_by_one[name].unpack(value, case)
                found[name] = value
        return found
