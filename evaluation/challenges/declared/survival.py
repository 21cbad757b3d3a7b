"""Predictions of survival: numbers that order the cases by the time to an event."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import model_validator

from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.measure import Comparison, Measure, MetricTable
from evaluation.challenges.declared.scalar import ScalarFieldTable
from evaluation.challenges.declared.table import key
from evaluation.core.case_table import Row
from evaluation.core.challenge import Values
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.core.metric import Metric
from evaluation.core.value_aggregates import concordance_of
from evaluation.io.kinds.time_to_event import ObservedTime, SurvivalPrediction, TimeToEvent


class SurvivalField(ScalarFieldTable):
    """A predicted time to an event, or with `risk` a predicted risk; any number that orders the cases.

    In an archive it is a column of a table, in an algorithm phase a JSON number (Float). The reference is two
    columns of `cases.csv`: the time of observation of a case, at least 0, and 1 if the event ended it or 0 if
    the case was censored.
    """

    kind: Literal["survival"]
    risk: bool = key("Whether a higher number means an earlier event.", False)
    minimum: float | None = key("Smallest valid number. Default: none.", None, allow_inf_nan=False)
    maximum: float | None = key("Largest valid number. Default: none.", None, allow_inf_nan=False)
    unit: str = key("Unit of the observed times, and of predicted times.", "")
    column: str | None = key("Column of the submission's table. Default: the field's name.", None)
    time: str = key("Column of `cases.csv` with the observed time.", "time")
    event: str = key("Column of `cases.csv` that says whether the event ended it.", "event")

    @model_validator(mode="after")
    def _some_range(self) -> SurvivalField:
        if self.minimum is not None and self.maximum is not None and self.minimum >= self.maximum:
            raise ValueError(f"expected minimum < maximum, found {self.minimum:g} and {self.maximum:g}")
        return self

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        kind = SurvivalPrediction(low, high, "" if self.risk else self.unit, self.risk)
        reference = TimeToEvent(self.unit)
        return self.scalar_field(name, kind, (self.column or name,), reference, (self.time, self.event))


class ConcordanceIndex(MetricTable):
    """Harrell's concordance index: share of comparable pairs of cases that are predicted in their order.

    From 0 to 1, higher is better; 0.5 is chance. A pair is comparable if the earlier of its times is an
    event; of two equal times, if exactly one is an event, which counts as the earlier. Equal predictions
    count half. A case without a result loses every pair. Above 2000 cases an interval is computed only if the
    phase asks for it.

    Oracle: lifelines, `concordance_index`. Source: Harrell et al., Statistics in Medicine 15:361, 1996.
    """

    metric: Literal["concordance_index"]
    kinds = (SurvivalField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the index."""
        assert isinstance(table, SurvivalField)
        predicted, time, event = (f"{field_name}_{part}" for part in ("predicted", "time", "event"))

        def columns(number: float, observed: ObservedTime) -> Row:
            return {predicted: number, time: observed.time, event: float(observed.event)}

        def row(comparison: Comparison) -> Row:
            return columns(comparison.submitted, comparison.reference)

        def worst_row(case: CaseForm, references: Values) -> Row:
            return columns(math.nan, references[field_name])

        aggregate = concordance_of(predicted, time, event, table.risk)
        return Measure((Metric(name, self.title_of(name), aggregate, best=1, worst=0),), row, worst_row)
