"""Metrics of probabilities of classes: Brier score, and the AUC of each class against the rest."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from evaluation.challenges.declared.classes import ClassProbabilitiesField
from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.measure import Comparison, Measure, MetricTable
from evaluation.challenges.declared.number import NumberField
from evaluation.challenges.declared.scores import check_probability
from evaluation.core.case_table import Row
from evaluation.core.challenge import Values
from evaluation.core.class_aggregates import macro_auc_of
from evaluation.core.form import CaseForm
from evaluation.core.metric import Metric, mean_of


class BrierScore(MetricTable):
    """Brier score: mean squared difference of probability and truth.

    Lower is better: from 0 to 1 for the probability of one of two classes, a number with `minimum = 0` and
    `maximum = 1`; from 0 to 2 for several classes, whose squares are summed. A case without a result counts
    1, or 2.

    Oracle: scikit-learn, `brier_score_loss`. Source: Brier, Monthly Weather Review 78:1, 1950.
    """

    metric: Literal["brier_score"]
    kinds = (ClassProbabilitiesField, NumberField)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the score. Raises ValueError for a number that is no probability of a class."""
        several = isinstance(table, ClassProbabilitiesField)
        if not several:
            check_probability(table)
        worst = 2.0 if several else 1.0

        def row(comparison: Comparison) -> Row:
            true, submitted = comparison.reference, comparison.submitted
            if not several:
                return {name: (submitted - true) ** 2}
            if math.isnan(true):
                return {name: math.nan}
            return {name: math.fsum((share - (index == true)) ** 2 for index, share in enumerate(submitted))}

        def worst_row(case: CaseForm, references: Values) -> Row:
            return {name: math.nan if math.isnan(references[field_name]) else worst}

        return Measure((Metric(name, self.title_of(name), mean_of(name), 0, worst),), row, worst_row)


class MacroAreaUnderCurve(MetricTable):
    """Mean over the classes of the area under the ROC curve of one class against the rest.

    From 0 to 1, higher is better; ties count half. A class without a case does not enter. A case without a
    result loses against every other case.

    Oracle: scikit-learn, `roc_auc_score` with `multi_class="ovr"`. Source: Provost and Domingos, CeDER
    working paper IS-00-04, 2000.
    """

    metric: Literal["macro_auc"]
    own_title: ClassVar[str] = "Macro AUC"
    kinds = (ClassProbabilitiesField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the mean of the areas."""
        assert isinstance(table, ClassProbabilitiesField)
        columns = tuple(f"{field_name}_probability_{index}" for index in range(len(table.classes)))
        true = f"{field_name}_true"

        def row(comparison: Comparison) -> Row:
            return {**dict(zip(columns, comparison.submitted, strict=True)), true: comparison.reference}

        def worst_row(case: CaseForm, references: Values) -> Row:
            return {**dict.fromkeys(columns, math.nan), true: references[field_name]}

        metric = Metric(name, self.title_of(name), macro_auc_of(columns, true), 1, 0)
        return Measure((metric,), row, worst_row)
