"""Fields of one value a case: numbers, flags, and predictions of survival."""

import math
from abc import ABC
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import FiniteFloat, model_validator

from evaluation.challenges.declared.tables import (
    FieldTable,
    Measure,
    MetricTable,
    Part,
    Positive,
    RowFieldTable,
    Sums,
)
from evaluation.core.case_table import Row
from evaluation.core.class_estimators import Concordance
from evaluation.core.estimator import Mean
from evaluation.core.field import CaseColumns, Field, Kind, Reference
from evaluation.core.keys import Key
from evaluation.core.metric import Metric
from evaluation.io.kinds.classes import Flags, FlagSet, PresenceProbabilities
from evaluation.io.kinds.number import (
    ConditionScore,
    Number,
    ObservedTime,
    SurvivalPrediction,
    TimeToEvent,
    TwoClasses,
)
from evaluation.metrics.confusion import label_errors, modified_hamming_distance


class ScalarFieldTable(RowFieldTable, ABC):
    """A field with one value for each case, or in a stack one for each image."""

    def scalar_field(
        self,
        name: str,
        kind: Kind,
        columns: tuple[str, ...],
        reference: Kind,
        reference_columns: tuple[str, ...],
    ) -> Field:
        """Return the field of that name: its kind and columns, submitted and in `cases.csv`."""
        location = Reference(reference, CaseColumns(reference_columns))
        return self.declared_field(name, kind, self.columns_of(columns), location)


class ColumnFieldTable(ScalarFieldTable, ABC):
    """A field with one column in a submission's table, and one in the reference."""

    column: str | None = Key(
        default=None, description="Column of the submission's table. Default: the field's name."
    )
    reference: str | None = Key(
        default=None, description="Column of `cases.csv` with the reference. Default: the field's name."
    )

    def column_field(self, name: str, kind: Kind, reference: Kind) -> Field:
        """Return the named field, with the kinds of the submitted and the reference value."""
        return self.scalar_field(name, kind, (self.column or name,), reference, (self.reference or name,))


class TwoClassFieldTable(ColumnFieldTable, ABC):
    """A field with a reference that can be one of two classes."""

    positive: list[str] = Key(
        default=[], description="Cells of the reference that mean that the condition is present."
    )
    negative: list[str] = Key(default=[], description="Cells of the reference that mean that it is absent.")
    excluded: list[str] = Key(
        default=[],
        description="Cells of the reference of cases that do not enter; of a true number for example "
        '`["0"]`, where there is nothing to measure (CROWN), and always the empty cell.',
    )
    may_exclude_numbers: ClassVar[bool] = False

    @property
    def two_classes(self) -> TwoClasses | None:
        """The kind of the reference, None if no classes are named."""
        if not self.positive:
            return None
        return TwoClasses(tuple(self.positive), tuple(self.negative), tuple(self.excluded))

    @model_validator(mode="after")
    def _both_classes(self) -> "TwoClassFieldTable":
        alone = self.excluded and not (self.positive or self.may_exclude_numbers)
        if bool(self.positive) != bool(self.negative) or alone:
            raise ValueError("expected both positive and negative cells, or no cells")
        cells = [*self.positive, *self.negative, *self.excluded]
        if twice := sorted({cell for cell in cells if cells.count(cell) > 1}):
            raise ValueError(f"expected every cell in one list, {twice[0]!r} is in several")
        return self


def value_columns(field_name: str) -> tuple[str, str]:
    """Return the names of the columns of predicted and of true values."""
    return f"{field_name}_predicted", f"{field_name}_true"


class NumberField(TwoClassFieldTable):
    """A finite number: a likelihood, a score or a measurement.

    In an archive it is a column of a table, in an algorithm phase a JSON number (Float or Integer). The
    reference is a column of `cases.csv`: the true number, or with `positive` and `negative` the class of the
    case.
    """

    kind: Literal["number"]
    minimum: FiniteFloat | None = Key(default=None, description="Smallest valid number. Default: none.")
    maximum: FiniteFloat | None = Key(default=None, description="Largest valid number. Default: none.")
    unit: str = Key(default="", description="Unit of the number.")
    may_exclude_numbers: ClassVar[bool] = True

    @model_validator(mode="after")
    def _some_range(self) -> "NumberField":
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
            return self.column_field(name, ConditionScore(low, high, self.unit), classes)
        reference = Number(low, high, self.unit, tuple(dict.fromkeys(("", *self.excluded))))
        return self.column_field(name, replace(reference, excluded=()), reference)


class NamedColumnsTable(ScalarFieldTable, ABC):
    """A field with a value for each of several names."""

    names: list[str] = Key(description="The flags, or what has probabilities.", min_length=1)
    columns: list[str] | None = Key(
        default=None, description="Columns of the submission's table. Default: the names."
    )
    references: list[str] | None = Key(
        default=None, description="Columns of `cases.csv`. Default: the names."
    )

    @model_validator(mode="after")
    def _one_column_each(self) -> "NamedColumnsTable":
        for what in ("names", "columns", "references"):
            columns: list[str] | None = getattr(self, what)
            if columns is not None and len({*columns}) != len(self.names):
                raise ValueError(f"{what}: expected {len(self.names)} names that differ")
        return self

    def named_field(self, name: str, kind: Kind) -> Field:
        """Return the field of that name, whose reference is a set of flags."""
        names = tuple(self.names)
        columns, references = tuple(self.columns or names), tuple(self.references or names)
        flags = kind if isinstance(kind, FlagSet) else FlagSet(names)
        return self.scalar_field(name, kind, columns, flags, references)


class FlagsField(NamedColumnsTable):
    """A set of flags, such as the findings in an image, each present, absent or missing.

    In an archive each flag is a column of the table: 1, 0 or nothing. In an algorithm phase it is a JSON
    object (Anything) of true, false or null, or with `listed` the list of the flags that are present
    (Multiple choice). The reference is a column of `cases.csv` for each flag: 1, 0, or nothing where the flag
    is not known.
    """

    kind: Literal["flags"]
    listed: bool = Key(
        default=False,
        description="Algorithm phases: whether the value is the JSON list of the flags that are present.",
    )

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        return self.named_field(name, FlagSet(tuple(self.names), self.listed))


class PresencesField(NamedColumnsTable):
    """The probabilities of several findings, of which a case may have any number.

    In an archive each has a column of the table. In an algorithm phase it is JSON (Anything): an object with
    a number from 0 to 1 for each name, or a list of numbers in the order of the names. The reference is a
    column of `cases.csv` for each: 1, 0, or nothing where it is not known.
    """

    kind: Literal["presence_probabilities"]
    names: list[str] = Key(description="What has probabilities.", min_length=2)

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        return self.named_field(name, PresenceProbabilities(tuple(self.names)))


class HammingDistance(MetricTable):
    """Modified Hamming distance: share of the known flags of a case that are wrong, as mean over the cases.

    From 0 to 1, lower is better. Flags that are not known in the reference are left out, and so is a case
    without a known flag. A missing flag is wrong, and a case without a result counts 1.

    Oracle: scikit-learn, `hamming_loss`. Source: JustRAIGS challenge design document, 2024.
    """

    metric: Literal["hamming_distance"]
    kinds = (FlagsField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the mean of the distances."""
        assert isinstance(table, FlagsField)

        def columns(flags: Flags, known: Flags) -> Row:
            return {name: modified_hamming_distance(label_errors(flags, known))}

        def parts(flags: Flags, known: Flags) -> dict[str, Part]:
            errors = [error for error in label_errors(flags, known) if not math.isnan(error)]
            return {name: Part(sum(errors), len(errors))}

        nothing = (None,) * len(table.names)
        metric = Metric(name, self.title_of(name), Mean(name), best=0, worst=1)
        sums = Sums(
            lambda comparison: parts(comparison.submitted, comparison.reference),
            lambda case, references: parts(nothing, references[field_name]),
            math.nan,
        )
        return replace(Measure.of_values(metric, field_name, columns, missing=nothing), sums=sums)


class SurvivalField(ScalarFieldTable):
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
        """Return the field of that name."""
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        kind = SurvivalPrediction(
            low, high, "" if self.risk else self.unit, risk=self.risk, horizon=self.horizon
        )
        reference = TimeToEvent(self.unit)
        return self.scalar_field(name, kind, (self.column or name,), reference, (self.time, self.event))


class ConcordanceIndex(MetricTable):
    """Harrell's concordance index: share of comparable pairs of cases that are predicted in their order.

    From 0 to 1, higher is better; 0.5 is chance. A pair is comparable if the earlier of its times is an
    event; of two equal times, if exactly one is an event, which counts as the earlier. Equal predictions
    count half. A case without a result loses every pair. Above 20,000 cases an interval is computed only if
    the phase asks for it.

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

        concordance = Concordance(predicted, time, event, table.risk)
        metric = Metric(name, self.title_of(name), concordance, best=1, worst=0)
        return Measure.of_values(metric, field_name, columns, missing=math.nan)
