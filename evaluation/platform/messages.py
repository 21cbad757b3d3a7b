"""What participant and organiser read about the faults of a submission."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from evaluation.model.fault import Fault, printable

LONGEST_LINE = 1024
_MOST_LISTED = 400
_LONGEST_EXAMPLE = 160


def participant_line(faults: Sequence[Fault]) -> str:
    """Return the one line that participants see: count, kinds, and the first fault of each kind.

    The platform shows the last line of stderr, at most 1024 characters. It depends on the submission alone.
    """
    kinds = _by_kind(faults)
    head = f"Submission rejected, {_count(len(faults))}: "
    parts = [
        f"{len(of_kind)} {kind} (first: {printable(of_kind[0], _LONGEST_EXAMPLE)})" for kind, of_kind in kinds
    ]
    line = head + "; ".join(parts)
    if len(line) <= LONGEST_LINE:
        return line
    room = (LONGEST_LINE - len(head)) // len(parts) - 2
    return head + "; ".join(printable(part, room) for part in parts)


def organiser_report(faults: Sequence[Fault]) -> list[str]:
    """Return the lines of the organiser's log: at most 400 faults grouped by kind, the summary last."""
    lines = []
    room = _MOST_LISTED
    kinds = _by_kind(faults)
    for position, (kind, of_kind) in enumerate(kinds):
        share = max(1, room // (len(kinds) - position))
        shown = of_kind[:share]
        room -= len(shown)
        lines += [f"{kind} ({len(of_kind)}):", *(f"  {fault}" for fault in shown)]
        if len(of_kind) > len(shown):
            lines.append(f"  … and {len(of_kind) - len(shown)} more")
    summary = ", ".join(f"{len(of_kind)} {kind}" for kind, of_kind in kinds)
    return [*lines, f"Rejected, {_count(len(faults))}: {summary}"]


def _by_kind(faults: Sequence[Fault]) -> list[tuple[str, list[Fault]]]:
    ordered = sorted(faults, key=lambda fault: (fault.kind.value, fault.file, fault.line or 0, fault.found))
    return [(kind.value, list(of_kind)) for kind, of_kind in groupby(ordered, key=lambda fault: fault.kind)]


def _count(number: int) -> str:
    return "1 fault" if number == 1 else f"{number} faults"
