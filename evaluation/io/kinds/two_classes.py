"""Two classes as a reference (a condition is present or absent), and scores that tell them apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evaluation.core.fault import FaultKind, shorten
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.source import CellsSource, FileAccess, Source, fault_at
from evaluation.core.variant import Variant
from evaluation.io.kinds.number import Number


@dataclass(frozen=True)
class TwoClasses(Kind):
    """One cell of a table that names the class of a case; 1, 0, or NaN for a case that does not enter."""

    positive: tuple[str, ...]
    negative: tuple[str, ...]
    excluded: tuple[str, ...] = ()

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> float:
        """Return 1, 0 or NaN. Raises `FormFault` for a cell that is none of the classes."""
        if not isinstance(source, CellsSource):
            raise TypeError(f"no class can be read from {type(source).__name__}")
        (cell,) = source.cells
        for value, classes in ((1.0, self.positive), (0.0, self.negative), (math.nan, self.excluded)):
            if cell in classes:
                return value
        raise fault_at(source, self.describe(), repr(shorten(cell)), FaultKind.WRONG_VALUE)

    def write_cells(self, value: float) -> tuple[str, ...]:
        """Return the first name of a class. Raises IndexError where there is none."""
        return ((self.excluded if math.isnan(value) else self.positive if value else self.negative)[0],)

    def describe(self) -> str:
        """Return the names of the classes."""
        return f"one of {', '.join(map(repr, (*self.positive, *self.negative, *self.excluded)))}"


@dataclass(frozen=True)
class Score(Number):
    """A number that is higher where a condition is present; the reference is 1, 0 or NaN."""

    def rehearse(self, reference: float, case: CaseForm, variant: Variant) -> float:
        """Return the result of `Number` for the highest and lowest number, or 1 and 0 without bounds."""
        if self.is_bounded and not math.isnan(reference):
            reference = self.maximum if reference else self.minimum
        return super().rehearse(reference, case, variant)
