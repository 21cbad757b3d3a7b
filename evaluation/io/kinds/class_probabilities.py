"""The probabilities of several classes, from columns of a table or from JSON."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from evaluation.core.fault import Fault, FaultKind, FormFault, shorten
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.source import CellsSource, FileAccess, JsonSource, Source, fault_at
from evaluation.core.variant import Variant
from evaluation.io.handover import HandoverError, Packed, list_of, number_within
from evaluation.io.json_files import json_kind
from evaluation.io.kinds.class_label import hint_of_class, problem_of_classes
from evaluation.io.kinds.number import number_of_cell, number_of_json, shortest

Probabilities = tuple[float, ...]
_MAX_NAMED = 10  # unknown keys of one object; the others are counted
_NUMBER = "a finite number from 0 to 1"


@dataclass(frozen=True)
class ClassProbabilities(Kind):
    """One probability in [0, 1] for each class, in the order of ``classes``.

    In a table one column each; in JSON an object by class, or a list in the order of the classes. They sum to
    1 within ``tolerance``; None leaves the sum free, for classes that do not exclude each other. The
    reference is a `ReferenceClass` of the same classes. Raises ValueError for classes as `ClassLabel` does,
    and for a negative tolerance.
    """

    classes: tuple[str, ...]
    tolerance: float | None = 1e-3

    def __post_init__(self) -> None:
        if problem := problem_of_classes(self.classes):
            raise ValueError(problem)
        if self.tolerance is not None and not self.tolerance >= 0:
            raise ValueError(f"tolerance: expected a number of at least 0, found {self.tolerance}")

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> Probabilities:
        """Return the probabilities in the order of the classes. Raises `FormFault` with every fault."""
        if isinstance(source, CellsSource):
            values = self._of_cells(source)
        elif isinstance(source, JsonSource):
            values = self._of_json(source)
        else:
            raise TypeError(f"no probabilities can be read from {type(source).__name__}")
        if self.tolerance is not None and abs(math.fsum(values) - 1.0) > self.tolerance:
            expected = f"probabilities whose sum is 1 (within {self.tolerance:g})"
            raise fault_at(source, expected, f"a sum of {math.fsum(values):.6g}")
        return values

    def _of_cells(self, source: CellsSource) -> Probabilities:
        def read(position: int) -> float:
            cell, column = source.cells[position], source.columns[position]
            one = CellsSource((cell,), source.file, source.line, (column,))
            return _in_range(one, number_of_cell(one, 0, _NUMBER), _NUMBER)

        return _every(read, len(self.classes))

    def _of_json(self, source: JsonSource) -> Probabilities:
        value = source.value
        if isinstance(value, dict):
            return self._of_object(source, value)
        if not isinstance(value, list) or len(value) != len(self.classes):
            raise fault_at(source, self.describe_json(), json_kind(value), FaultKind.MALFORMED)

        def read(position: int) -> float:
            expected = f"{_NUMBER} for {self.classes[position]!r}"
            return _in_range(source, number_of_json(source, value[position], expected), expected)

        return _every(read, len(self.classes))

    def _of_object(self, source: JsonSource, value: dict[str, object]) -> Probabilities:
        if value.keys() != set(self.classes):
            raise FormFault(self._faults_of_keys(source, value))

        def read(position: int) -> float:
            name = self.classes[position]
            expected = f"{_NUMBER} for {name!r}"
            return _in_range(source, number_of_json(source, value[name], expected), expected)

        return _every(read, len(self.classes))

    def _faults_of_keys(self, source: JsonSource, value: dict[str, object]) -> list[Fault]:
        faults: list[Fault] = []
        unknown = [key for key in value if key not in self.classes]
        expected = f"only the keys {', '.join(self.classes)}"
        for key in unknown[:_MAX_NAMED]:
            found, hint = f"the key {shorten(key)!r}", hint_of_class(key, self.classes)
            faults += fault_at(source, expected, found, FaultKind.UNKNOWN, hint).faults
        if len(unknown) > _MAX_NAMED:
            found = f"{len(unknown) - _MAX_NAMED} other keys"
            faults += fault_at(source, expected, found, FaultKind.UNKNOWN).faults
        for name in self.classes:
            if name not in value:
                faults += fault_at(source, f"the key {name!r}", "none", FaultKind.MISSING).faults
        return faults

    def unpack(self, packed: Packed, case: CaseForm) -> Probabilities:
        """Return the probabilities. Raises `HandoverError`."""
        values = tuple(number_within(number, 0.0, 1.0) for number in list_of(packed, len(self.classes)))
        if self.tolerance is not None and abs(math.fsum(values) - 1.0) > self.tolerance:
            raise HandoverError("expected probabilities whose sum is 1")
        return values

    def rehearse(self, reference: float, case: CaseForm, variant: Variant) -> Probabilities:
        """Return probabilities for a class: perfect: 1 for it; empty or no class (NaN): equal for all.

        Near-perfect: 9/10 of perfect plus 1/10 of empty. Inverted: 0 for the class, equal for the others.
        """
        count = len(self.classes)
        if math.isnan(reference) or variant is Variant.EMPTY:
            return (1.0 / count,) * count
        here, elsewhere = {
            Variant.PERFECT: (1.0, 0.0),
            Variant.NEAR: (0.9 + 0.1 / count, 0.1 / count),
            Variant.INVERTED: (0.0, 1.0 / (count - 1)),
        }[variant]
        return tuple(here if position == reference else elsewhere for position in range(count))

    def write_cells(self, value: Probabilities) -> tuple[str, ...]:
        """Return the shortest texts that read back as the same numbers."""
        return tuple(map(repr, map(float, value)))

    def write_json(self, value: Probabilities) -> dict[str, float]:
        """Return the object of all classes."""
        return dict(zip(self.classes, map(float, value), strict=True))

    def describe(self) -> str:
        """Return the description of the columns."""
        names = ", ".join(self.classes)
        return f"{_NUMBER} for each of: {names}{self._sum()}"

    def describe_json(self) -> str:
        """Return the description of the JSON value."""
        names = ", ".join(self.classes)
        return (
            f"an object with {_NUMBER} for each of: {names}{self._sum()}; "
            f"or a list of these {len(self.classes)} numbers in this order"
        )

    def _sum(self) -> str:
        return "" if self.tolerance is None else f"; their sum is 1 (within {self.tolerance:g})"


def _every(read: Callable[[int], float], count: int) -> Probabilities:
    """Return all values. Raises `FormFault` with the faults of all of them."""
    faults: list[Fault] = []
    values: list[float] = []
    for position in range(count):
        try:
            values.append(read(position))
        except FormFault as fault:
            faults += fault.faults
    if faults:
        raise FormFault(faults)
    return tuple(values)


def _in_range(source: Source, value: float, expected: str) -> float:
    if not 0.0 <= value <= 1.0:
        raise fault_at(source, expected, shortest(value))
    return value
