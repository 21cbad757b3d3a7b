"""Fields that predict survival, and their concordance."""

import math
from typing import Literal

from pydantic import FiniteFloat, model_validator

from evaluation.challenges.declared.tables import FieldTable, Measure, MetricTable, Positive, RowFieldTable
from evaluation.core.case_table import Row
from evaluation.core.class_estimators import Concordance
from evaluation.core.field import Field
from evaluation.core.keys import Key
from evaluation.core.metric import Metric
from evaluation.io.kinds.survival import ObservedTime, SurvivalPrediction, TimeToEvent


class SurvivalField(RowFieldTable):
    """A predicted time to an event, or with `risk` a predicted risk; any number that orders the cases.

    In an archive it is a column of a table, in an algorithm phase a JSON number (Float). The reference is two
    columns of `cases.csv`: the time of observation of a case, at least 0, and 1 if the event ended it or 0 if
    the case was censored.
    """

    kind: Literal["survival"]
    risk: bool = Key(default=False, description="Whether a higher number means an earlier event.")
    horizon: Positive | None = Key(
        default=None,
        description="With `risk`: the time until which the number is the probability of the event. Reports "
        "then show its calibration at this time. Default: none.",
    )
    minimum: FiniteFloat | None = Key(default=None, description="Smallest valid number. Default: none.")
    maximum: FiniteFloat | None = Key(default=None, description="Largest valid number. Default: none.")
    unit: str = Key(default="", description="Unit of the observed times, and of predicted times.")
    column: str | None = Key(
        default=None, description="Column of the submission's table. Default: the field's name."
    )
    time: str = Key(default="time", description="Column of `cases.csv` with the observed time.")
    event: str = Key(
        default="event", description="Column of `cases.csv` that says whether the event ended it."
    )

    @model_validator(mode="after")
    def _some_range(self) -> "SurvivalField":
        if self.minimum is not None and self.maximum is not None and self.minimum >= self.maximum:
            raise ValueError(f"expected minimum < maximum, found {self.minimum:g} and {self.maximum:g}")
        if self.horizon is not None and (not self.risk or (self.minimum, self.maximum) != (0, 1)):
            raise ValueError("horizon: expected a probability: risk = true, minimum = 0 and maximum = 1")
        return self

    def field(self, name: str) -> Field:
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        kind = SurvivalPrediction(
            low, high, "" if self.risk else self.unit, risk=self.risk, horizon=self.horizon
        )
        reference = TimeToEvent(self.unit)
        return self.row_field(name, kind, [self.column or name], reference, [self.time, self.event])


class ConcordanceIndex(MetricTable):
    """A pair is comparable if the earlier of its times is an event.

    Of two equal times exactly one must be an event, which counts as the earlier. Equal predictions count
    half. A case without a result loses every pair. Above 20,000 cases an interval is computed only if the
    phase asks for it.

    Oracle: lifelines, `concordance_index`.
    """

    metric: Literal["concordance_index"]
    kinds = (SurvivalField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        assert isinstance(table, SurvivalField)
        predicted, time, event = (f"{field_name}_{part}" for part in ("predicted", "time", "event"))

        def columns(number: float, observed: ObservedTime) -> Row:
            return {predicted: number, time: observed.time, event: float(observed.event)}

        concordance = Concordance(predicted, time, event, table.risk)
        metric = Metric(name, self.title_of(name), concordance, best=1, worst=0)
        return Measure.of_values(metric, field_name, columns, missing=math.nan)
