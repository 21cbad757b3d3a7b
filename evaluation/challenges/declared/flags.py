"""Sets of flags: several yes-or-no findings of one case."""

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
from evaluation.core.metric import Metric, mean_of
from evaluation.io.kinds.flags import Flags, FlagSet
from evaluation.metrics.decisions import label_errors, modified_hamming_distance


class FlagsField(ScalarFieldTable):
    """A set of flags, such as the findings in an image, each present, absent or missing.

    In an archive each flag is a column of the table: 1, 0 or nothing. In an algorithm phase it is a JSON
    object (Anything) of true, false or null. The reference is a column of `cases.csv` for each flag: 1, 0, or
    nothing where the flag is not known.
    """

    kind: Literal["flags"]
    names: list[str] = key("The flags.", min_length=1)
    columns: list[str] | None = key(
        "Columns of the submission's table. Default: the names of the flags.", None
    )
    references: list[str] | None = key("Columns of `cases.csv`. Default: the names of the flags.", None)

    @model_validator(mode="after")
    def _one_column_each(self) -> FlagsField:
        for what, columns in (
            ("names", self.names),
            ("columns", self.columns),
            ("references", self.references),
        ):
            if columns is not None and len({*columns}) != len(self.names):
                raise ValueError(f"{what}: expected {len(self.names)} names that differ")
        return self

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        names = tuple(self.names)
        kind = FlagSet(names)
        return self.scalar_field(
            name, kind, tuple(self.columns or names), kind, tuple(self.references or names)
        )


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

        def distance(flags: Flags, known: Flags) -> Row:
            return {name: modified_hamming_distance(label_errors(flags, known))}

        def row(comparison: Comparison) -> Row:
            return distance(comparison.submitted, comparison.reference)

        def worst_row(case: CaseForm, references: Values) -> Row:
            known = references[field_name]
            return {name: math.nan if all(flag is None for flag in known) else 1.0}

        return Measure((Metric(name, self.title_of(name), mean_of(name), best=0, worst=1),), row, worst_row)
