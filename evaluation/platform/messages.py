"""Messages to participant and organiser, and the two streams of a container that carry them."""

import contextlib
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TextIO

from evaluation.core.fault import DECIMAL_POINT, Fault, FaultKind, Faults, counted, printable
from evaluation.platform.facts import LOG_LINE_BYTES, LOG_LINES, MESSAGE_LENGTH

# --- The texts for participant and organiser about the faults of a submission ---

_MAX_LISTED = 400
_MAX_EXAMPLE_LENGTH = 260
_MAX_EQUAL = 10
_PLACES_NAMED = 3


def participant_line(faults: Faults) -> str:
    """Return the one line that participants see: count, kinds, and the first fault of each kind.

    It depends on the submission alone.
    """
    kinds = _by_kind(faults)
    head = f"Submission rejected, {counted(len(faults), 'fault')}: "
    parts = [
        f"{faults.counts[kind]} {kind} (first: {printable(kind_faults[0], _MAX_EXAMPLE_LENGTH)})"
        for kind, kind_faults in kinds
    ]
    line = head + "; ".join(parts)
    if len(line) <= MESSAGE_LENGTH:
        return line
    room = (MESSAGE_LENGTH - len(head)) // len(parts) - 2
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
    return [*lines, f"Rejected, {counted(len(faults), 'fault')}: {summary}"]


def _folded(faults: Sequence[Fault]) -> Iterator[tuple[str, int]]:
    """Yield lines, each with the number of its faults; many equal faults share one line."""
    equal: dict[str, list[Fault]] = defaultdict(list)
    for fault in faults:
        equal[fault.expected + fault.hint if fault.hint == DECIMAL_POINT else fault.complaint].append(fault)
    for group in equal.values():
        if len(group) <= _MAX_EQUAL:
            yield from ((str(fault), 1) for fault in group)
        else:
            named = group[:_PLACES_NAMED]
            file = f"{printable(named[0].file)}, "
            places = [fault.place.removeprefix(file) for fault in named if fault.file == named[0].file]
            if len(places) == len(named):
                where = file + "; ".join(places)
            else:
                where = "; ".join(fault.place for fault in named)
            rest = len(group) - _PLACES_NAMED
            yield f"{where}; and {rest} more ({len(group)} in all): {group[0].complaint}", len(group)


def _by_kind(faults: Faults) -> list[tuple[FaultKind, list[Fault]]]:
    return [(kind, list(of_kind)) for kind, of_kind in groupby(faults, key=lambda fault: fault.kind)]


# The two streams of a container: stdout for the organiser, the last line of stderr for the participant.

# Some room is left for libraries.
_MAX_LOG_LINES = LOG_LINES - 50
_MAX_LOG_LINE_BYTES = LOG_LINE_BYTES - 5536
_IS_WINDOWS = sys.platform == "win32"
# Of a terminal, of line breaks that are none in Unix, and of the direction of writing.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class Streams:
    """Takes over stderr at the start of a run, so that no library, worker or exit handler writes there later.

    Descriptor 2 is duplicated and then redirected to stdout. Only the participant's line is written to the
    duplicate, and nothing on success.

    On Windows, which never runs the container, Python's own streams are used: only they can write every
    character to a console.
    """

    def __init__(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self._participant = None if _IS_WINDOWS else os.dup(2)
        if self._participant is not None:
            os.set_inheritable(self._participant, False)
            os.dup2(1, 2)

    def tell_organiser(self, texts: Iterable[str]) -> None:
        """Write texts to stdout: valid UTF-8, no more and no longer lines than the platform keeps.

        Of too many lines, the first ones and the last one are kept. Errors of stdout are ignored.
        """
        lines = [_CONTROLS.sub(_escaped, line) for text in texts for line in text.split("\n")]
        if len(lines) > _MAX_LOG_LINES:
            left_out = len(lines) - _MAX_LOG_LINES + 1
            lines[_MAX_LOG_LINES - 2 : -1] = [f"… and {left_out} more lines"]
        with contextlib.suppress(OSError):
            for line in lines:
                data = line.encode("utf-8", "backslashreplace")[:_MAX_LOG_LINE_BYTES]
                _write(data.decode("utf-8", "ignore"), sys.stdout, None if self._participant is None else 1)

    def tell_participant(self, line: str) -> None:
        """Write the line that participants see."""
        with contextlib.suppress(OSError):
            text = line[:MESSAGE_LENGTH].encode("utf-8", "backslashreplace").decode("utf-8")
            _write(text, sys.stderr, self._participant)


def _escaped(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")


def _write(line: str, stream: TextIO, descriptor: int | None) -> None:
    """Write a line to a descriptor if there is one, without a buffer that would be flushed again at exit."""
    if descriptor is None:
        stream.write(f"{line}\n")
        return
    data = f"{line}\n".encode()
    while data:
        data = data[os.write(descriptor, data) :]
