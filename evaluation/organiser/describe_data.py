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
    kind: Kind,
    value: Any,
    case: CaseForm,
    submitted: Kind | None = None,
    diameter: VerticalDiameter = "column_count",
    inclusive: bool = False,
) -> Iterator[Measurement]:
    """Yield the measurements of a mask, a map, a volume, boxes or points; nothing for any other value.

    ``submitted`` is the kind of the predictions: where it detects lesions, the components of the reference
    are counted and measured. ``inclusive``: both corners of a box belong to it. A structure that the case
    lacks is measured as None, and so is the count of a class that it lacks: the number of cases tells how
    many have it.
    """
    if isinstance(kind, LabelMask):
        within = dict(kind.regions())
        regions = [(structure, region_of(value, within[label])) for label, structure in kind.labels.items()]
        yield from _areas(regions, case)
        if kind.nested:
            yield from _ratios(regions, diameter)
    elif isinstance(kind, MultilabelMask):
        yield from _areas(list(zip(kind.classes, value, strict=True)), case)
    elif isinstance(kind, LabelMap):
        yield from _sizes(kind, value)
        if isinstance(submitted, DetectionMap):
            yield from _lesions(value, submitted.foreground)
    elif isinstance(value, StoredVolume):
        yield from _of_volume(value, case)
    elif isinstance(value, Boxes):
        yield from _boxes(kind, value, inclusive)
    elif isinstance(kind, Keypoints) and isinstance(value, PointSet):
        for position, index in zip(value.positions, value.classes.tolist(), strict=True):
            for axis, coordinate in zip(kind.space.names, position.tolist(), strict=False):
                yield Measurement(f"{axis} of {kind.names[index]}", coordinate, kind.space.unit)
    elif isinstance(value, PointSet):
        yield from _points(kind, value)


def is_measured(kind: Kind, value: Any) -> bool:
    """Return whether `measurements_of` measures a mask, a map or a volume, whatever it holds."""
    return isinstance(kind, LabelMask | MultilabelMask | LabelMap) or isinstance(value, StoredVolume)


def _areas(regions: list[tuple[str, Crop]], case: CaseForm) -> Iterator[Measurement]:
    for structure, region in regions:
        pixels = int(np.count_nonzero(region.values))
        yield from _extent("area", structure, pixels, case.width * case.height, 1.0, "pixels")


def _extent(
    word: str, structure: str, number: int, whole: int, voxel: float, unit: str
) -> Iterator[Measurement]:
    """Yield the size and the share of a structure of a number of pixels or voxels; None without any."""
    yield Measurement(f"{word} of {structure}", number * voxel if number else None, unit)
    share = 100 * number / whole if number else None
    yield Measurement(f"share of the image that is {structure}", share, "%")


def _ratios(regions: list[tuple[str, Crop]], definition: VerticalDiameter) -> Iterator[Measurement]:
    """Yield the ratios of each nested region to the next one around it, None where the outer one is empty."""
    for (inner, one), (outer, other) in pairwise(regions):
        diameters = [vertical_diameter(region.values, definition) for region in (one, other)]
        areas = [int(np.count_nonzero(region.values)) for region in (one, other)]
        vertical = vertical_cup_to_disc_ratio(*diameters) if areas[1] else None
        yield Measurement(f"vertical ratio of {inner} to {outer}", vertical)
        of_areas = areas[0] / areas[1] if areas[1] else None
        yield Measurement(f"ratio of the areas of {inner} and {outer}", of_areas)


def _sizes(kind: LabelMap, value: LabelMapValue) -> Iterator[Measurement]:
    counts = np.bincount(value.positions.ravel(), minlength=len(kind.labels) + 1)
    voxel, unit = _voxel(value, kind.dimensions)
    word = "area" if kind.dimensions == 2 else "volume"
    for position, structure in enumerate(kind.labels.values(), start=1):
        yield from _extent(word, structure, int(counts[position]), math.prod(value.shape), voxel, unit)


def _lesions(value: LabelMapValue, foreground: int) -> Iterator[Measurement]:
    labelled, count = components_of((value.positions > 0) & (value.positions <= foreground))
    voxel, unit = _voxel(value, 2 if value.shape[0] == 1 else 3)
    sizes = np.bincount(labelled.ravel(), minlength=count + 1)[1 : count + 1] * voxel
    yield Measurement("number of lesions", float(count) or None)
    word = "area" if value.shape[0] == 1 else "volume"
    yield Measurement(f"{word} of a lesion", tuple(sizes.tolist()), unit)


def _voxel(value: LabelMapValue, dimensions: int) -> tuple[float, str]:
    if value.spacing_mm is None:
        return 1.0, "pixels" if dimensions == 2 else "voxels"
    return math.prod(value.spacing_mm), "mm²" if dimensions == 2 else "mm³"


def _of_volume(value: StoredVolume, case: CaseForm) -> Iterator[Measurement]:
    """Yield the volume of each level of whole numbers, else the volume above 0 and the mean value there."""
    spacing = geometry_of(case).spacing_mm
    voxel, unit = (1.0, "voxels") if spacing is None else (math.prod(spacing), "mm³")
    if value.kind.whole:
        counts = np.zeros(int(value.kind.maximum) + 1, dtype=np.int64)
        for content in map(_content, value.planes()):
            counts += np.bincount(content.astype(np.int64), minlength=len(counts))
        for level, count in enumerate(counts.tolist()[1:], start=1):
            yield Measurement(f"volume of level {level}", count * voxel or None, unit)
        return
    number, total = 0, 0.0
    for content in map(_content, value.planes()):
        number += content.size
        total += float(content.sum(dtype=np.float64))
    yield Measurement("volume above 0", number * voxel or None, unit)
    yield Measurement("mean value above 0", total / number if number else None)


def _content(plane: Crop) -> NDArray[Any]:
    return plane.values[plane.values > 0]


def flags_of(submitted: Kind | None, value: Any) -> dict[str, str]:
    """Return the flags of a case by name: "yes", "no", or "undecided"; none for any other value."""
    if not isinstance(submitted, FlagSet) or not isinstance(value, tuple):
        return {}
    words = {True: "yes", False: "no", None: "undecided"}
    return {name: words[flag] for name, flag in zip(submitted.names, value, strict=True)}


_CORNERS = 2
"""The position of the first corner in a row of boxes, after class and confidence."""


def _boxes(kind: Kind, value: Boxes, inclusive: bool) -> Iterator[Measurement]:
    classes: Sequence[str] = ()
    unit = "pixels"
    if isinstance(kind, BoxList):
        classes = kind.classes
    elif isinstance(kind, BoxesInSpace):
        classes, unit = kind.attributes.classes, kind.space.unit
    axes = (value.rows.shape[1] - _CORNERS) // 2
    lower, upper = value.rows[:, _CORNERS : _CORNERS + axes], value.rows[:, _CORNERS + axes :]
    sides = upper - lower + (1.0 if inclusive else 0.0)
    for position, of in enumerate([f" of {name}" for name in classes] or [""]):
        chosen = value.rows[:, 0] == position
        yield Measurement(f"number of boxes{of}", float(np.count_nonzero(chosen)) or None)
        content = np.prod(sides[chosen], axis=1)
        word = "area" if axes == 2 else "volume"
        power = unit if unit == "pixels" else f"{unit}{'²' if axes == 2 else '³'}"
        yield Measurement(f"{word} of a box{of}", tuple(content.tolist()), power)
        if axes == 2:
            width, height = sides[chosen & (sides[:, 1] > 0)].T
            yield Measurement(f"width to height of a box{of}", tuple((width / height).tolist()))
    if len(classes) > 1:
        yield Measurement("number of boxes of any class", float(len(value.rows)) or None)


def _points(kind: Kind, value: PointSet) -> Iterator[Measurement]:
    classes = kind.attributes.classes if isinstance(kind, Points) else ()
    unit = kind.space.unit if isinstance(kind, Points) else ""
    for position, of in enumerate([f" of {name}" for name in classes] or [""]):
        chosen = value.classes == position
        yield Measurement(f"number of points{of}", float(np.count_nonzero(chosen)) or None)
        if isinstance(kind, Points) and kind.with_diameter:
            known = value.diameters[chosen & ~np.isnan(value.diameters)]
            yield Measurement(f"diameter of a point{of}", tuple(known.tolist()), unit)
    if len(classes) > 1:
        yield Measurement("number of points of any class", float(len(value)) or None)


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

    def add(self, case: int, field: str, measured: Measurement) -> None:
        number = measured.number
        numbers = () if number is None else number if isinstance(number, tuple) else (float(number),)
        self._found[measured.quantity(field)][case] += numbers

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
        for name, word in flags.items():
            measured.flags[Quantity(name, "", field.name)][at] = word
        found = list(measurements_of(kind, value, case, submitted.get(field.name), diameter, inclusive))
        for measurement in found:
            measured.add(at, field.name, measurement)
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
