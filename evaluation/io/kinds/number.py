"""Numbers: measurements, and scores of two classes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from evaluation.core import field
from evaluation.core.fault import DECIMAL_POINT, Fault, FaultKind, FormFault, ReadError, hint_of_name, shorten
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, FileAccess, JsonSource, Source, cells_of, fault_at
from evaluation.core.views import Numbers
from evaluation.io.handover import HandoverError, Packed, array_of
from evaluation.io.json_files import json_kind
from evaluation.io.tables import DECIMAL_COMMA, parse_number


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


_MAX_NAMED = 10  # unknown keys of one object; the others are counted


def faults_of_keys(source: JsonSource, required: Sequence[str], optional: Sequence[str] = ()) -> list[Fault]:
    """Return the faults of the keys of an object: those that are missing or unknown."""
    known = (*required, *optional)
    faults: list[Fault] = []
    unknown = [key for key in source.value if key not in known]
    expected = f"only the keys {', '.join(known)}"
    for key in unknown[:_MAX_NAMED]:
        found, hint = f"the key {shorten(key)!r}", hint_of_name(key, known)
        faults += fault_at(source, expected, found, FaultKind.UNKNOWN, hint).faults
    if len(unknown) > _MAX_NAMED:
        found = f"{len(unknown) - _MAX_NAMED} other keys"
        faults += fault_at(source, expected, found, FaultKind.UNKNOWN).faults
    for key in required:
        if key not in source.value:
            faults += fault_at(source, f"the key {key!r}", "none", FaultKind.MISSING).faults
    return faults


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
        return [self._values[cell] for (cell,) in cells_of(sources)]

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
