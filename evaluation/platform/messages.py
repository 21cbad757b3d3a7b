"""The texts for participant and organiser about the faults of a submission."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

from evaluation.core.fault import Fault, FaultKind, Faults, printable

MAX_LINE_LENGTH = 1024
_MAX_LISTED = 400
_MAX_EXAMPLE_LENGTH = 260
_MAX_EQUAL = 10
_PLACES_NAMED = 3


def participant_line(faults: Faults) -> str:
    """Return the one line that participants see: count, kinds, and the first fault of each kind.

    The platform shows the last line of stderr, at most 1024 characters. It depends on the submission alone.
    """
    kinds = _by_kind(faults)
    head = f"Submission rejected, {_count(len(faults))}: "
    parts = [
        f"{faults.counts[kind]} {kind} (first: {printable(kind_faults[0], _MAX_EXAMPLE_LENGTH)})"
        for kind, kind_faults in kinds
    ]
    line = head + "; ".join(parts)
    if len(line) <= MAX_LINE_LENGTH:
        return line
    room = (MAX_LINE_LENGTH - len(head)) // len(parts) - 2
    return head + "; ".join(printable(part, room) for part in parts)


def organiser_report(faults: Faults) -> list[str]:
    """Return the lines of the organiser's log: at most 400 grouped by kind, the summary last.

    Many equal faults share a line that names the first places and their number.
    """
    lines = []
    room = _MAX_LISTED
    kinds = _by_kind(faults)
    for position, (kind, kind_faults) in enumerate(kinds):
        share = max(1, room // (len(kinds) - position))
        entries = list(_folded(kind_faults))
        shown = entries[:share]
        room -= len(shown)
        lines += [f"{kind} ({faults.counts[kind]}):", *(f"  {line}" for line, _ in shown)]
        more = sum(count for _, count in entries[share:]) + faults.more.get(kind, 0)
        if more:
            lines.append(f"  … and {more} more")
    summary = ", ".join(f"{count} {kind}" for kind, count in faults.counts.items())
    return [*lines, f"Rejected, {_count(len(faults))}: {summary}"]


def _folded(faults: Sequence[Fault]) -> Iterator[tuple[str, int]]:
    """Yield lines, each with the number of its faults; many equal faults share one line."""
    equal: dict[str, list[Fault]] = defaultdict(list)
    for fault in faults:
        equal[fault.complaint].append(fault)
    for complaint, group in equal.items():
        if len(group) <= _MAX_EQUAL:
            yield from ((str(fault), 1) for fault in group)
        else:
            places = "; ".join(fault.place for fault in group[:_PLACES_NAMED])
            rest = len(group) - _PLACES_NAMED
            yield f"{places}; and {rest} more ({len(group)} in all): {complaint}", len(group)


def _by_kind(faults: Faults) -> list[tuple[FaultKind, list[Fault]]]:
    return [(kind, list(of_kind)) for kind, of_kind in groupby(faults, key=lambda fault: fault.kind)]


def _count(number: int) -> str:
    return "1 fault" if number == 1 else f"{number} faults"
