"""The data of phases as columns: the case table, and measurements of each case's reference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluation.core.challenge import fields_of, references_of
from evaluation.core.fault import FormFault, PhaseError
from evaluation.core.field import AnyField, CaseColumns
from evaluation.core.form import CaseForm
from evaluation.io.kinds.boxes_in_space import BoxesInSpace
from evaluation.io.kinds.flags import FlagSet
from evaluation.metrics.cup_to_disc import VerticalDiameter
from evaluation.organiser.describe_columns import Classes, Numbers, columns_of, of_case_table, unlisted
from evaluation.organiser.describe_objects import flags_of, measured_objects
from evaluation.organiser.describe_quantities import (
    Measurement,
    Quantity,
    is_measured,
    kind_submitted,
    measured_structures,
)
from evaluation.phase.phase import Phase
from evaluation.phase.reference import OpenReference
from evaluation.workers.progress import Progress, no_progress


@dataclass(frozen=True)
class Data:
    """The cases of one phase or several: their names, the phase of each, and all described columns."""

    cases: tuple[str, ...]
    phases: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]]
    numbers: tuple[Numbers, ...]
    classes: tuple[Classes, ...]
    notices: tuple[str, ...]


def data_of(phases: Sequence[Phase], progress: Progress = no_progress) -> Data:
    """Return the data of phases in their order; the whole reference is read.

    ``progress`` is called with the number of cases read. Raises `PhaseError` with every fault of the
    references, each below the name of its phase where there are several.
    """
    forms = [form for phase in phases for form in phase.cases.forms]
    columns = columns_of(phases)
    codes = {column for phase in phases for column in _columns_of_codes(phase)}
    numbers, classes = of_case_table(columns, forms, codes)
    measured = _Measured(len(forms))
    problems: list[str] = []
    start = 0
    for phase in phases:
        place = f"{phase.config.name}: " if len(phases) > 1 else ""
        problems += (f"{place}{problem}" for problem in _measure(phase, start, measured, progress))
        start += len(phase.cases.forms)
    if problems:
        raise PhaseError(*problems)
    return Data(
        tuple(form.name for form in forms),
        tuple(phase.config.name for phase in phases for _ in phase.cases.forms),
        columns,
        (*numbers, *measured.numbers()),
        (*classes, *measured.classes()),
        (*unlisted(classes), *measured.notices),
    )


class _Measured:
    """All measurements, collected case by case."""

    def __init__(self, cases: int) -> None:
        self._cases = cases
        self._values: dict[Quantity, list[float]] = defaultdict(list)
        self._at: dict[Quantity, list[int]] = defaultdict(list)
        self._of: dict[Quantity, set[int]] = defaultdict(set)
        self._flags: dict[Quantity, dict[int, str]] = defaultdict(dict)
        self.notices: dict[str, None] = {}

    def add(self, case: int, measurement: Measurement) -> None:
        quantity, number = measurement.quantity, measurement.number
        self._of[quantity].add(case)
        numbers = () if number is None else number if isinstance(number, tuple) else (float(number),)
        self._values[quantity] += numbers
        self._at[quantity] += [case] * len(numbers)

    def add_flag(self, case: int, quantity: Quantity, cell: str) -> None:
        self._flags[quantity][case] = cell

    def numbers(self) -> list[Numbers]:
        """Return the measurements as columns; fields of different cases with the same quantity share one."""
        columns: dict[Quantity, list[Quantity]] = {}
        for quantity in self._of:
            columns.setdefault(self._named(quantity), []).append(quantity)
        return [self._column(named, quantities) for named, quantities in columns.items()]

    def _column(self, named: Quantity, quantities: Sequence[Quantity]) -> Numbers:
        """Return measurements of one quantity on different cases as one column, in the order of the cases."""
        at = np.array([case for quantity in quantities for case in self._at[quantity]], dtype=np.int64)
        values = np.array([value for quantity in quantities for value in self._values[quantity]])
        order = np.argsort(at, kind="stable")
        could_have = np.zeros(self._cases, dtype=np.bool_)
        for quantity in quantities:
            could_have[list(self._of[quantity])] = True
        return Numbers(named, values.astype(np.float64)[order], at[order], could_have)

    def classes(self) -> list[Classes]:
        return [
            Classes(quantity, tuple(cells.get(case, "") for case in range(self._cases)))
            for quantity, cells in self._flags.items()
        ]

    def _named(self, quantity: Quantity) -> Quantity:
        """Return a quantity with its field in its name, where another field has one of the same cases."""
        same = [other for other in self._of if _key(other) == _key(quantity)]
        cases = [case for other in same for case in self._of[other]]
        if len(cases) > len(set(cases)):
            return replace(quantity, name=f"{quantity.name}, {quantity.source}")
        return replace(quantity, source=" and ".join(other.source for other in same))


def _key(quantity: Quantity) -> tuple[str, str, str]:
    return quantity.name, quantity.unit, quantity.per


def _measure(phase: Phase, start: int, measured: _Measured, progress: Progress) -> Iterable[str]:
    """Measure the references of a phase, and return their faults, each once."""
    references = [field for field in references_of(phase.tasks) if _is_derived(field)]
    reference = OpenReference(phase.reference, references)
    submitted = {field.name: kind_submitted(field) for field in fields_of(phase.tasks)}
    diameter: VerticalDiameter = getattr(phase.options, "vertical_diameter", "column_count")
    inclusive = bool(getattr(phase.options, "inclusive_corners", False))

    def measure(at: int, field: AnyField, case: CaseForm, value: Any) -> None:
        kind = field.reference.kind
        flags = flags_of(submitted.get(field.name), value)
        for name, word in (flags or {}).items():
            measured.add_flag(at, Quantity(name, "", field.name), word)
        found = [
            *measured_structures(field.name, kind, submitted.get(field.name), value, case, diameter),
            *measured_objects(field.name, kind, value, inclusive),
        ]
        for measurement in found:
            measured.add(at, measurement)
        if not found and not flags and not is_measured(kind, value):
            measured.notices[f"{field.name}: a {type(kind).__name__} is not measured"] = None

    problems: dict[str, None] = {}
    for at, (case, row) in enumerate(zip(phase.cases.forms, phase.rows, strict=True), start):
        for field in references:
            if not field.cases(case):
                continue
            try:
                value = reference.value(field, case, row)
                if value is not None:
                    measure(at, field, case, value)
            except PhaseError as error:
                problems |= dict.fromkeys(error.problems)
            except FormFault as fault:  # a volume is read while it is measured
                problems |= dict.fromkeys(map(str, fault.faults))
        progress(at + 1)
    return problems


def _is_derived(field: AnyField) -> bool:
    """Return whether a reference holds more than its cells, which are columns of their own."""
    kind = field.reference.kind
    if not isinstance(field.reference.location, CaseColumns):
        return True
    flags = isinstance(kind_submitted(field), FlagSet) and not isinstance(kind, FlagSet)
    return flags or isinstance(kind, BoxesInSpace)


def _columns_of_codes(phase: Phase) -> Iterator[str]:
    """Yield the columns that are replaced by a reference derived from them."""
    for field in references_of(phase.tasks):
        if isinstance(field.reference.location, CaseColumns) and _is_derived(field):
            yield from field.reference.location.columns
