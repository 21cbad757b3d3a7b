"""Limits on the resources of a submission, derived from the form alone, so that a check can apply them.

They are many times the need of any known valid submission, and stop files made to be expensive. A participant
hears of bytes and values, which are the same everywhere. Limits of time belong to the machine: they are many
times as long as files within the other limits take, and end in `MachineTrouble`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluation.core.field import Field
from evaluation.core.form import CaseForm

_FILE_BYTES = 1 << 16
_SPARE_BYTES = 1 << 26
_BYTES_PER_PIXEL = 8
SPARE_ITEMS = 10_000
"""How many rows a table may have beyond the mean of its kind; the same of all tables together."""
WHO_CAN_RAISE = "only the organisers can raise it, by `at_most` of a declared field"
_USUAL_ITEMS = 1000
_BYTES_PER_ITEM = 256
_SPARE_SECONDS = 30.0
_PIXELS_PER_SECOND = 1e6


@dataclass(frozen=True)
class Totals:
    """Totals of a submission, read so far or allowed: bytes of files, and values such as boxes."""

    bytes: int = 0
    items: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        """Return the totals of both."""
        return Totals(self.bytes + other.bytes, self.items + other.items)

    def in_words(self) -> str:
        """Return the limits in a sentence for participants."""
        return (
            f"In all, a submission may take up to {self.bytes // 1_000_000} MB and hold up to {self.items} "
            "boxes or other values."
        )


def limits_of(cases: Iterable[CaseForm], fields: Sequence[Field]) -> Totals:
    """Return the limits of a submission of those fields for those cases."""
    files = pixels = items = unusual = 0
    for case in cases:
        for field in fields:
            if field.cases(case):
                files += 1
                pixels += field.kind.pixels(case)
                items += field.kind.average_items
                unusual += max(0, field.kind.average_items - _USUAL_ITEMS)
    values = pixels * _BYTES_PER_PIXEL + unusual * _BYTES_PER_ITEM
    return Totals(bytes=_SPARE_BYTES + files * _FILE_BYTES + values, items=SPARE_ITEMS + items)


def max_rows(cases: int, field: Field) -> int:
    """Return the maximum number of rows in a table that lists a field's values for ``cases`` cases."""
    return SPARE_ITEMS + cases * field.kind.average_items


def case_seconds(case: CaseForm, fields: Iterable[Field]) -> float:
    """Return the maximum processor time to read the submitted files of a case, in seconds."""
    pixels = sum(field.kind.pixels(case) for field in fields if field.cases(case))
    return _SPARE_SECONDS + pixels / _PIXELS_PER_SECOND
