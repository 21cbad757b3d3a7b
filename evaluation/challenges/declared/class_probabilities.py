"""Metrics of the probabilities of classes: scores, calibration, and areas of each class against the rest."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from evaluation.challenges.declared.classes import ClassProbabilitiesField
from evaluation.challenges.declared.flags import PresencesField
from evaluation.challenges.declared.scalars import NumberField, check_probability
from evaluation.challenges.declared.tables import FieldTable, Measure, MetricTable, titles_of_each
from evaluation.core.case_table import Row
from evaluation.core.class_estimators import AveragePrecision, MacroRocArea, MeanOfClasses, calibration_metric
from evaluation.core.estimator import Mean
from evaluation.core.keys import Key
from evaluation.core.metric import Metric
from evaluation.io.kinds.classes import Flags


class _ProbabilityScore(MetricTable, ABC):
    """A mean over cases of a loss that follows from the probabilities of a case and its true class."""

    kinds = (ClassProbabilitiesField, NumberField)

    @abstractmethod
    def loss(self, shares: Sequence[float], true: int) -> float:
        """Return the loss, given the probability of every class."""

    def scale(self, several: bool) -> float:
        """Return what the loss of one probability, whose other class is the rest, is multiplied by."""
        return 1.0

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        several = isinstance(table, ClassProbabilitiesField)
        if not several:
            check_probability(table)
        scale = self.scale(several)
        worst = scale * self.loss([0.0, 1.0], 0)  # all probability on a wrong class

        def row(submitted: Any, true: float) -> Row:
            if math.isnan(true):
                return {name: math.nan}
            if submitted is None:
                return {name: worst}
            shares = submitted if several else (1.0 - submitted, submitted)
            return {name: scale * self.loss(shares, int(true))}

        metric = Metric(name, self.title_of(name), Mean(name), 0, worst)
        return Measure.of_values(metric, field_name, row, missing=None)


class BrierScore(_ProbabilityScore):
    """The one probability is a number with `minimum = 0` and `maximum = 1`.

    A case without a result counts 1, or 2 for several classes.

    Oracle: scikit-learn, `brier_score_loss`.
    """

    metric: Literal["brier_score"]

    def loss(self, shares: Sequence[float], true: int) -> float:
        return math.fsum((share - (index == true)) ** 2 for index, share in enumerate(shares))

    def scale(self, several: bool) -> float:
        """Return a half for one probability, whose square counts once."""
        return 1.0 if several else 0.5


class LogLoss(_ProbabilityScore):
    """Log loss: mean of the negative natural logarithm of the probability of the true class.

    At least 0, lower is better; ln 2 for a coin. Probabilities below 1e-15 count as that, so that one certain
    error is not infinite. A case without a result counts as a probability of 0.

    Oracle: scikit-learn, `log_loss`. Source: Good, J. R. Stat. Soc. B 14:107, 1952.
    """

    metric: Literal["log_loss"]

    def loss(self, shares: Sequence[float], true: int) -> float:
        return -math.log(max(shares[true], 1e-15)) + 0.0


class TopLabelCalibrationError(MetricTable):
    """Calibration error of the highest probability of each case against the share of right decisions.

    From 0 to 1, lower is better; bins of equal width count with their shares of the cases. The first of equal
    probabilities decides. A case without a result counts 1.

    Oracle: scikit-learn, `calibration_curve`. Source: Guo et al., ICML 2017, p. 1321.
    """

    metric: Literal["top_label_calibration_error"]
    bins: int = Key(default=10, description="Number of bins of equal width.", ge=1, le=1000)
    kinds = (ClassProbabilitiesField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        assert isinstance(table, ClassProbabilitiesField)
        highest, is_true, true = f"{name}_probability", f"{name}_is_true", f"{field_name}_true"

        def row(shares: Sequence[float] | None, reference: float) -> Row:
            most = math.nan if shares is None else max(shares)
            right = float(shares is not None and shares.index(most) == reference)
            return {highest: most, is_true: math.nan if math.isnan(reference) else right, true: reference}

        metric = calibration_metric(name, self.title_of(name), [(highest, is_true)], true, self.bins)
        return Measure.of_values(metric, field_name, row, missing=None)


class MacroAveragePrecision(MetricTable):
    """Average precision of the probability of each of several findings, and the mean of these.

    From 0 to 1, higher is better. A finding that no case has does not enter; with `group`, for example of the
    frames of a video, it enters in the groups that have it, and the mean over findings is that of the means
    over groups. A case without a result is never found where it has a finding, and comes before all others
    where it has not.

    Oracle: scikit-learn, `average_precision_score`. Source: Nwoye et al., Medical Image Analysis 86:102803,
    2023 (CholecTriplet).
    """

    metric: Literal["macro_average_precision"]
    kinds = (PresencesField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        assert isinstance(table, PresencesField)
        pairs = [
            (f"{field_name}_score_{number}", f"{field_name}_present_{number}")
            for number in range(len(table.classes))
        ]
        each = tuple(AveragePrecision(*pair) for pair in pairs)

        def row(shares: Sequence[float] | None, flags: Flags) -> Row:
            cells: dict[str, Any] = {}
            for number, ((score, present), flag) in enumerate(zip(pairs, flags, strict=True)):
                cells[score] = (-math.inf if flag else math.inf) if shares is None else shares[number]
                cells[present] = math.nan if flag is None else float(flag)
            return cells

        title = self.title_of(name)
        metrics = [Metric(name, title, MeanOfClasses(each), 1, 0)]
        titles = titles_of_each(name, title, table.classes)
        metrics += [Metric(*of, figure, 1, 0) for of, figure in zip(titles.items(), each, strict=True)]
        return replace(Measure.of_values(metrics[0], field_name, row, missing=None), metrics=tuple(metrics))


class MacroAreaUnderCurve(MetricTable):
    """A class without a case does not enter. A case without a result loses against every other case.

    Oracle: scikit-learn, `roc_auc_score` with `multi_class="ovr"`.
    """

    metric: Literal["macro_auc"]
    kinds = (ClassProbabilitiesField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        assert isinstance(table, ClassProbabilitiesField)
        columns = tuple(f"{field_name}_probability_{index}" for index in range(len(table.classes)))
        true = f"{field_name}_true"

        def row(shares: Sequence[float], reference: float) -> Row:
            return {**dict(zip(columns, shares, strict=True)), true: reference}

        metric = Metric(name, self.title_of(name), MacroRocArea(columns, true), 1, 0)
        return Measure.of_values(metric, field_name, row, missing=[math.nan] * len(columns))
