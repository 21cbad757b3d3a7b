"""Classes: decisions between two, one of several, and the probabilities of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import model_validator

from evaluation.challenges.declared.scalar import ColumnFieldTable, ScalarFieldTable, TwoClassFieldTable
from evaluation.challenges.declared.table import key
from evaluation.core.field import Field
from evaluation.io.kinds.class_label import ClassLabel, ReferenceClass, problem_of_classes
from evaluation.io.kinds.class_probabilities import ClassProbabilities
from evaluation.io.kinds.number import Label

_CLASSES = "The classes, in their order if they have one: texts, or whole numbers."
_EXCLUDED = "Cells of the reference of cases that do not enter."


class DecisionField(TwoClassFieldTable):
    """A decision between two classes: 1 or 0, for example whether a condition is present.

    In an archive it is a column of 0 and 1, in an algorithm phase a JSON boolean (Bool). The reference is a
    column of `cases.csv`: 0 or 1, or with `positive` and `negative` the class of the case.
    """

    kind: Literal["decision"]

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        return self.column_field(name, Label(), self.two_classes or Label())


class ClassField(ColumnFieldTable):
    """One of several classes, such as a grade or a diagnosis.

    In an archive it is a column of a table. In an algorithm phase it is JSON: the text of the class (String,
    Choice), the whole number (Integer), or with `boolean` false or true (Bool). The reference is a column of
    `cases.csv`. Texts are compared exactly; a whole number may be written 2.0, and 2.7 is an error. Metrics
    other than shares of cases write the confusion matrix to the organiser's `cases.json`.
    """

    kind: Literal["class"]
    classes: list[str] | list[int] = key(_CLASSES)
    boolean: bool = key(
        "Algorithm phases: whether the value is a JSON boolean, false for the first of two classes.", False
    )
    excluded: list[str] = key(_EXCLUDED, [])

    @model_validator(mode="after")
    def _good_classes(self) -> ClassField:
        check_class_names(self.classes, self.excluded)
        if self.boolean and len(self.classes) != 2:
            raise ValueError(f"boolean: expected two classes, found {len(self.classes)}")
        return self

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        classes: tuple[str | int, ...] = tuple(self.classes)
        reference = ReferenceClass(classes, excluded=tuple(self.excluded))
        return self.column_field(name, ClassLabel(classes, self.boolean), reference)


class ClassProbabilitiesField(ScalarFieldTable):
    """The probabilities of several classes.

    In an archive each class has a column of the table. In an algorithm phase it is JSON (Anything): an object
    with a number for each class, or a list of numbers in the order of the classes. Probabilities are finite
    and from 0 to 1, and their sum is 1. The reference is the class, a column of `cases.csv`.
    """

    kind: Literal["class_probabilities"]
    classes: list[str] = key("The classes.")
    columns: list[str] | None = key(
        "Columns of the submission's table, one for each class. Default: the names of the classes.", None
    )
    tolerance: float = key("How far the sum may be from 1.", 1e-3, ge=0, le=1)
    free_sum: bool = key("Whether the sum may be any, for classes that do not exclude each other.", False)
    reference: str | None = key("Column of `cases.csv` with the class. Default: the field's name.", None)
    excluded: list[str] = key(_EXCLUDED, [])

    @model_validator(mode="after")
    def _good_classes(self) -> ClassProbabilitiesField:
        check_class_names(self.classes, self.excluded)
        if self.columns is not None and len(set(self.columns)) != len(self.classes):
            raise ValueError(f"columns: expected one for each of {len(self.classes)} classes")
        return self

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        classes: tuple[str, ...] = tuple(self.classes)
        return self.scalar_field(
            name,
            ClassProbabilities(classes, None if self.free_sum else self.tolerance),
            tuple(self.columns or classes),
            ReferenceClass(classes, excluded=tuple(self.excluded)),
            (self.reference or name,),
        )


def check_class_names(classes: Sequence[str | int], excluded: Sequence[str]) -> None:
    """Raise ValueError for classes that could be confused, or that are excluded too."""
    if problem := problem_of_classes(tuple(classes)):
        raise ValueError(problem)
    if both := [name for name in excluded if name in map(str, classes)]:
        raise ValueError(f"excluded: expected cells that are no class, found {both[0]!r}")
