"""Metrics of decided classes: accuracy, sensitivity, F scores, correlation, kappa."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar, Literal

from evaluation.challenges.declared.decided import DecisionMetric, OneClassMetric
from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.measure import Measure
from evaluation.challenges.declared.table import key
from evaluation.metrics import confusion
from evaluation.metrics.confusion import Averaging


class Accuracy(DecisionMetric):
    """Accuracy: share of correctly classified cases.

    From 0 to 1, higher is better. A case without a result is wrong. For probabilities, the class with the
    highest one is decided, the first among equals.

    Oracle: scikit-learn, `accuracy_score`.
    """

    metric: Literal["accuracy"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the share of right classes."""
        return self.share(name, field_name, table, lambda predicted, true: predicted == true)


class BalancedAccuracy(DecisionMetric):
    """Balanced accuracy: mean of the sensitivities of the classes that occur in the reference.

    From 0 to 1, higher is better; 1 / classes for one and the same answer to every case. A case without a
    result is wrong.

    Oracle: scikit-learn, `balanced_accuracy_score`. Source: Brodersen et al., ICPR 2010, p. 3121.
    """

    metric: Literal["balanced_accuracy"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the mean of the sensitivities."""
        return self.figure(name, field_name, table, confusion.balanced_accuracy)


class Sensitivity(OneClassMetric):
    """Sensitivity (recall) of a class: share of its cases that are recognised.

    From 0 to 1, higher is better. It needs a case of the class. A case without a result is not recognised.

    Oracle: scikit-learn, `recall_score`.
    """

    metric: Literal["sensitivity"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the share of recognised cases."""
        of = self.class_index(name, field_name, table)
        return self.share(
            name, field_name, table, lambda predicted, true: predicted == of, lambda true: true == of
        )


class Specificity(OneClassMetric):
    """Specificity of a class: share of the cases of other classes that are not taken for it.

    From 0 to 1, higher is better. It needs a case of another class. A case without a result is taken for the
    class.

    Oracle: scikit-learn, `recall_score` of the absence of the class.
    """

    metric: Literal["specificity"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the share of cases that are not taken for the class."""
        of = self.class_index(name, field_name, table)
        return self.share(
            name, field_name, table, lambda predicted, true: predicted != of, lambda true: true != of
        )


class Precision(OneClassMetric):
    """Precision (positive predictive value) of a class: share of true cases among those assigned to it.

    From 0 to 1, higher is better; 0 if no case is assigned to the class. It needs a case of the class. A case
    of another class without a result counts as assigned to it, a case of the class does not.

    Oracle: scikit-learn, `precision_score` with `zero_division=0`.
    """

    metric: Literal["precision"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the precision."""
        of = self.class_index(name, field_name, table)
        return self.figure(name, field_name, table, lambda cases: confusion.precision(cases, of))


class FBeta(OneClassMetric):
    """F-beta of a class: harmonic mean of precision and sensitivity, which counts beta² times.

    From 0 to 1, higher is better. It needs a case of the class. A case without a result is a miss of its
    class, or else a false alarm.

    Oracle: scikit-learn, `fbeta_score`. Source: van Rijsbergen, Information Retrieval, 1979, chapter 7.
    """

    metric: Literal["f_beta"]
    own_title: ClassVar[str] = "F-beta"
    beta: float = key("Importance of sensitivity.", gt=0, le=100)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the F-beta."""
        of = self.class_index(name, field_name, table)
        return self.figure(name, field_name, table, lambda cases: confusion.f_beta(cases, self.beta, of))


class FOne(OneClassMetric):
    """F1 of a class: harmonic mean of precision and sensitivity.

    From 0 to 1, higher is better. It needs a case of the class. A case without a result is a miss of its
    class, or else a false alarm.

    Oracle: scikit-learn, `f1_score`. Source: van Rijsbergen, Information Retrieval, 1979, chapter 7.
    """

    metric: Literal["f1"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the F1."""
        of = self.class_index(name, field_name, table)
        return self.figure(name, field_name, table, lambda cases: confusion.f_beta(cases, 1.0, of))


class _MeanFOne(DecisionMetric, ABC):
    averaging: ClassVar[Averaging]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the mean of the F1 of the classes."""
        return self.figure(name, field_name, table, lambda cases: confusion.mean_f1(cases, self.averaging))


class MacroFOne(_MeanFOne):
    """Mean F1 of the classes, each counting alike.

    From 0 to 1, higher is better. The mean is over the classes that occur in reference or prediction. A case
    without a result is a miss of its class and a false alarm of every other class.

    Oracle: scikit-learn, `f1_score` with `average="macro"`.
    """

    metric: Literal["macro_f1"]
    own_title: ClassVar[str] = "Macro F1"
    averaging: ClassVar[Averaging] = "macro"


class WeightedFOne(_MeanFOne):
    """Mean F1 of the classes, each counting with its share of the reference.

    From 0 to 1, higher is better. A case without a result is a miss of its class and a false alarm of every
    other class.

    Oracle: scikit-learn, `f1_score` with `average="weighted"`.
    """

    metric: Literal["weighted_f1"]
    own_title: ClassVar[str] = "Weighted F1"
    averaging: ClassVar[Averaging] = "weighted"


class MatthewsCorrelation(DecisionMetric):
    """Matthews' correlation coefficient, for several classes Gorodkin's.

    From −1 to 1, higher is better; 0 for one and the same answer to every case. With cases without a result
    it is a lower bound over all answers that they could have had.

    Oracle: scikit-learn, `matthews_corrcoef`. Source: Gorodkin, Comput. Biol. Chem. 28:367, 2004.
    """

    metric: Literal["matthews_correlation"]
    own_title: ClassVar[str] = "Matthews' correlation"

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the correlation."""
        return self.figure(name, field_name, table, confusion.matthews_correlation, worst=-1.0)


class CohenKappa(DecisionMetric):
    """Cohen's kappa: agreement of decided and true classes beyond chance, plain or weighted.

    From −1 to 1, higher is better; 0 is chance. With `linear` or `quadratic` a disagreement costs the
    distance of the classes in their order, or its square. Cases without a result have the answers with the
    lowest kappa. It does not exist if reference and decisions hold the same class alone.

    Oracle: scikit-learn, `cohen_kappa_score`. Source: Cohen, Psychological Bulletin 70:213, 1968.
    """

    metric: Literal["cohen_kappa"]
    own_title: ClassVar[str] = "Cohen's kappa"
    disagreement: Literal["nominal", "linear", "quadratic"] = key("What a disagreement costs.", "nominal")

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the kappa."""
        return self.figure(
            name, field_name, table, lambda cases: confusion.cohen_kappa(cases, self.disagreement), worst=-1.0
        )
