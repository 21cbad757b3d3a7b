"""Numbers: measurements, 0/1 labels, scores of two classes, and times to an event."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from evaluation.core import field
from evaluation.core.fault import DECIMAL_POINT, Fault, FaultKind, FormFault, ReadError, shorten
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, FileAccess, JsonSource, Source, fault_at
from evaluation.core.views import Choices, Numbers
from evaluation.io.handover import HandoverError, Packed, array_of, list_of, number_within, whole_number
from evaluation.io.json_files import json_kind
from evaluation.io.tables import DECIMAL_COMMA, parse_number

# --- Numbers and 0/1 labels, from table cells or JSON ---


@dataclass(frozen=True)
class Number(field.ColumnKind):
    """A finite number in [minimum, maximum]; its ``unit`` is for the description only.

    ``excluded``: cells of a reference that stand for no number, NaN.
    """

    item_bytes: ClassVar[int] = 8

    minimum: float = -math.inf
    maximum: float = math.inf
    unit: str = ""
    excluded: tuple[str, ...] = ()

    @property
    def is_bounded(self) -> bool:
        """Whether both bounds are finite, so that all numbers have one scale."""
        return math.isfinite(self.minimum) and math.isfinite(self.maximum)

    def read_cells(self, source: CellsSource, case: CaseForm) -> float:
        if source.cells[0] in self.excluded:
            return math.nan
        return self._within(source, number_of_cell(source, 0, self.describe()))

    def read_json(self, source: JsonSource, case: CaseForm) -> float:
        return self._within(source, number_of_json(source, source.value, self.describe()))

    def _within(self, source: CellsSource | JsonSource, value: float) -> float:
        if not self.minimum <= value <= self.maximum:
            raise fault_at(source, self.describe(), shortest(value))
        return value

    def pack_all(self, values: Sequence[float]) -> Packed:
        return np.array(values, np.float64)

    def unpack_all(self, packed: Packed, count: int) -> list[float]:
        numbers = array_of(packed, ["<f8"], 1)
        inside = np.isfinite(numbers) & (self.minimum <= numbers) & (numbers <= self.maximum)
        if len(numbers) != count or not inside.all():
            raise HandoverError(f"expected {count} numbers from {self.minimum:g} to {self.maximum:g}")
        values: list[float] = numbers.tolist()
        return values

    def rehearse(self, reference: float, case: CaseForm, variant: field.Variant) -> float:
        """Return a number for a number or 0/1 label; inverted: mirrored at the middle of the range, else ½.

        Without a label (NaN) every prediction is equally good: that for 0 is returned.
        """
        reference = 0.0 if math.isnan(reference) else reference
        middle = (self.minimum + self.maximum) / 2 if self.is_bounded else 0.5
        value = {
            field.Variant.PERFECT: float(reference),
            field.Variant.NEAR: reference + (middle - reference) / 10,
            field.Variant.EMPTY: 0.0,
            field.Variant.INVERTED: 2 * middle - reference,
        }[variant]
        return min(max(value, self.minimum), self.maximum)

    def example(self, case: CaseForm, random: np.random.Generator) -> float:
        low = self.minimum if math.isfinite(self.minimum) else min(0.0, self.maximum - 1)
        high = self.maximum if math.isfinite(self.maximum) else max(1.0, low + 1)
        return min(max(round(float(random.uniform(low, high)), 3), low), high)

    @property
    def numbers(self) -> Numbers:
        bounds = self.minimum, self.maximum
        return Numbers(lambda value: (value,), lambda one: one[0], bounds=bounds, unit=self.unit)

    def write_cells(self, value: float) -> tuple[str, ...]:
        return (repr(float(value)),)

    def write_json(self, value: float) -> float:
        return float(value)

    def describe(self) -> str:
        return self._words

    @cached_property
    def _words(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        if math.isinf(self.minimum) and math.isinf(self.maximum):
            return f"a finite number, in {self.unit}" if unit else "a finite number"
        if math.isinf(self.maximum):
            return f"a finite number of at least {self.minimum:g}{unit}"
        if math.isinf(self.minimum):
            return f"a finite number of at most {self.maximum:g}{unit}"
        return f"a finite number from {self.minimum:g} to {self.maximum:g}{unit}"


@dataclass(frozen=True)
class Label(field.ColumnKind):
    """A label 0 or 1; in JSON a boolean."""

    item_bytes: ClassVar[int] = 1

    def read_json(self, source: JsonSource, case: CaseForm) -> int:
        if not isinstance(source.value, bool):
            raise fault_at(source, "true or false", json_kind(source.value), FaultKind.MALFORMED)
        return int(source.value)

    def read_cells(self, source: CellsSource, case: CaseForm) -> int:
        value = number_of_cell(source, 0, self.describe())
        if value not in (0.0, 1.0):
            raise fault_at(source, expected=self.describe(), found=shortest(value))
        return int(value)

    def pack_all(self, values: Sequence[int]) -> Packed:
        return np.array(values, np.uint8)

    def unpack_all(self, packed: Packed, count: int) -> list[int]:
        labels = array_of(packed, ["|u1"], 1)
        if len(labels) != count or labels.max(initial=0) > 1:
            raise HandoverError(f"expected {count} labels of 0 or 1")
        values: list[int] = labels.tolist()
        return values

    def rehearse(self, reference: float, case: CaseForm, variant: field.Variant) -> int:
        """Return a label (that for 0 if the reference is NaN); near-perfect is perfect."""
        reference = 0 if math.isnan(reference) else reference
        values = {field.Variant.EMPTY: 0, field.Variant.INVERTED: 1 - int(reference)}
        return values.get(variant, int(reference))

    def example(self, case: CaseForm, random: np.random.Generator) -> int:
        return int(random.integers(2))

    @property
    def choices(self) -> Choices:
        return Choices(lambda value: (int(value),), lambda one: one[0])

    def write_cells(self, value: int) -> tuple[str, ...]:
        return (str(int(value)),)

    def write_json(self, value: int) -> bool:
        return bool(value)

    def describe(self) -> str:
        return "0 or 1"

    def describe_json(self) -> str:
        return "true or false"


def number_of_cell(source: CellsSource, position: int, expected: str) -> float:
    """Return the finite number in one cell of a row. Raises `FormFault` naming the column."""
    try:
        return parse_number(source.cells[position])
    except ReadError as error:
        kind = FaultKind.MALFORMED
        raise fault_at(source.at(position), expected, error.found, kind, error.hint) from None


def number_of_json(source: JsonSource, value: object, expected: str) -> float:
    """Return a JSON value as a finite number. Raises `FormFault`, also for true and false."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        hint = DECIMAL_POINT if isinstance(value, str) and DECIMAL_COMMA.fullmatch(value[:100]) else None
        raise fault_at(source, expected, json_kind(value), FaultKind.MALFORMED, hint)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise fault_at(source, expected, "a number that is not finite", FaultKind.MALFORMED)
    return number


def all_numbers(read: Callable[[int], float], count: int) -> tuple[float, ...]:
    """Return ``read`` of 0, 1 and so on. Raises `FormFault` with the faults of all of them."""
    faults: list[Fault] = []
    values: list[float] = []
    for position in range(count):
        try:
            values.append(read(position))
        except FormFault as fault:
            faults += fault.faults
    FormFault.raise_all(faults)
    return tuple(values)


def shortest(value: float) -> str:
    """Return the shortest text that reads back as this number; 1.0000000000000002 is not shown as 1."""
    return repr(value).removesuffix(".0")


# --- Two classes as a reference (a condition is present or absent), and scores that tell them apart ---


@dataclass(frozen=True)
class TwoClasses(field.Kind):
    """One cell of a table that names the class of a case; 1, 0, or NaN for a case that does not enter."""

    positive: tuple[str, ...]
    negative: tuple[str, ...]
    excluded: tuple[str, ...] = ()

    @cached_property
    def _values(self) -> dict[str, float]:
        values = ((self.positive, 1.0), (self.negative, 0.0), (self.excluded, math.nan))
        return {cell: value for cells, value in values for cell in cells}

    def read_cells(self, source: CellsSource, case: CaseForm) -> float:
        (cell,) = source.cells
        if cell not in self._values:
            raise fault_at(source, self.describe(), repr(shorten(cell)), FaultKind.WRONG_VALUE)
        return self._values[cell]

    def read_all(
        self, sources: Sequence[Source], cases: Sequence[CaseForm], files: FileAccess
    ) -> list[float]:
        """Return the values of several cases. Raises `KeyError` for a cell that is none of the classes."""
        return [self._values[cell] for (cell,) in (source.row_cells() for source in sources)]

    def example(self, case: CaseForm, random: np.random.Generator) -> float:
        return float(random.integers(2))

    def write_cells(self, value: float) -> tuple[str, ...]:
        """Return the first name of a class. Raises IndexError where there is none."""
        return ((self.excluded if math.isnan(value) else self.positive if value else self.negative)[0],)

    def describe(self) -> str:
        return f"one of {', '.join(map(repr, (*self.positive, *self.negative, *self.excluded)))}"


@dataclass(frozen=True)
class ConditionScore(Number):
    """A number that is higher where a condition is present; the reference is 1, 0 or NaN."""

    def rehearse(self, reference: float, case: CaseForm, variant: field.Variant) -> float:
        """Return the result of `Number` for the highest and lowest number, or 1 and 0 without bounds."""
        if self.is_bounded and not math.isnan(reference):
            reference = self.maximum if reference else self.minimum
        return super().rehearse(reference, case, variant)


# --- Times to an event, observed or censored, and the predictions that order them ---

_SHIFT = 1e-9
_LARGEST_LOGARITHM = 710.0  # of a float


class ObservedTime(NamedTuple):
    """How long a case was observed, and whether its event ended that time (1) or it was censored (0)."""

    time: float
    event: int


@dataclass(frozen=True)
class TimeToEvent(field.Kind):
    """The reference of a prediction of survival: the columns of a time and of a 0/1 event indicator.

    ``unit`` of the time is for the description only. A time is at least 0.
    """

    unit: str = ""

    def read_cells(self, source: CellsSource, case: CaseForm) -> ObservedTime:
        kinds = (Number(minimum=0.0, unit=self.unit), Label())

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
        self, reference: ObservedTime | None, case: CaseForm, variant: field.Variant
    ) -> float:
        """Return a number in the order of the times; a censored case comes after an event of its time.

        Near-perfect is perfect; empty, or without a time, the same for all cases.
        """
        if reference is None or variant is field.Variant.EMPTY:
            return self._at(0.0)
        time, event = reference
        later = time if event else time * (1 + _SHIFT) + _SHIFT
        inverted = variant is field.Variant.INVERTED
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
