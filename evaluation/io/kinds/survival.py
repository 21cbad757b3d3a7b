"""Times to an event, observed or censored, and the predictions that order them."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evaluation.core.field import Kind, Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource
from evaluation.io.handover import Packed, list_of, number_within, whole_number
from evaluation.io.kinds.classes import LABEL
from evaluation.io.kinds.number import Number, all_numbers

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

    def read_cells(self, source: CellsSource, case: CaseForm) -> ObservedTime:
        kinds = (Number(minimum=0.0, unit=self.unit), LABEL)

        def read(position: int) -> float:
            return kinds[position].read_cells(source.at(position), case)

        time, event = all_numbers(read, 2)
        return ObservedTime(time, int(event))

    def unpack(self, packed: Packed, case: CaseForm) -> ObservedTime:
        time, event = list_of(packed, 2)
        return ObservedTime(number_within(time, 0.0, float("inf")), whole_number(event, 1))

    def example(self, case: CaseForm, random: np.random.Generator) -> ObservedTime:
        return ObservedTime(round(float(random.exponential(30)), 1), int(random.integers(2)))

    def write_cells(self, value: ObservedTime) -> tuple[str, ...]:
        return (repr(float(value.time)), str(int(value.event)))

    def describe(self) -> str:
        return f"{Number(minimum=0.0, unit=self.unit).describe()}, and 1 (event) or 0 (censored)"


@dataclass(frozen=True)
class SurvivalPrediction(Number):
    """A number that orders the cases by their times: a predicted time, or with ``risk`` a risk.

    The reference is a `TimeToEvent`. A risk with a ``horizon`` is the probability of the event until then.
    """

    risk: bool = False
    horizon: float | None = None

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
        inverted = variant is Variant.INVERTED
        if not (self.risk or inverted) and self.minimum <= 0 and math.isinf(self.maximum):
            return later
        share = math.log1p(later) / _LARGEST_LOGARITHM
        return self._at(1 - share if self.risk is not inverted else share)

    def _at(self, share: float) -> float:
        """Return the number at a share of the range; without a bound the range is 1 long."""
        if self.is_bounded:
            return min(self.minimum + share * (self.maximum - self.minimum), self.maximum)
        if math.isfinite(self.maximum):
            return self.maximum - 1 + share
        return share + (self.minimum if math.isfinite(self.minimum) else 0.0)
