"""Metrics of measured numbers: errors, limits of agreement, correlations."""

import math
from abc import ABC
from collections.abc import Callable
from typing import ClassVar, Literal

from evaluation.challenges.declared.scalars import NumberField, value_columns
from evaluation.challenges.declared.tables import FieldTable, Measure, MetricTable, Positive
from evaluation.core.case_table import Row
from evaluation.core.class_estimators import Agreement, PairFigure
from evaluation.core.estimator import LimitOfAgreement, Mean, RatioOfSums, RootMeanSquare
from evaluation.core.keys import Key
from evaluation.core.metric import Metric
from evaluation.metrics import regression


class ErrorMetric(MetricTable, ABC):
    """A metric of the difference of a number from its reference."""

    common = "A case without a result counts as an error of `worst`, and so does a larger error."
    worst: Positive | None = Key(
        default=None,
        description="Error of a case without a result, and the largest that counts. Default: the difference "
        "of the field's bounds.",
    )
    kinds = (NumberField,)

    def difference(self, table: FieldTable) -> tuple[Callable[[float, float], float], float, str]:
        """Return the function for predicted − true, within ± the largest error, this error, and the unit.

        Raises ValueError for a field with a class as reference, and without a largest error.
        """
        number = _measured(table)
        largest = number.range if self.worst is None else self.worst
        if math.isinf(largest):
            raise ValueError(
                "worst: expected the error of a case without a result, since the field has no bounds"
            )

        return lambda made, true: min(max(made - true, -largest), largest), largest, number.unit


class MeanAbsoluteError(ErrorMetric):
    """Oracle: scikit-learn, `mean_absolute_error`."""

    metric: Literal["mean_absolute_error"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        difference, worst, unit = self.difference(table)
        metric = Metric(name, self.title_of(name), Mean(name), best=0, worst=worst, unit=unit)
        return Measure.of_values(
            metric, field_name, lambda made, true: {name: abs(difference(made, true))}, missing=math.inf
        )


class RootMeanSquaredError(ErrorMetric):
    """Oracle: scikit-learn, `root_mean_squared_error`."""

    metric: Literal["root_mean_squared_error"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        difference, worst, unit = self.difference(table)
        column = f"{name}_error"
        metric = Metric(name, self.title_of(name), RootMeanSquare(column), best=0, worst=worst, unit=unit)
        return Measure.of_values(
            metric, field_name, lambda made, true: {column: difference(made, true)}, missing=math.inf
        )


class NormalisedAbsoluteError(ErrorMetric):
    """It needs a true value other than 0.

    Oracle: sums of absolute values by hand.
    """

    metric: Literal["normalised_absolute_error"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        difference, _, _ = self.difference(table)
        error, size = f"{name}_error", f"{name}_size"

        def row(made: float, true: float) -> Row:
            return {error: abs(difference(made, true)), size: abs(true)}

        ratio = RatioOfSums(error, size, is_share=False)
        metric = Metric(name, self.title_of(name), ratio, best=0, worst=math.inf)
        return Measure.of_values(metric, field_name, row, missing=math.inf)


class SymmetricRelativeScore(MetricTable):
    """Mean of 1 − |predicted − true| / (|predicted| + |true| + ε): one less the symmetric relative error.

    From 0 to 1, higher is better. Predicted and true value count alike, and ε keeps small values from
    deciding. A case without a result counts as 0 (the program of DRAGON takes 0 for its number, which scores
    more).

    Oracle: sums of absolute values by hand. Source: Bosma et al., npj Digital Medicine 8:289, 2025 (DRAGON,
    RSMAPES).
    """

    metric: Literal["symmetric_relative_score"]
    epsilon: Positive = Key(description="ε, in the number's unit: differences of this size are small.")
    kinds = (NumberField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        _measured(table)

        def score(made: float, true: float) -> float:
            # Halved, so that the largest numbers of all have a sum, too.
            return 1 - abs(made / 2 - true / 2) / (abs(made / 2) + abs(true / 2) + self.epsilon / 2)

        metric = Metric(name, self.title_of(name), Mean(name), best=1, worst=0)
        return Measure((metric,), lambda compared: {name: score(compared.submitted, compared.reference)})


class Bias(ErrorMetric):
    """It does not rank submissions. A case without a result has a positive one.

    The figures `<name>_lower_limit` and `<name>_upper_limit`, the limits of agreement of Bland and Altman,
    are the mean ± 1.96 standard deviations.

    Oracle: mean and standard deviation by hand.
    """

    metric: Literal["bias"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        difference, worst, unit = self.difference(table)
        title = self.title_of(name)
        # A standard deviation of differences up to ± worst is at most √2 · worst (of two cases).
        farthest = worst * (1 + 1.96 * math.sqrt(2))
        limits = (
            Metric(
                f"{name}_{end}_limit",
                f"{title}, {end} limit of agreement",
                LimitOfAgreement(name, upper=end == "upper", largest=worst),
                best=-farthest,
                worst=farthest,
                ordered=False,
                unit=unit,
            )
            for end in ("lower", "upper")
        )
        mean = Metric(name, title, Mean(name), best=-worst, worst=worst, ordered=False, unit=unit)
        return Measure(
            (mean, *limits), lambda comparison: {name: difference(comparison.submitted, comparison.reference)}
        )


class AgreementMetric(MetricTable, ABC):
    """A correlation or agreement of numbers with their references."""

    common = "It needs references that differ. With a case without a result it is −1."
    agreement: ClassVar[PairFigure]
    absolute: ClassVar[bool | None] = None
    kinds = (NumberField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        _measured(table)
        predicted, true = value_columns(field_name)
        agreement = Agreement(predicted, true, type(self).agreement, self.absolute)
        metric = Metric(name, self.title_of(name), agreement, best=1, worst=-1)
        return Measure.of_values(
            metric, field_name, lambda made, wanted: {predicted: made, true: wanted}, missing=math.nan
        )


class PearsonCorrelation(AgreementMetric):
    """Oracle: SciPy, `pearsonr`."""

    metric: Literal["pearson_correlation"]
    own_title: ClassVar[str] = "Pearson's correlation"
    agreement: ClassVar[PairFigure] = staticmethod(regression.weighted_pearson_correlation)
    absolute: ClassVar[bool | None] = False


class SpearmanCorrelation(AgreementMetric):
    """Oracle: SciPy, `spearmanr`."""

    metric: Literal["spearman_correlation"]
    own_title: ClassVar[str] = "Spearman's correlation"
    agreement: ClassVar[PairFigure] = staticmethod(regression.weighted_spearman_correlation)


class IntraclassCorrelation(AgreementMetric):
    """Values below −1, which few cases can have, count as −1.

    Oracle: pingouin, `intraclass_corr`.
    """

    metric: Literal["intraclass_correlation"]
    agreement: ClassVar[PairFigure] = staticmethod(regression.weighted_intraclass_correlation)
    absolute: ClassVar[bool | None] = True


def _measured(table: FieldTable) -> NumberField:
    """Return the field if its reference is a number. Raises ValueError if it is a class."""
    assert isinstance(table, NumberField)
    if table.two_classes is not None:
        raise ValueError("expected a field whose reference is a number, without positive cells")
    return table
