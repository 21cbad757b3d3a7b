"""The data of phases as columns: the case table, and measures of each case's reference."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.challenge import fields_of, references_of
from evaluation.core.fault import FormFault, PhaseError
from evaluation.core.field import AnyField, CaseColumns, Field, Kind, Variant
from evaluation.core.form import STACK_INDEX, STACK_NAME, CaseForm
from evaluation.core.outcome import Progress, no_progress
from evaluation.core.resampling import CLUSTER_COLUMN
from evaluation.core.views import Objects, Regions, Voxels
from evaluation.io.tables import is_number, parse_number
from evaluation.io.volumes import case_geometry
from evaluation.metrics.crops import Crop
from evaluation.organiser.views import vertical_ratios, voxel_of
from evaluation.phase.cases import FILE_NAME
from evaluation.phase.phase import Phase
from evaluation.phase.reference import OpenReference

# --- Measurements of a value of the reference: sizes, shares, ratios, numbers and positions; its flags ---


@dataclass(frozen=True)
class Quantity:
    """A quantity measured once for each case, or for each object in it. ``source``: its field or column."""

    name: str
    unit: str = ""
    source: str = ""
    per: Literal["case", "object"] = "case"

    @property
    def title(self) -> str:
        """The name with its unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


@dataclass(frozen=True)
class Measurement:
    """A quantity by its name, with its number in one case, None where the case lacks the structure.

    A quantity of objects has a number for each of them.
    """

    name: str
    number: float | tuple[float, ...] | None
    unit: str = ""

    def quantity(self, source: str) -> Quantity:
        """Return the quantity as one of a field."""
        return Quantity(self.name, self.unit, source, "object" if isinstance(self.number, tuple) else "case")


def measurements_of(
    kind: Kind, value: Any, case: CaseForm, submitted: Kind | None = None
) -> Iterator[Measurement]:
    """Yield the sizes of regions and objects, and the numbers of voxels; nothing for a kind without these.

    ``submitted`` is the kind of the predictions: where it finds components, those of the reference are
    counted and measured. A structure that the case lacks is measured as None, and so is the count of a class
    that it lacks: the number of cases tells how many have it.
    """
    if regions := kind.regions:
        yield from _sizes(regions, value, case)
    if voxels := kind.voxels:
        yield from _of_voxels(voxels, value, case)
    if objects := kind.objects:
        yield from _of_objects(objects, value)
    found = submitted.objects if submitted else None
    if submitted and found and found.form == "component" and found.sizes:
        voxel, unit = voxel_of(case, found.axes)
        sizes = found.sizes(submitted.rehearse(value, case, Variant.PERFECT)) * voxel
        yield Measurement("number of lesions", float(len(sizes)) or None)
        yield Measurement(f"{_WORDS[found.axes]} of a lesion", tuple(sizes.tolist()), unit)


_WORDS = {2: "area", 3: "volume"}


def is_measured(kind: Kind) -> bool:
    """Return whether `measurements_of` measures values of a kind."""
    return bool(kind.regions or kind.voxels or kind.objects)


def _sizes(view: Regions, value: Any, case: CaseForm) -> Iterator[Measurement]:
    """Yield size and share of each structure; of nested ones the ratios to the next one around it, too."""
    voxel, unit = voxel_of(case, view.dimensions)
    whole = math.prod(case_geometry(case, view.dimensions).shape)
    numbers: list[int] = []
    nested: list[Crop] = []
    for structure, mask in zip(view.names, view.of(value), strict=True):
        numbers.append(number := int(np.count_nonzero(mask.values)))
        nested += [mask] if view.nested else []
        size, share = (number * voxel, 100 * number / whole) if number else (None, None)
        yield Measurement(f"{_WORDS[view.dimensions]} of {structure}", size, unit)
        yield Measurement(f"share of the image that is {structure}", share, "%")
    for (inner, outer, ratio), (one, other) in zip(
        vertical_ratios(view, nested), pairwise(numbers), strict=False
    ):
        yield Measurement(f"vertical ratio of {inner} to {outer}", ratio if other else None)
        yield Measurement(f"ratio of the areas of {inner} and {outer}", one / other if other else None)


def _of_voxels(view: Voxels, value: Any, case: CaseForm) -> Iterator[Measurement]:
    """Yield the volume of each level of whole numbers, else the volume above 0 and the mean value there."""
    voxel, unit = voxel_of(case, view.dimensions)
    contents = (plane.values[plane.values > 0] for plane in view.of(value))
    word = _WORDS[view.dimensions]
    if view.levels:
        counts = np.zeros(view.levels + 1, dtype=np.int64)
        for content in contents:
            counts += np.bincount(content.astype(np.int64), minlength=len(counts))
        for level, count in enumerate(counts.tolist()[1:], start=1):
            yield Measurement(f"{word} of level {level}", count * voxel or None, unit)
        return
    number, total = 0, 0.0
    for content in contents:
        number += content.size
        total += float(content.sum(dtype=np.float64))
    yield Measurement(f"{word} above 0", number * voxel or None, unit)
    yield Measurement("mean value above 0", total / number if number else None)


def flags_of(submitted: Kind | None, value: Any) -> dict[str, str]:
    """Return the flags of a case by name: "yes", "no", or "undecided"; none for any other value."""
    choices = submitted.choices if submitted else None
    if not choices or len(choices.names) < 2 or value is None:
        return {}
    words = [*choices.options, "undecided"]
    return {
        name: words[-1 if at is None else at]
        for name, at in zip(choices.names, choices.of(value), strict=True)
    }


def _of_objects(view: Objects, value: Any) -> Iterator[Measurement]:
    """Yield number and sizes of the objects of each class, or the position of each named point."""
    rows = view.of(value)
    lower, upper = np.split(rows[:, 2:], 2, axis=1)
    if view.number in ("each", "some") and view.classes:
        for label, position in zip(rows[:, 0].astype(int).tolist(), lower.tolist(), strict=True):
            for axis, coordinate in zip("xyz", position, strict=False):
                yield Measurement(f"{axis} of {view.classes[label]}", coordinate, view.unit)
        return
    several, one = {"point": ("points", "point"), "box": ("boxes", "box")}.get(
        view.form, ("lesions", "lesion")
    )
    sides = upper - lower + (1.0 if view.inclusive else 0.0)
    sizes = view.sizes(value) if view.sizes else None
    for position, of in enumerate([f" of {name}" for name in view.classes] or [""]):
        chosen = rows[:, 0] == position
        yield Measurement(f"number of {several}{of}", float(np.count_nonzero(chosen)) or None)
        if sizes is not None:
            known = sizes[chosen & ~np.isnan(sizes)]
            yield Measurement(f"diameter of a {one}{of}", tuple(known.tolist()), view.unit)
        if view.form == "box":
            power = view.unit if view.unit == "pixels" else f"{view.unit}{'²' if view.axes == 2 else '³'}"
            content = np.prod(sides[chosen], axis=1)
            yield Measurement(f"{_WORDS[view.axes]} of a box{of}", tuple(content.tolist()), power)
            if view.axes == 2:
                width, height = sides[chosen & (sides[:, 1] > 0)].T
                yield Measurement(f"width to height of a box{of}", tuple((width / height).tolist()))
    if len(view.classes) > 1:
        yield Measurement(f"number of {several} of any class", float(len(rows)) or None)


# --- The columns of the case table as numbers or classes ---

MOST_CLASSES = 10
"""Most different numbers of a column of classes; with more, it is one of numbers."""
MOST_VALUES = 30
"""Most different texts of a column that is listed; with more, it holds names."""
_NOT_DESCRIBED = ("name", "width", "height", CLUSTER_COLUMN, STACK_NAME, STACK_INDEX)
"""Columns that identify cases or are described otherwise: sizes as one, clusters by their number."""


@dataclass(frozen=True)
class NumberColumn:
    """A quantity over the cases of all phases.

    values: shape (values,), each finite. cases: shape (values,), the position of the case of each value.
    could_have: shape (cases,), whether a case has the field or column at all.
    """

    quantity: Quantity
    values: NDArray[np.float64]
    cases: NDArray[np.int64]
    could_have: NDArray[np.bool_]


@dataclass(frozen=True)
class Classes:
    """A column of classes over the cases of all phases: the class of every case, empty where it has none."""

    quantity: Quantity
    cells: tuple[str, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """The classes, the most frequent first; none for a text that differs in most cases."""
        counts = Counter(filter(None, self.cells))
        if len(counts) > MOST_VALUES:
            return ()
        return tuple(sorted(counts, key=lambda value: (-counts[value], value)))


def _of_case_table(
    columns: Mapping[str, Sequence[str]], forms: Sequence[CaseForm], codes: Collection[str]
) -> tuple[list[NumberColumn], list[Classes]]:
    """Return the columns of the case table and the sizes of the images; ``codes`` are never numbers."""
    numbers, classes = [], []
    sizes = [f"{form.width} × {form.height}" if form.width else "" for form in forms]
    described: dict[str, tuple[Sequence[str], str]] = {"size of the image": (sizes, "pixels")}
    if len(set(sizes)) > MOST_CLASSES:
        described = {
            f"{name} of the image": ([str(getattr(form, name) or "") for form in forms], "pixels")
            for name in ("width", "height")
        }
    for name, cells in columns.items():
        if name not in _NOT_DESCRIBED:
            described |= {part: (values, "") for part, values in _by_axis(name, cells).items()}
    for name, (cells, unit) in described.items():
        filled = [position for position, cell in enumerate(cells) if cell]
        quantity = Quantity(name, unit, FILE_NAME)
        if not filled:
            continue
        if are_numbers(cells) and name not in codes:
            values = np.array([parse_number(cells[position]) for position in filled])
            every = np.ones(len(forms), dtype=np.bool_)
            numbers.append(NumberColumn(quantity, values, np.array(filled, dtype=np.int64), every))
        else:
            classes.append(Classes(quantity, tuple(cells)))
    return numbers, classes


def _by_axis(name: str, cells: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return a column of vectors, such as origins, as a column for each axis; any other as it is.

    Few different vectors stay classes.
    """
    filled = {cell: cell.split() for cell in cells if cell}
    counts = {len(parts) for parts in filled.values()}
    are_vectors = len(counts) == 1 and counts != {1} and all(map(is_number, chain(*filled.values())))
    if not are_vectors or len(filled) <= MOST_CLASSES:
        return {name: cells}
    (count,) = counts
    axes = "xyz"[:count] if count <= 3 else range(1, count + 1)
    return {
        f"{name}, {axis}": [filled[cell][at] if cell else "" for cell in cells]
        for at, axis in enumerate(axes)
    }


def are_numbers(cells: Sequence[str]) -> bool:
    """Return whether cells are described as numbers: all are, and there are more than a class would have.

    Digits that start with a zero, such as 0110, are a code.
    """
    filled = {cell for cell in cells if cell}
    is_code = any(cell.isdigit() and cell[0] == "0" and len(cell) > 1 for cell in filled)
    return len(filled) > MOST_CLASSES and not is_code and all(map(is_number, filled))


# --- The data of phases as columns: the case table, and measurements of each case's reference ---


@dataclass(frozen=True)
class Data:
    """The cases of one phase or several: their names, the phase of each, and all described columns."""

    cases: tuple[str, ...]
    phases: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]]
    numbers: tuple[NumberColumn, ...]
    classes: tuple[Classes, ...]
    notices: tuple[str, ...]


def data_of(phases: Sequence[Phase], progress: Progress = no_progress) -> Data:
    """Return the data of phases in their order; the whole reference is read.

    ``progress`` is called with the number of cases read. Raises `PhaseError` with every fault of the
    references, each below the name of its phase where there are several.
    """
    forms = [form for phase in phases for form in phase.cases.forms]
    names = dict.fromkeys(column for phase in phases for column in phase.cases.columns)
    rows = [row.cells for phase in phases for row in phase.rows]
    columns = {name: tuple(cells.get(name, "") for cells in rows) for name in names}  # a phase may lack some
    # Columns that are replaced by a reference derived from them.
    codes = {
        column
        for phase in phases
        for field in references_of(phase.tasks)
        if isinstance(field.reference.location, CaseColumns) and _is_derived(field)
        for column in field.reference.location.columns
    }
    measured = _Measured(len(forms))
    problems: list[str] = []
    start = 0
    for phase in phases:
        place = f"{phase.config.name}: " if len(phases) > 1 else ""
        problems += (f"{place}{problem}" for problem in _measure(phase, start, measured, progress))
        start += len(phase.cases.forms)
    PhaseError.raise_all(problems)
    there = {
        name: ["" if at in measured.absent.get(name, ()) else cell for at, cell in enumerate(cells)]
        for name, cells in columns.items()
    }
    numbers, classes = _of_case_table(there, forms, codes)
    unlisted = [
        f"{column.quantity.name}: {len(set(column.cells) - {''})} different texts, which are not listed"
        for column in classes
        if not column.values
    ]
    return Data(
        tuple(form.name for form in forms),
        tuple(phase.config.name for phase in phases for _ in phase.cases.forms),
        columns,
        (*numbers, *measured.numbers()),
        (*classes, *measured.classes()),
        (*unlisted, *measured.notices),
    )


class _Measured:
    """All measurements, collected case by case."""

    def __init__(self, cases: int) -> None:
        self._cases = cases
        self._found: dict[Quantity, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.flags: dict[Quantity, dict[int, str]] = defaultdict(dict)
        self.absent: dict[str, set[int]] = defaultdict(set)
        """The cases by column in which the cell stands for absence, and is no number."""
        self.notices: dict[str, None] = {}

    def add(self, case: int, field: str, measured: Measurement) -> None:
        number = measured.number
        numbers = () if number is None else number if isinstance(number, tuple) else (float(number),)
        self._found[measured.quantity(field)][case] += numbers

    def numbers(self) -> list[NumberColumn]:
        """Return the measurements as columns; fields of different cases with the same quantity share one."""
        columns: dict[Quantity, dict[int, list[float]]] = defaultdict(dict)
        for quantity, of_case in self._found.items():
            columns[self._named(quantity)] |= of_case
        return [self._column(named, dict(sorted(of_case.items()))) for named, of_case in columns.items()]

    def _column(self, named: Quantity, of_case: Mapping[int, Sequence[float]]) -> NumberColumn:
        cases = np.array(list(of_case), dtype=np.int64)
        values = np.array(list(chain(*of_case.values())), dtype=np.float64)
        could_have = np.isin(np.arange(self._cases), cases)
        return NumberColumn(named, values, np.repeat(cases, list(map(len, of_case.values()))), could_have)

    def classes(self) -> list[Classes]:
        return [
            Classes(quantity, tuple(cells.get(case, "") for case in range(self._cases)))
            for quantity, cells in self.flags.items()
        ]

    def _named(self, quantity: Quantity) -> Quantity:
        """Return a quantity with its field in its name, where another field has one of the same cases."""
        same = [other for other in self._found if replace(other, source=quantity.source) == quantity]
        cases = [case for other in same for case in self._found[other]]
        if len(cases) > len(set(cases)):
            return replace(quantity, name=f"{quantity.name}, {quantity.source}")
        return replace(quantity, source=" and ".join(other.source for other in same))


def _measure(phase: Phase, start: int, measured: _Measured, progress: Progress) -> Iterable[str]:
    references = [
        field for field in references_of(phase.tasks) if _is_derived(field) or _columns_of_a_point(field)
    ]
    reference = OpenReference(phase.reference, references)
    submitted = {field.name: field.kind for field in fields_of(phase.tasks)}

    def measure(at: int, field: AnyField, case: CaseForm, value: Any) -> None:
        kind = field.reference.kind
        if columns := _columns_of_a_point(field):
            there = kind.objects is None or len(kind.objects.of(value)) > 0
            measured.flags[Quantity(field.name, "", field.name)][at] = "present" if there else "absent"
            for column in () if there else columns:
                measured.absent[column].add(at)
            return
        flags = flags_of(submitted.get(field.name), value)
        for name, word in flags.items():
            measured.flags[Quantity(name, "", field.name)][at] = word
        found = list(measurements_of(kind, value, case, submitted.get(field.name)))
        for measurement in found:
            measured.add(at, field.name, measurement)
        if not found and not flags and not is_measured(kind):
            measured.notices[f"{field.name}: a {type(kind).__name__} is not measured"] = None

    problems: dict[str, None] = {}
    for at, (case, row) in enumerate(zip(phase.cases.forms, phase.rows, strict=True), start):
        for field in references:
            if not field.cases(case):
                continue
            try:
                # The digests of an unsealed phase are of the files as they are, whatever they hold.
                value = reference.value(field, case, row, sealed=False)
                if value is not None:
                    measure(at, field, case, value)
            except PhaseError as error:
                problems |= dict.fromkeys(error.problems)
            except FormFault as fault:  # a volume is read while it is measured
                problems |= dict.fromkeys(map(str, fault.faults))
        progress(at + 1)
    return problems


def _columns_of_a_point(field: AnyField) -> tuple[str, ...]:
    """Return the columns of the case table with the position of a point that a case may lack."""
    location, view = field.reference.location, field.reference.kind.objects
    may_lack = view and view.form == "point" and view.number == "some" and not view.classes
    return location.columns if may_lack and isinstance(location, CaseColumns) else ()


def _is_derived(field: AnyField) -> bool:
    """Return whether a reference holds more than its cells, which are columns of their own."""
    kind = field.reference.kind
    if not isinstance(field.reference.location, CaseColumns):
        return True
    choices = field.kind.choices if isinstance(field, Field) else None
    flags = choices and len(choices.names) > 1 and not kind.choices
    return bool(flags or (kind.objects and kind.objects.form == "box"))
