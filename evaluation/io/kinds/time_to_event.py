"""Times to an event, observed or censored, and the predictions that order them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from evaluation.core.fault import Fault, FormFault
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.source import CellsSource, FileAccess, Source, fault_at
from evaluation.core.variant import Variant
from evaluation.io.handover import Packed, list_of, number_within, whole_number
from evaluation.io.kinds.number import Label, Number, number_of_cell, shortest

_SHIFT = 1e-9
_LARGEST_LOGARITHM = 710.0  # of a float


class ObservedTime(NamedTuple):
    """How long a case was observed, and whether its event ended that time (1) or it was censored (0)."""

    time: float
    event: int


@dataclass(frozen=True)
class TimeToEvent(Kind):
    """The reference of a prediction of survival: the columns of a time and of a 0/1 event indicator.

    ``unit`` of the time is for the description only. A time is at least 0.
    """

    unit: str = ""

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> ObservedTime:
        """Return the time and the event. Raises `FormFault` with every fault."""
        if not isinstance(source, CellsSource):
            raise TypeError(f"no time to an event can be read from {type(source).__name__}")
        time_cell, event_cell = (
            CellsSource((cell,), source.file, source.line, (column,))
            for cell, column in zip(source.cells, source.columns, strict=True)
        )
        expected = Number(minimum=0.0, unit=self.unit).describe()
        faults: list[Fault] = []
        time, event = 0.0, 0
        try:
            time = number_of_cell(time_cell, 0, expected)
            if time < 0:
                raise fault_at(time_cell, expected, shortest(time))
        except FormFault as fault:
            faults += fault.faults
        try:
            event = Label().read(event_cell, case, files)
        except FormFault as fault:
            faults += fault.faults
        if faults:
            raise FormFault(faults)
        return ObservedTime(time, event)

    def unpack(self, packed: Packed, case: CaseForm) -> ObservedTime:
        """Return the time and the event. Raises `HandoverError`."""
        time, event = list_of(packed, 2)
        return ObservedTime(number_within(time, 0.0, float("inf")), whole_number(event, 1))

    def write_cells(self, value: ObservedTime) -> tuple[str, ...]:
        """Return the time and the event."""
        return (repr(float(value.time)), str(int(value.event)))

    def describe(self) -> str:
        """Return the description of the two columns."""
        return f"{Number(minimum=0.0, unit=self.unit).describe()}, and 1 (event) or 0 (censored)"


@dataclass(frozen=True)
class SurvivalPrediction(Number):
    """A number that orders the cases by their times: a predicted time, or with ``risk`` a risk.

    The reference is a `TimeToEvent`.
    """

    risk: bool = False

    def rehearse(  # type: ignore[override]  # a reference of another kind
        self, reference: ObservedTime | None, case: CaseForm, variant: Variant
    ) -> float:
        """Return a number in the order of the times; a censored case comes after an event of its time.

        Near-perfect is perfect; empty, or without a time, the same for all cases.
        """
        if reference is None or variant is Variant.EMPTY:
            return self._at(0.0)
        time, event = reference
        later = time if event else time * (1 + _SHIFT) + _SHIFT
        share = math.log1p(later) / _LARGEST_LOGARITHM
        return self._at(1 - share if self.risk is not (variant is Variant.INVERTED) else share)

    def _at(self, share: float) -> float:
        """Return the number at a share of the range; without a bound the range is 1 long."""
        if self.is_bounded:
            return min(self.minimum + share * (self.maximum - self.minimum), self.maximum)
        if math.isfinite(self.maximum):
            return self.maximum - 1 + share
        return share + (self.minimum if math.isfinite(self.minimum) else 0.0)
