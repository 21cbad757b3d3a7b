"""The labels of two graders and a specialist, as reference columns of the case table.

A phase keeps every grader's labels. Reading decides which of them count, so that an option can change it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from evaluation.challenges.justraigs.analyses import agreed_labels, counting_graders, final_label
from evaluation.core.challenge import DerivedColumn
from evaluation.core.fault import FaultKind
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, FileAccess, Source, cells_of, fault_at
from evaluation.io.kinds.classes import Flags

FINAL_COLUMN = "final_label"
LABEL_COLUMNS = ("label_g1", "label_g2", "label_g3")
FEATURE_COLUMNS = ("features_g1", "features_g2", "features_g3")
_MARKS: dict[str, bool | None] = {"1": True, "0": False, "-": None}
_AGREED: dict[bool | None, str] = {True: "present", False: "absent", None: "not agreed"}
_TEXTS = {value: mark for mark, value in _MARKS.items()}


@dataclass(frozen=True)
class GradedEye:
    """The labels of one eye: main labels of both graders and of the specialist, and features of each."""

    labels: tuple[str, ...]
    features: tuple[Flags, ...]


@dataclass(frozen=True)
class AgreedFeatures(Kind):
    """The features on which the graders that count agree, from the columns of all graders.

    ``features`` is their number. ``main_labels`` are the possible labels; features are graded for ``graded``.
    """

    features: int
    main_labels: tuple[str, ...]
    graded: str
    specialist_alone: bool = False

    def read_cells(self, source: CellsSource, case: CaseForm) -> Flags | None:
        """Return the agreed features, None for each in disagreement; None for an eye that is not ``graded``.

        Raises `FormFault` for a final label that contradicts the graders' labels.
        """
        final, labels, features = source.cells[0], source.cells[1:4], source.cells[4:]
        for position, label in enumerate(labels):
            if label not in self.main_labels and (label or position < 2):
                raise fault_at(source, f"{', '.join(self.main_labels)} of grader {position + 1}", repr(label))
        given = final_label(*labels)
        if final != given:
            found = "a disagreement without a specialist" if not given else f"graders who give {given}"
            raise fault_at(source, f"graders whose labels give {final}", found)
        marks = [self._flags(source, text) for text in features]
        if final != self.graded:
            return None
        counting = counting_graders(labels, self.specialist_alone)
        return agreed_labels([marks[grader] for grader in counting])

    def read_all(
        self, sources: Sequence[Source], cases: Sequence[CaseForm], files: FileAccess
    ) -> list[Flags | None]:
        """Return the agreed features of several cases, as `read_cells` does. Raises `FormFault`.

        Most eyes are not ``graded`` and share their cells: equal cells are read once.
        """
        known: dict[Sequence[str], Flags | None] = {}
        rows = cells_of(sources)
        for cells, source, case in zip(rows, sources, cases, strict=True):
            if cells not in known:
                known[cells] = self.read(source, case, files)
        return [known[cells] for cells in rows]

    def _flags(self, source: CellsSource, text: str) -> Flags:
        if not text:
            return (None,) * self.features
        if len(text) != self.features or not set(text) <= set(_MARKS):
            raise fault_at(
                source, f"nothing or {self.features} marks 1, 0 or -", repr(text), FaultKind.MALFORMED
            )
        return tuple(_MARKS[mark] for mark in text)

    def write_cells(self, value: GradedEye) -> tuple[str, ...]:
        return (final_label(*value.labels), *value.labels, *map(self._marks, value.features))

    def _marks(self, flags: Flags) -> str:
        return "".join(_TEXTS[flag] for flag in flags) if any(flag is not None for flag in flags) else ""

    def describe(self) -> str:
        return f"main labels and {self.features} features of two graders and of the specialist"


def agreed_columns(
    features: Sequence[str], graded: str, specialist_alone: bool
) -> Mapping[str, DerivedColumn]:
    """Return for every feature the column of the agreed labels in ``graded`` eyes.

    Its values are "present", "absent" and "not agreed"; it is empty for other eyes, and for cells without
    marks, which are faults when the reference is read.
    """
    return {
        f"agreed {feature}": DerivedColumn(
            (FINAL_COLUMN, *LABEL_COLUMNS, *FEATURE_COLUMNS),
            partial(_agreed_cell, position, graded, specialist_alone),
        )
        for position, feature in enumerate(features)
    }


def _agreed_cell(feature: int, graded: str, specialist_alone: bool, cells: Mapping[str, str]) -> str:
    if cells[FINAL_COLUMN] != graded:
        return ""
    counting = counting_graders([cells[column] for column in LABEL_COLUMNS], specialist_alone)
    given = [cells[FEATURE_COLUMNS[grader]][feature : feature + 1] for grader in counting]
    if not set(given) <= {"", *_MARKS}:
        return ""
    agreed = {_MARKS.get(mark) for mark in given}
    return _AGREED[agreed.pop()] if len(agreed) == 1 else _AGREED[None]
