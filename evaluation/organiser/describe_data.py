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
from evaluation.core.field import AnyField, CaseColumns, Field, Kind
from evaluation.core.form import STACK_INDEX, STACK_NAME, CaseForm
from evaluation.core.outcome import Progress, no_progress
from evaluation.core.resampling import CLUSTER_COLUMN
from evaluation.io.kinds.boxes import Boxes, BoxesInSpace, BoxList
from evaluation.io.kinds.classes import FlagSet
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.kinds.masks import LabelMask, MultilabelMask
from evaluation.io.kinds.points import Keypoints, Points, PointSet
from evaluation.io.kinds.probability_map import DetectionMap, components_of
from evaluation.io.kinds.volume import StoredVolume
from evaluation.io.tables import is_number, parse_number
from evaluation.io.volume_header import geometry_of
from evaluation.metrics.crops import Crop
from evaluation.metrics.segmentation import (
    VerticalDiameter,
    region_of,
    vertical_cup_to_disc_ratio,
    vertical_diameter,
)
from evaluation.phase.cases import FILE_NAME
from evaluation.phase.phase import Phase
from evaluation.phase.reference import OpenReference

# --- Measurements of a mask, a map or a volume of the reference: areas, volumes, shares and ratios ---

Number = float | tuple[float, ...] | None
"""One number of a case, one per object, or None where the case lacks the structure."""


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
    """A quantity with its number or numbers in one case."""

    quantity: Quantity
    number: Number


def measured_structures(
    name: str, kind: Kind, submitted: Kind | None, value: Any, case: CaseForm, diameter: VerticalDiameter
) -> Iterator[Measurement]:
    """Yield the measurements of structures in a mask, a map or a volume; nothing for any other value.

    ``submitted`` is the kind of the predictions: where it detects lesions, the components of the reference
    are counted and measured. A structure that the case lacks is measured as None.
    """
    if isinstance(kind, LabelMask):
        within = dict(kind.regions())
        regions = [(structure, region_of(value, within[label])) for label, structure in kind.labels.items()]
        yield from _areas(name, regions, case)
        if kind.nested:
            yield from _ratios(name, regions, diameter)
    elif isinstance(kind, MultilabelMask):
        yield from _areas(name, list(zip(kind.classes, value, strict=True)), case)
    elif isinstance(kind, LabelMap):
        yield from _sizes(name, kind, value)
        if isinstance(submitted, DetectionMap):
            yield from _lesions(name, value, submitted.foreground)
    elif isinstance(value, StoredVolume):
        yield from _of_volume(name, value, case)


def is_measured(kind: Kind, value: Any) -> bool:
    """Return whether `measured_structures` measures values of a kind."""
    return isinstance(kind, LabelMask | MultilabelMask | LabelMap) or isinstance(value, StoredVolume)


def _areas(name: str, regions: list[tuple[str, Crop]], case: CaseForm) -> Iterator[Measurement]:
    for structure, region in regions:
        pixels = int(np.count_nonzero(region.values))
        yield from _extent(name, "area", structure, pixels, case.width * case.height, 1.0, "pixels")


def _extent(
    name: str, word: str, structure: str, number: int, whole: int, voxel: float, unit: str
) -> Iterator[Measurement]:
    """Yield the size and the share of a structure of a number of pixels or voxels; None without any."""
    yield Measurement(Quantity(f"{word} of {structure}", unit, name), number * voxel if number else None)
    share = 100 * number / whole if number else None
    yield Measurement(Quantity(f"share of the image that is {structure}", "%", name), share)


def _ratios(
    name: str, regions: list[tuple[str, Crop]], definition: VerticalDiameter
) -> Iterator[Measurement]:
    """Yield the ratios of each nested region to the next one around it, None where the outer one is empty."""
    for (inner, one), (outer, other) in pairwise(regions):
        diameters = [vertical_diameter(region.values, definition) for region in (one, other)]
        areas = [int(np.count_nonzero(region.values)) for region in (one, other)]
        vertical = vertical_cup_to_disc_ratio(*diameters) if areas[1] else None
        yield Measurement(Quantity(f"vertical ratio of {inner} to {outer}", "", name), vertical)
        of_areas = areas[0] / areas[1] if areas[1] else None
        yield Measurement(Quantity(f"ratio of the areas of {inner} and {outer}", "", name), of_areas)


def _sizes(name: str, kind: LabelMap, value: LabelMapValue) -> Iterator[Measurement]:
    counts = np.bincount(value.positions.ravel(), minlength=len(kind.labels) + 1)
    voxel, unit = _voxel(value, kind.dimensions)
    word = "area" if kind.dimensions == 2 else "volume"
    for position, structure in enumerate(kind.labels.values(), start=1):
        yield from _extent(name, word, structure, int(counts[position]), math.prod(value.shape), voxel, unit)


def _lesions(name: str, value: LabelMapValue, foreground: int) -> Iterator[Measurement]:
    labelled, count = components_of((value.positions > 0) & (value.positions <= foreground))
    voxel, unit = _voxel(value, 2 if value.shape[0] == 1 else 3)
    sizes = np.bincount(labelled.ravel(), minlength=count + 1)[1 : count + 1] * voxel
    yield Measurement(Quantity("number of lesions", "", name), float(count) or None)
    word = "area" if value.shape[0] == 1 else "volume"
    yield Measurement(Quantity(f"{word} of a lesion", unit, name, "object"), tuple(sizes.tolist()))


def _voxel(value: LabelMapValue, dimensions: int) -> tuple[float, str]:
    if value.spacing_mm is None:
        return 1.0, "pixels" if dimensions == 2 else "voxels"
    return math.prod(value.spacing_mm), "mm²" if dimensions == 2 else "mm³"


def _of_volume(name: str, value: StoredVolume, case: CaseForm) -> Iterator[Measurement]:
    """Yield the volume of each level of whole numbers, else the volume above 0 and the mean value there."""
    spacing = geometry_of(case).spacing_mm
    voxel, unit = (1.0, "voxels") if spacing is None else (math.prod(spacing), "mm³")
    if value.kind.whole:
        counts = np.zeros(int(value.kind.maximum) + 1, dtype=np.int64)
        for content in map(_content, value.planes()):
            counts += np.bincount(content.astype(np.int64), minlength=len(counts))
        for level, count in enumerate(counts.tolist()[1:], start=1):
            yield Measurement(Quantity(f"volume of level {level}", unit, name), count * voxel or None)
        return
    number, total = 0, 0.0
    for content in map(_content, value.planes()):
        number += content.size
        total += float(content.sum(dtype=np.float64))
    yield Measurement(Quantity("volume above 0", unit, name), number * voxel or None)
    yield Measurement(Quantity("mean value above 0", "", name), total / number if number else None)


def _content(plane: Crop) -> NDArray[Any]:
    return plane.values[plane.values > 0]


# --- Measurements of boxes, points and flags of the reference: numbers, sizes and positions ---

_ALL = ("",)
_CORNERS = 2
"""The position of the first corner in a row of boxes, after class and confidence."""


def measured_objects(name: str, kind: Kind, value: Any, inclusive: bool) -> Iterator[Measurement]:
    """Yield the measurements of boxes, points and key points; nothing for any other value.

    The count of a class that a case lacks is None, so that the number of cases tells how many have it.
    ``inclusive``: both corners of a box belong to it.
    """
    if isinstance(value, Boxes):
        yield from _boxes(name, kind, value, inclusive)
    elif isinstance(kind, Keypoints) and isinstance(value, PointSet):
        for position, index in zip(value.positions, value.classes.tolist(), strict=True):
            for axis, coordinate in zip(kind.space.names, position.tolist(), strict=False):
                quantity = Quantity(f"{axis} of {kind.names[index]}", kind.space.unit, name)
                yield Measurement(quantity, coordinate)
    elif isinstance(value, PointSet):
        yield from _points(name, kind, value)


def flags_of(submitted: Kind | None, value: Any) -> dict[str, str] | None:
    """Return the flags of a case by name: "yes", "no", or "undecided"; None for any other value."""
    if not isinstance(submitted, FlagSet) or not isinstance(value, tuple):
        return None
    words = {True: "yes", False: "no", None: "undecided"}
    return {name: words[flag] for name, flag in zip(submitted.names, value, strict=True)}


def _boxes(name: str, kind: Kind, value: Boxes, inclusive: bool) -> Iterator[Measurement]:
    classes: Sequence[str] = ()
    unit = "pixels"
    if isinstance(kind, BoxList):
        classes = kind.classes
    elif isinstance(kind, BoxesInSpace):
        classes, unit = kind.attributes.classes, kind.space.unit
    axes = (value.rows.shape[1] - _CORNERS) // 2
    lower, upper = value.rows[:, _CORNERS : _CORNERS + axes], value.rows[:, _CORNERS + axes :]
    sides = upper - lower + (1.0 if inclusive else 0.0)
    for position, title in enumerate(classes or _ALL):
        chosen = value.rows[:, 0] == position
        yield _number(name, "boxes", title, int(np.count_nonzero(chosen)))
        content = np.prod(sides[chosen], axis=1)
        word = "area" if axes == 2 else "volume"
        power = unit if unit == "pixels" else f"{unit}{'²' if axes == 2 else '³'}"
        measure = Quantity(_of(f"{word} of a box", title), power, name, "object")
        yield Measurement(measure, tuple(content.tolist()))
        if axes == 2:
            width, height = sides[chosen & (sides[:, 1] > 0)].T
            ratio = Quantity(_of("width to height of a box", title), "", name, "object")
            yield Measurement(ratio, tuple((width / height).tolist()))
    if len(classes) > 1:
        yield _number(name, "boxes", "any class", len(value.rows))


def _points(name: str, kind: Kind, value: PointSet) -> Iterator[Measurement]:
    classes = kind.attributes.classes if isinstance(kind, Points) else ()
    unit = kind.space.unit if isinstance(kind, Points) else ""
    for position, title in enumerate(classes or _ALL):
        chosen = value.classes == position
        yield _number(name, "points", title, int(np.count_nonzero(chosen)))
        if isinstance(kind, Points) and kind.with_diameter:
            diameters = value.diameters[chosen]
            quantity = Quantity(_of("diameter of a point", title), unit, name, "object")
            yield Measurement(quantity, tuple(diameters[~np.isnan(diameters)].tolist()))
    if len(classes) > 1:
        yield _number(name, "points", "any class", len(value))


def _number(name: str, objects: str, title: str, count: int) -> Measurement:
    return Measurement(Quantity(_of(f"number of {objects}", title), "", name), float(count) or None)


def _of(what: str, title: str) -> str:
    return f"{what} of {title}" if title else what


# --- The columns of the case table as numbers or classes ---

MOST_CLASSES = 10
"""Most different numbers of a column of classes; with more, it is one of numbers."""
MOST_VALUES = 30
"""Most different texts of a column that is listed; with more, it holds names."""
_NOT_DESCRIBED = ("name", "width", "height", CLUSTER_COLUMN, STACK_NAME, STACK_INDEX)
"""Columns that identify cases or are described otherwise: sizes as one, clusters by their number."""


@dataclass(frozen=True)
class Numbers:
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


def columns_of(phases: Sequence[Phase]) -> dict[str, tuple[str, ...]]:
    """Return the columns of all case tables; a phase may lack some."""
    names = dict.fromkeys(column for phase in phases for column in phase.cases.columns)
    return {name: tuple(row.cells.get(name, "") for phase in phases for row in phase.rows) for name in names}


def _of_case_table(
    columns: Mapping[str, Sequence[str]], forms: Sequence[CaseForm], codes: Collection[str]
) -> tuple[list[Numbers], list[Classes]]:
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
            numbers.append(Numbers(quantity, values, np.array(filled, dtype=np.int64), every))
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
    # Columns that are replaced by a reference derived from them.
    codes = {
        column
        for phase in phases
        for field in references_of(phase.tasks)
        if isinstance(field.reference.location, CaseColumns) and _is_derived(field)
        for column in field.reference.location.columns
    }
    numbers, classes = _of_case_table(columns, forms, codes)
    measured = _Measured(len(forms))
    problems: list[str] = []
    start = 0
    for phase in phases:
        place = f"{phase.config.name}: " if len(phases) > 1 else ""
        problems += (f"{place}{problem}" for problem in _measure(phase, start, measured, progress))
        start += len(phase.cases.forms)
    PhaseError.raise_all(problems)
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
        self.notices: dict[str, None] = {}

    def add(self, case: int, measurement: Measurement) -> None:
        number = measurement.number
        numbers = () if number is None else number if isinstance(number, tuple) else (float(number),)
        self._found[measurement.quantity][case] += numbers

    def numbers(self) -> list[Numbers]:
        """Return the measurements as columns; fields of different cases with the same quantity share one."""
        columns: dict[Quantity, dict[int, list[float]]] = defaultdict(dict)
        for quantity, of_case in self._found.items():
            columns[self._named(quantity)] |= of_case
        return [self._column(named, dict(sorted(of_case.items()))) for named, of_case in columns.items()]

    def _column(self, named: Quantity, of_case: Mapping[int, Sequence[float]]) -> Numbers:
        cases = np.array(list(of_case), dtype=np.int64)
        values = np.array(list(chain(*of_case.values())), dtype=np.float64)
        could_have = np.isin(np.arange(self._cases), cases)
        return Numbers(named, values, np.repeat(cases, list(map(len, of_case.values()))), could_have)

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
    references = [field for field in references_of(phase.tasks) if _is_derived(field)]
    reference = OpenReference(phase.reference, references)
    submitted = {field.name: field.kind for field in fields_of(phase.tasks)}
    diameter: VerticalDiameter = getattr(phase.options, "vertical_diameter", "column_count")
    inclusive = bool(getattr(phase.options, "inclusive_corners", False))

    def measure(at: int, field: AnyField, case: CaseForm, value: Any) -> None:
        kind = field.reference.kind
        flags = flags_of(submitted.get(field.name), value)
        for name, word in (flags or {}).items():
            measured.flags[Quantity(name, "", field.name)][at] = word
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


def _is_derived(field: AnyField) -> bool:
    """Return whether a reference holds more than its cells, which are columns of their own."""
    kind = field.reference.kind
    if not isinstance(field.reference.location, CaseColumns):
        return True
    flags = isinstance(field, Field) and isinstance(field.kind, FlagSet) and not isinstance(kind, FlagSet)
    return flags or isinstance(kind, BoxesInSpace)
