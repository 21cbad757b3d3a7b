"""Numbers: likelihoods of one of two classes, and measurements with true values."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import model_validator

from evaluation.challenges.declared.scalar import TwoClassFieldTable
from evaluation.challenges.declared.table import key
from evaluation.core.field import Field
from evaluation.io.kinds.number import Number
from evaluation.io.kinds.two_classes import Score


class NumberField(TwoClassFieldTable):
    """A finite number: a likelihood, a score or a measurement.

    In an archive it is a column of a table, in an algorithm phase a JSON number (Float or Integer). The
    reference is a column of `cases.csv`: the true number, or with `positive` and `negative` the class of the
    case.
    """

    kind: Literal["number"]
    minimum: float | None = key("Smallest valid number. Default: none.", None, allow_inf_nan=False)
    maximum: float | None = key("Largest valid number. Default: none.", None, allow_inf_nan=False)
    unit: str = key("Unit of the number.", "")

    @model_validator(mode="after")
    def _some_range(self) -> NumberField:
        if self.minimum is not None and self.maximum is not None and self.minimum >= self.maximum:
            raise ValueError(f"expected minimum < maximum, found {self.minimum:g} and {self.maximum:g}")
        return self

    @property
    def range(self) -> float:
        """The difference of the bounds; infinite if one is missing."""
        if self.minimum is None or self.maximum is None:
            return math.inf
        return self.maximum - self.minimum

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        classes = self.two_classes
        if classes is not None:
            return self.column_field(name, Score(low, high, self.unit), classes)
        number = Number(low, high, self.unit)
        return self.column_field(name, number, number)
