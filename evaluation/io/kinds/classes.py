"""One class of several, the probabilities of several classes, and sets of named flags."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from evaluation.core.fault import Fault, FaultKind, FormFault, hint_of_name, in_digits, name_meant, shorten
from evaluation.core.field import ColumnKind, Kind, Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, JsonSource, Source, fault_at
from evaluation.core.views import Choices, Numbers
from evaluation.io.handover import HandoverError, Packed, array_of, list_of, number_within
from evaluation.io.json_files import json_kind
from evaluation.io.kinds.number import all_numbers, faults_of_keys, number_of_cell, number_of_json, shortest


@dataclass(frozen=True)
class CellText(Kind):
    """Any text in a cell of a table, such as the centre that a case comes from."""

    def read_cells(self, source: CellsSource, case: CaseForm) -> str:
        return source.cells[0]

    def example(self, case: CaseForm, random: np.random.Generator) -> str:
        return "ABCDE"[random.integers(5)]

    def write_cells(self, value: str) -> tuple[str, ...]:
        return (value,)

    def describe(self) -> str:
        return "any text"


@dataclass(frozen=True)
class ImageSize(Kind):
    """The size of the case's image and the spacing along each of its two or three axes, from ``columns``.

    Without ``in_mm`` the spacing is 1.
    """

    axes: int = 2
    in_mm: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return ("width", "height", "depth")[: self.axes] + ("spacing_mm",) * self.in_mm

    def read_cells(self, source: CellsSource, case: CaseForm) -> list[list[float]]:
        cells = [str(case.width), str(case.height), *source.cells[2:]]
        try:
            sizes, spacing = list(map(float, cells[: self.axes])), [1.0] * self.axes
            if self.in_mm:
                spacing = list(map(float, cells[-1].split()))
        except ValueError:
            sizes = spacing = []
        if len(spacing) != self.axes or not all(0 < value < math.inf for value in (*sizes, *spacing)):
            raise fault_at(source, self.describe(), ", ".join(map(repr, cells)))
        return [sizes, spacing]

    def example(self, case: CaseForm, random: np.random.Generator) -> list[list[float]]:
        return [[case.width or 64.0, case.height or 48.0, 32.0][: self.axes], [1.0] * self.axes]

    def write_cells(self, value: list[list[float]]) -> tuple[str, ...]:
        sizes, spacing = value
        return tuple(f"{size:g}" for size in sizes) + (" ".join(map(str, spacing)),) * self.in_mm

    def describe(self) -> str:
        spacing = ", and the spacing along each axis in mm" if self.in_mm else ""
        return f"{', '.join(self.columns[: self.axes])} of the image in pixels{spacing}"


# --- One class of several, from table cells or JSON ---

_LARGEST_INTEGER = 1 << 31


@dataclass(frozen=True)
class ClassLabel(ColumnKind):
    """One of the listed classes, read as its position in the list.

    classes: at least two, all texts or all whole numbers below 2^31, in their order if they have one. A text
    is compared exactly; a whole number may also be written with a decimal point (``2.0``). With
    ``boolean_json`` two classes are false and true in JSON; otherwise the class itself, as text or number.
    Raises ValueError for classes that could be confused: empty, "nan", or different in case only.
    """

    item_bytes: ClassVar[int] = 8

    classes: tuple[str | int, ...]
    boolean_json: bool = False

    def __post_init__(self) -> None:
        if problem := problem_of_classes(self.classes):
            raise ValueError(problem)
        if self.boolean_json and len(self.classes) != 2:
            raise ValueError(f"classes: expected two for true and false, found {len(self.classes)}")

    @property
    def are_numbers(self) -> bool:
        """Whether the classes are whole numbers."""
        return isinstance(self.classes[0], int)

    @cached_property
    def _positions(self) -> dict[str | int | float, int]:
        return {name: position for position, name in enumerate(self.classes)}

    def read_cells(self, source: CellsSource, case: CaseForm) -> int:
        if self.are_numbers:
            return self._of_number(source, number_of_cell(source, 0, self.describe()))
        cell = source.cells[0]
        return self._of_text(source, cell, repr(shorten(cell)) if cell else "nothing")

    def read_json(self, source: JsonSource, case: CaseForm) -> int:
        value, expected = source.value, self.describe_json()
        if self.boolean_json:
            if not isinstance(value, bool):
                raise fault_at(source, expected, json_kind(value), FaultKind.MALFORMED)
            return int(value)
        if self.are_numbers:
            return self._of_number(source, number_of_json(source, value, expected))
        if not isinstance(value, str):
            as_text = json_kind(value).removeprefix("the number ")
            hint = f'did you mean the text "{as_text}"?' if as_text in self._positions else None
            raise fault_at(source, expected, json_kind(value), FaultKind.MALFORMED, hint)
        return self._of_text(source, value, json_kind(value))

    def _of_number(self, source: Source, value: float) -> int:
        if value not in self._positions:
            raise fault_at(source, self.describe(), shortest(value))
        return self._positions[value]

    def _of_text(self, source: Source, text: str, found: str) -> int:
        if (name := name_meant(text, self.names)) is None:
            raise fault_at(source, self.describe(), found, hint=hint_of_name(text, self.names))
        return self._positions[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The classes as texts."""
        return tuple(map(str, self.classes))

    def pack_all(self, values: Sequence[int]) -> Packed:
        return np.array(values, np.int64)

    def unpack_all(self, packed: Packed, count: int) -> list[int]:
        positions = array_of(packed, ["<i8"], 1)
        inside = (positions >= 0) & (positions < len(self.classes))
        if len(positions) != count or not inside.all():
            raise HandoverError(f"expected {count} of {len(self.classes)} classes")
        found: list[int] = positions.tolist()
        return found

    def rehearse(self, reference: float, case: CaseForm, variant: Variant) -> int:
        """Return a class: empty, or without a label (NaN), the first; inverted, the most distant one.

        Near-perfect is perfect.
        """
        if math.isnan(reference) or variant is Variant.EMPTY:
            return 0
        position, last = int(reference), len(self.classes) - 1
        if variant is Variant.INVERTED:
            return 0 if 2 * position > last else last
        return position

    def example(self, case: CaseForm, random: np.random.Generator) -> int:
        return int(random.integers(len(self.classes)))

    @property
    def choices(self) -> Choices:
        return Choices(
            lambda value: (None if math.isnan(value) else int(value),),
            lambda one: math.nan if one[0] is None else one[0],
            self.names,
            neither="excluded",
        )

    def write_cells(self, value: int) -> tuple[str, ...]:
        return (self.names[value],)

    def write_json(self, value: int) -> str | int | bool:
        return bool(value) if self.boolean_json else self.classes[value]

    def describe(self) -> str:
        return self._words

    @cached_property
    def _words(self) -> str:
        first, last = self.classes[0], self.classes[-1]
        if isinstance(first, int) and self.classes == tuple(range(first, first + len(self.classes))):
            return f"a whole number from {first} to {last}" if len(self.classes) > 2 else f"{first} or {last}"
        return f"{', '.join(self.names[:-1])} or {last}"

    def describe_json(self) -> str:
        if self.boolean_json:
            first, second = self.classes
            return "true or false" if (first, second) == (0, 1) else f"true for {second}, false for {first}"
        return self.describe() if self.are_numbers else f"the text {self.describe()}"


@dataclass(frozen=True)
class ReferenceClass(ClassLabel):
    """The reference of a `ClassLabel`; ``excluded`` are cells of cases that do not enter, read as NaN."""

    excluded: tuple[str, ...] = ()

    def read_cells(self, source: CellsSource, case: CaseForm) -> float:  # type: ignore[override]
        return math.nan if source.cells[0] in self.excluded else float(super().read_cells(source, case))

    def read_json(self, source: JsonSource, case: CaseForm) -> float:  # type: ignore[override]
        return float(super().read_json(source, case))

    def write_cells(self, value: float) -> tuple[str, ...]:
        """Return the class as text, or the first cell of excluded cases. Raises IndexError without any."""
        return (self.excluded[0],) if math.isnan(value) else super().write_cells(int(value))


def problem_of_classes(classes: tuple[str | int, ...]) -> str | None:
    """Return the fault of a list of classes, None if it has none."""
    if len(classes) < 2:
        return f"classes: expected at least two, found {len(classes)}"
    if {type(name) for name in classes} not in ({str}, {int}):
        return f"classes: expected texts only or whole numbers only, found {', '.join(map(repr, classes))}"
    for name in classes:
        if isinstance(name, int) and abs(name) >= _LARGEST_INTEGER:
            return f"classes: expected whole numbers below {_LARGEST_INTEGER}, found {name}"
        if isinstance(name, str) and (name != name.strip() or name.casefold() in {"", "nan"}):
            return f"classes: expected names without spaces at their ends and not NaN, found {name!r}"
    keys = [str(name).casefold() for name in classes]
    for name, key in zip(classes, keys, strict=True):
        if keys.count(key) > 1:
            return f"classes: expected names that differ in more than case, found {name!r} twice"
    return None


LABEL = ClassLabel((0, 1), boolean_json=True)
"""A label 0 or 1; in JSON a boolean."""


def _with_names(value: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return an object with its keys in the letter case of the names, unless two of them are one name."""
    found = {name_meant(key, names) or key: item for key, item in value.items()}
    return found if len(found) == len(value) else value


# --- The probabilities of several classes, from columns of a table or from JSON ---

Probabilities = tuple[float, ...]
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

    def read_cells(self, source: CellsSource, case: CaseForm) -> Probabilities:

        def read(position: int) -> float:
            one = source.at(position)
            return _in_range(one, number_of_cell(one, 0, _NUMBER), _NUMBER)

        return self._summed(source, all_numbers(read, len(self.classes)))

    def read_json(self, source: JsonSource, case: CaseForm) -> Probabilities:
        value = source.value
        if isinstance(value, dict):
            value = _with_names(value, self.classes)
            FormFault.raise_all(faults_of_keys(replace(source, value=value), self.classes))
            value = [value[name] for name in self.classes]
        if not isinstance(value, list) or len(value) != len(self.classes):
            raise fault_at(source, self.describe_json(), json_kind(value), FaultKind.MALFORMED)

        def read(position: int) -> float:
            expected = f"{_NUMBER} for {self.classes[position]!r}"
            return _in_range(source, number_of_json(source, value[position], expected), expected)

        return self._summed(source, all_numbers(read, len(self.classes)))

    def _summed(self, source: CellsSource | JsonSource, values: Probabilities) -> Probabilities:
        if self.tolerance is not None and abs(math.fsum(values) - 1.0) > self.tolerance:
            expected = f"probabilities whose sum is 1 (within {self.tolerance:g})"
            raise fault_at(source, expected, f"a sum of {in_digits(math.fsum(values), 1)}")
        return values

    def unpack(self, packed: Packed, case: CaseForm) -> Probabilities:
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

    def example(self, case: CaseForm, random: np.random.Generator) -> Probabilities:
        return self.rehearse(float(random.integers(len(self.classes))), case, Variant.NEAR)

    @property
    def numbers(self) -> Numbers:
        return Numbers(tuple, tuple, self.classes)

    def write_cells(self, value: Probabilities) -> tuple[str, ...]:
        return tuple(map(repr, map(float, value)))

    def write_json(self, value: Probabilities) -> dict[str, float]:
        return dict(zip(self.classes, map(float, value), strict=True))

    def describe(self) -> str:
        names = ", ".join(self.classes)
        return f"{_NUMBER} for each of: {names}{self._sum()}"

    def describe_json(self) -> str:
        names = ", ".join(self.classes)
        return (
            f"an object with {_NUMBER} for each of: {names}{self._sum()}; "
            f"or a list of these {len(self.classes)} numbers in this order"
        )

    def _sum(self) -> str:
        return "" if self.tolerance is None else f"; their sum is 1 (within {self.tolerance:g})"


def _in_range(source: Source, value: float, expected: str) -> float:
    if not 0.0 <= value <= 1.0:
        raise fault_at(source, expected, shortest(value))
    return value


# --- A set of named flags, each true, false or missing ---

Flags = tuple[bool | None, ...]
_CELLS = {"1": True, "0": False, "": None}
_TEXTS = {value: text for text, value in _CELLS.items()}
_FLAGS = (False, True, None)
_CODES = {flag: code for code, flag in enumerate(_FLAGS)}


@dataclass(frozen=True)
class PresenceProbabilities(ClassProbabilities):
    """The probability of each of several classes, of which a case may have any; the reference: `FlagSet`."""

    tolerance: float | None = None

    def rehearse(  # type: ignore[override]  # a reference of another kind
        self, reference: Flags, case: CaseForm, variant: Variant
    ) -> Probabilities:
        """Return 1 and 0; near-perfect 0.9 and 0.1; empty 0 for all; inverted 0 and 1."""
        low = {Variant.PERFECT: 0.0, Variant.NEAR: 0.1, Variant.EMPTY: 0.0, Variant.INVERTED: 1.0}[variant]
        high = 0.0 if variant is Variant.EMPTY else 1 - low
        return tuple(high if flag else low for flag in reference)

    def example(self, case: CaseForm, random: np.random.Generator) -> Probabilities:
        return tuple(random.random(len(self.classes)).round(3).tolist())


@dataclass(frozen=True)
class FlagSet(ColumnKind):
    """Flags with given names; an object in JSON, or one column each of 1, 0 or nothing in a table.

    A flag that is null, empty or absent is missing. A name that is not in ``names`` is a fault. With
    ``listed`` the JSON is the list of the names of the flags that are present.
    """

    item_bytes: ClassVar[int] = 64

    names: tuple[str, ...]
    listed: bool = False

    def read_cells(self, source: CellsSource, case: CaseForm) -> Flags:
        faults: list[Fault] = []
        for position, cell in enumerate(source.cells):
            if cell not in _CELLS:
                one, found = source.at(position), repr(shorten(cell))
                faults += fault_at(one, "1, 0 or nothing", found, FaultKind.MALFORMED).faults
        FormFault.raise_all(faults)
        return tuple(_CELLS[cell] for cell in source.cells)

    def read_json(self, source: JsonSource, case: CaseForm) -> Flags:
        return self._of_list(source) if self.listed else self._of_object(source)

    def _of_list(self, source: JsonSource) -> Flags:
        value = source.value
        if not isinstance(value, list) or len(value) > len(self.names):
            raise fault_at(source, self.describe_json(), json_kind(value), FaultKind.MALFORMED)
        faults: list[Fault] = []
        value = [name_meant(name, self.names) or name for name in value]
        for position, name in enumerate(value):
            if name not in self.names or name in value[:position]:
                found = json_kind(name) if name not in self.names else f"{name!r} twice"
                hint = hint_of_name(name, self.names) if isinstance(name, str) else None
                faults += fault_at(source, self.describe_json(), found, hint=hint).faults
        FormFault.raise_all(faults)
        return tuple(name in value for name in self.names)

    def _of_object(self, source: JsonSource) -> Flags:
        value = source.value
        if not isinstance(value, dict):
            raise fault_at(source, "an object of true, false or null", json_kind(value), FaultKind.MALFORMED)
        flags = tuple(map(value.get, self.names))
        if len(value) == len(self.names) and all(flag is True or flag is False for flag in flags):
            return flags
        value = _with_names(value, self.names)
        faults = faults_of_keys(replace(source, value=value), (), self.names)
        for key in self.names:
            if not (value.get(key) is None or isinstance(value[key], bool)):
                found = json_kind(value[key])
                faults += fault_at(
                    source, f"true, false or null for {key!r}", found, FaultKind.MALFORMED
                ).faults
        FormFault.raise_all(faults)
        return tuple(map(value.get, self.names))

    def pack_all(self, values: Sequence[Flags]) -> Packed:
        codes = bytes(map(_CODES.__getitem__, chain.from_iterable(values)))
        return np.frombuffer(codes, np.uint8).reshape(len(values), len(self.names))

    def unpack_all(self, packed: Packed, count: int) -> list[Flags]:
        codes = array_of(packed, ["|u1"], 2)
        if codes.shape != (count, len(self.names)) or codes.max(initial=0) >= len(_FLAGS):
            raise HandoverError("expected true, false or null for every flag")
        return [tuple(map(_FLAGS.__getitem__, row)) for row in codes.tolist()]

    def rehearse(self, reference: Flags | None, case: CaseForm, variant: Variant) -> Flags:
        """Return all flags, false without a label; near-perfect is perfect."""
        if reference is None or variant is Variant.EMPTY:
            return (False,) * len(self.names)
        return tuple(bool(flag) is not (variant is Variant.INVERTED) for flag in reference)

    def example(self, case: CaseForm, random: np.random.Generator) -> Flags:
        return tuple(map(bool, random.integers(2, size=len(self.names))))

    @property
    def of_answers(self) -> "FlagSet":
        """The kind that reads the list of the options that were chosen."""
        return replace(self, listed=True)

    @property
    def choices(self) -> Choices:
        return Choices(
            lambda value: tuple(None if flag is None else int(flag) for flag in value),
            lambda given: tuple(None if flag is None else bool(flag) for flag in given),
            ("no", "yes"),
            self.names,
        )

    def write_cells(self, value: Flags) -> tuple[str, ...]:
        return tuple(_TEXTS[flag] for flag in value)

    def write_json(self, value: Flags) -> dict[str, bool | None] | list[str]:
        flags = dict(zip(self.names, value, strict=True))
        return [name for name, flag in flags.items() if flag] if self.listed else flags

    @property
    def socket_kind(self) -> str:
        return "Multiple choice" if self.listed else "Anything"

    def describe(self) -> str:
        return f"1, 0 or nothing for each of: {', '.join(self.names)}"

    def describe_json(self) -> str:
        if self.listed:
            return f"a list of texts, those that are present of: {', '.join(self.names)}"
        return f"an object with true, false or null for each of: {', '.join(self.names)}"
