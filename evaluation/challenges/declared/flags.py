"""Fields of a value for each of several names, such as findings, and the distance of sets of flags."""

import math
from abc import ABC
from dataclasses import replace
from typing import Literal

from pydantic import model_validator

from evaluation.challenges.declared.tables import FieldTable, Measure, MetricTable, Part, RowFieldTable, Sums
from evaluation.core.case_table import Row
from evaluation.core.estimator import Mean
from evaluation.core.field import Field, Kind
from evaluation.core.keys import Key
from evaluation.core.metric import Metric
from evaluation.io.kinds.classes import Flags, FlagSet, PresenceProbabilities
from evaluation.metrics.confusion import label_errors


class NamedColumnsTable(RowFieldTable, ABC):
    """A field with a value for each of several names."""

    classes: list[str] = Key(description="The flags, or what has probabilities.", min_length=1)
    columns: list[str] | None = Key(
        default=None, description="Columns of the submission's table. Default: the names."
    )
    reference_columns: list[str] | None = Key(
        default=None, description="Columns of `cases.csv`. Default: the names."
    )

    @model_validator(mode="after")
    def _one_column_each(self) -> "NamedColumnsTable":
        for what in ("classes", "columns", "reference_columns"):
            columns: list[str] | None = getattr(self, what)
            if columns is not None and len({*columns}) != len(self.classes):
                raise ValueError(f"{what}: expected {len(self.classes)} names that differ")
        return self

    def named_field(self, name: str, kind: Kind, flags: FlagSet) -> Field:
        """Return the field of that name, whose reference is a set of flags."""
        columns, references = self.columns or self.classes, self.reference_columns or self.classes
        return self.row_field(name, kind, columns, flags, references)


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
        flags = FlagSet(tuple(self.classes), self.listed)
        return self.named_field(name, flags, flags)


class PresencesField(NamedColumnsTable):
    """The probabilities of several findings, of which a case may have any number.

    In an archive each has a column of the table. In an algorithm phase it is JSON (Anything): an object with
    a number from 0 to 1 for each name, or a list of numbers in the order of the names. The reference is a
    column of `cases.csv` for each: 1, 0, or nothing where it is not known.
    """

    kind: Literal["presence_probabilities"]
    classes: list[str] = Key(description="What has probabilities.", min_length=2)

    def field(self, name: str) -> Field:
        names = tuple(self.classes)
        return self.named_field(name, PresenceProbabilities(names), FlagSet(names))


class HammingDistance(MetricTable):
    """Flags that are not known in the reference are left out, and so is a case without a known flag.

    A missing flag is wrong, and a case without a result counts 1.

    Oracle: scikit-learn, `hamming_loss`.
    """

    metric: Literal["hamming_distance"]
    kinds = (FlagsField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        assert isinstance(table, FlagsField)

        def parts(flags: Flags, known: Flags) -> dict[str, Part]:
            errors = [error for error in label_errors(flags, known) if not math.isnan(error)]
            return {name: Part(sum(errors), len(errors))}

        def columns(flags: Flags, known: Flags) -> Row:
            return {name: parts(flags, known)[name].ratio(math.nan)}

        nothing = (None,) * len(table.classes)
        metric = Metric(name, self.title_of(name), Mean(name), best=0, worst=1)
        sums = Sums(
            lambda comparison: parts(comparison.submitted, comparison.reference),
            lambda references: parts(nothing, references[field_name]),
            math.nan,
        )
        return replace(Measure.of_values(metric, field_name, columns, missing=nothing), sums=sums)
