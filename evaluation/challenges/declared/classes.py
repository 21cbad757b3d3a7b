"""Classes: fields that decide or weigh them, and the metrics of decisions and of what they are worth."""

import math
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import FiniteFloat, model_validator

from evaluation.challenges.declared import scalars
from evaluation.challenges.declared.tables import (
    FieldComparison,
    FieldTable,
    Measure,
    MetricTable,
    RowFieldTable,
)
from evaluation.core.case_table import CaseTable, Row
from evaluation.core.challenge import Values
from evaluation.core.class_estimators import ConfusionFigure
from evaluation.core.estimator import Share
from evaluation.core.field import Field
from evaluation.core.keys import Key
from evaluation.core.metric import Metric
from evaluation.io.kinds.classes import (
    LABEL,
    ClassLabel,
    ClassProbabilities,
    ReferenceClass,
    problem_of_classes,
)
from evaluation.metrics import confusion
from evaluation.metrics.arrays import Floats

_CLASSES = "The classes, in their order if they have one: texts, or whole numbers."
_EXCLUDED = "Cells of the reference of cases that do not enter."
_Figure = Callable[..., Floats]


class DecisionField(scalars.TwoClassFieldTable):
    """A decision between two classes: 1 or 0, for example whether a condition is present.

    In an archive it is a column of 0 and 1, in an algorithm phase a JSON boolean (Bool). The reference is a
    column of `cases.csv`: 0 or 1, or with `positive` and `negative` the class of the case.
    """

    kind: Literal["decision"]

    def field(self, name: str) -> Field:
        return self.column_field(name, LABEL, self.two_classes or LABEL)


class ClassField(scalars.ColumnFieldTable):
    """One of several classes, such as a grade or a diagnosis.

    In an archive it is a column of a table. In an algorithm phase it is JSON: the text of the class (String,
    Choice), the whole number (Integer), or with `boolean` false or true (Bool). The reference is a column of
    `cases.csv`. Texts are compared exactly; a whole number may be written 2.0, and 2.7 is an error. Metrics
    other than shares of cases write the confusion matrix to the organiser's `cases.json`.
    """

    kind: Literal["class"]
    classes: list[str] | list[int] = Key(description=_CLASSES)
    boolean: bool = Key(
        default=False,
        description="Algorithm phases: whether the value is a JSON boolean, false for the first of two "
        "classes.",
    )
    excluded: list[str] = Key(default=[], description=_EXCLUDED)

    @model_validator(mode="after")
    def _good_classes(self) -> "ClassField":
        _check_class_names(self.classes, self.excluded)
        if self.boolean and len(self.classes) != 2:
            raise ValueError(f"boolean: expected two classes, found {len(self.classes)}")
        return self

    def field(self, name: str) -> Field:
        classes: tuple[str | int, ...] = tuple(self.classes)
        reference = ReferenceClass(classes, excluded=tuple(self.excluded))
        return self.column_field(name, ClassLabel(classes, self.boolean), reference)


class ClassProbabilitiesField(RowFieldTable):
    """The probabilities of several classes.

    In an archive each class has a column of the table. In an algorithm phase it is JSON (Anything): an object
    with a number for each class, or a list of numbers in the order of the classes. Probabilities are finite
    and from 0 to 1, and their sum is 1. The reference is the class, a column of `cases.csv`.
    """

    kind: Literal["class_probabilities"]
    classes: list[str] = Key(description="The classes.")
    columns: list[str] | None = Key(
        default=None,
        description="Columns of the submission's table, one for each class. Default: the names of the "
        "classes.",
    )
    tolerance: float = Key(default=1e-3, description="How far the sum may be from 1.", ge=0, le=1)
    reference_column: str | None = Key(
        default=None, description="Column of `cases.csv` with the class. Default: the field's name."
    )
    excluded: list[str] = Key(default=[], description=_EXCLUDED)

    @model_validator(mode="after")
    def _good_classes(self) -> "ClassProbabilitiesField":
        _check_class_names(self.classes, self.excluded)
        if self.columns is not None and len(set(self.columns)) != len(self.classes):
            raise ValueError(f"columns: expected one for each of {len(self.classes)} classes")
        return self

    def field(self, name: str) -> Field:
        classes: tuple[str, ...] = tuple(self.classes)
        return self.row_field(
            name,
            ClassProbabilities(classes, self.tolerance),
            self.columns or classes,
            ReferenceClass(classes, excluded=tuple(self.excluded)),
            [self.reference_column or name],
        )


def _check_class_names(classes: Sequence[str | int], excluded: Sequence[str]) -> None:
    if problem := problem_of_classes(tuple(classes)):
        raise ValueError(problem)
    if both := [name for name in excluded if name in map(str, classes)]:
        raise ValueError(f"excluded: expected cells that are no class, found {both[0]!r}")


# --- The decided class of a case, from any kind of field ---


@dataclass(frozen=True)
class Decided:
    """How a field decides on a class: the classes, the columns, and the class index of a submitted value."""

    classes: tuple[str, ...]
    predicted: str
    true: str
    index: Callable[[Any], float]

    def row(self, comparison: FieldComparison) -> Row:
        """Return both class indices of a case; NaN for a case that does not enter."""
        return {self.predicted: self.index(comparison.submitted), self.true: float(comparison.reference)}

    def matrix(self, table: CaseTable) -> Mapping[str, Any]:
        """Return the numbers of cases by true and decided class, for the organiser."""
        ones = np.ones((1, len(table)))
        counts = confusion.weighted_confusion(
            table[self.true], table[self.predicted], ones, len(self.classes)
        )
        content = {
            "classes": list(self.classes),
            "by_true_and_decided": counts.counts[0].astype(int).tolist(),
            "without_result": counts.missing[0].astype(int).tolist(),
        }
        return {f"{self.predicted.removesuffix('_predicted')}_confusion_matrix": content}


class DecisionMetric(MetricTable, ABC):
    """A metric of decided classes."""

    threshold: FiniteFloat | None = Key(
        default=None,
        description="Fields of kind `number`: from which number on a case is decided to be positive.",
    )
    above: FiniteFloat | None = Key(
        default=None,
        description="In place of `threshold`: the number that a positive case exceeds, itself excluded "
        "(CHIMERA).",
    )
    kinds = (ClassField, ClassProbabilitiesField, DecisionField, scalars.NumberField)

    def decided(self, name: str, field_name: str, table: FieldTable) -> Decided:
        """Return how a field decides. Raises ValueError for options that do not fit it."""
        predicted, true = scalars.value_columns(field_name)
        if isinstance(table, scalars.NumberField):
            decide = self._decide(table)
            return Decided(("negative", "positive"), f"{name}_predicted", true, decide)
        if (self.threshold, self.above) != (None, None):
            key = "threshold" if self.above is None else "above"
            raise ValueError(f"{key}: expected none for a field of kind {table.kind!r}")
        if isinstance(table, DecisionField):
            return Decided(("negative", "positive"), predicted, true, float)
        assert isinstance(table, ClassField | ClassProbabilitiesField)
        if isinstance(table, ClassField):
            return Decided(tuple(map(str, table.classes)), predicted, true, float)
        return Decided(tuple(table.classes), predicted, true, lambda given: float(given.index(max(given))))

    def _decide(self, table: scalars.NumberField) -> Callable[[float], float]:
        """Return the function from a number to 1 or 0. Raises ValueError for options that do not fit."""
        scalars.check_classes(table)
        if (self.threshold is None) == (self.above is None):
            found = "none" if self.above is None else "both"
            raise ValueError(
                f"threshold: expected a number for a field of kind 'number', or above, found {found}"
            )
        strict, limit = self.threshold is None, self.above if self.threshold is None else self.threshold
        low, high = table.minimum, table.maximum
        assert limit is not None
        if low is None or high is None or not (low <= limit < high if strict else low < limit <= high):
            key = "above" if strict else "threshold"
            raise ValueError(f"{key}: expected a field with minimum and maximum, and a number between them")
        return lambda number: float(number > limit if strict else number >= limit)

    function: ClassVar[_Figure]
    """The figure of a weighted confusion matrix, called with the keywords that `options` returns."""
    worst: ClassVar[float] = 0.0
    by_class: ClassVar[bool] = False
    """Whether it is a mean of shares within the classes, see `ConfusionFigure`."""

    def options(self, classes: Sequence[str]) -> dict[str, Any]:
        """Return the keywords of the function. Raises ValueError for options that do not fit the classes."""
        return {}

    def bounds(self, classes: Sequence[str]) -> tuple[float, float]:
        """Return the best and the worst value."""
        return 1.0, self.worst

    def decisive_class(self, classes: Sequence[str]) -> int | None:
        """Return the index of the class whose cases alone decide on the figure, if it is one."""
        return None

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        decided = self.decided(name, field_name, table)
        figure = partial(type(self).function, **self.options(decided.classes))
        of = self.decisive_class(decided.classes)
        estimator = ConfusionFigure(
            decided.predicted, decided.true, len(decided.classes), figure, of, self.by_class
        )

        def worst_row(references: Values) -> Row:
            return {decided.predicted: math.nan, decided.true: float(references[field_name])}

        metric = Metric(name, self.title_of(name), estimator, *self.bounds(decided.classes))
        return Measure((metric,), decided.row, worst_row, decided.matrix)


class OneClassMetric(DecisionMetric, ABC):
    """A metric of one class against all others."""

    of: str | None = Key(
        default=None,
        description="The class that is meant. Default: the second of two classes, of a decision the positive "
        "one.",
    )

    def class_index(self, classes: Sequence[str]) -> int:
        """Return the index of the class. Raises ValueError for a class that the field does not have."""
        if self.of is None and len(classes) == 2:
            return 1
        if self.of is None or self.of not in classes:
            raise ValueError(f"of: expected one of {', '.join(classes)}, found {self.of or 'none'}")
        return list(classes).index(self.of)

    def options(self, classes: Sequence[str]) -> dict[str, Any]:
        return {"class_index": self.class_index(classes)}

    def decisive_class(self, classes: Sequence[str]) -> int | None:
        return self.class_index(classes)


# --- Metrics of decided classes: accuracy, sensitivity, F scores, correlation, kappa ---


class _ShareOfCases(DecisionMetric, ABC):
    """The share of right cases among those that enter, by their true classes."""

    def is_right(self, predicted: float, true: float, of: int | None) -> float:
        """Return whether a case is right, as 0 or 1; NaN if it does not enter. of: the class meant."""
        return float(predicted == true)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        decided = self.decided(name, field_name, table)
        of = self.decisive_class(decided.classes)

        def share(predicted: float, true: float) -> Row:
            right = math.nan if math.isnan(true) else self.is_right(predicted, true, of)
            if math.isnan(predicted) and not math.isnan(right):
                right = 0.0
            return {name: right}

        metric = Metric(name, self.title_of(name), Share(name), 1, 0)
        return Measure(
            (metric,),
            lambda comparison: share(*decided.row(comparison).values()),
            lambda references: share(math.nan, float(references[field_name])),
        )


class Accuracy(_ShareOfCases):
    """A case without a result is wrong.

    For probabilities, the class with the highest one is decided, the first among equals.

    Oracle: scikit-learn, `accuracy_score`.
    """

    metric: Literal["accuracy"]


class BalancedAccuracy(DecisionMetric):
    """A case without a result is wrong.

    Oracle: scikit-learn, `balanced_accuracy_score`.
    """

    metric: Literal["balanced_accuracy"]
    function: ClassVar[_Figure] = staticmethod(confusion.balanced_accuracy_of_confusion)
    by_class: ClassVar[bool] = True


class _ShareOfAClass(_ShareOfCases, OneClassMetric, ABC):
    """The share of the cases that are recognised as of a class, or as of another one."""

    has_class: ClassVar[bool]

    def is_right(self, predicted: float, true: float, of: int | None) -> float:
        if (true == of) != self.has_class:
            return math.nan
        return float((predicted == of) == self.has_class)


class Sensitivity(_ShareOfAClass):
    """It needs a case of the class. A case without a result is not recognised.

    Oracle: scikit-learn, `recall_score`.
    """

    metric: Literal["sensitivity"]
    has_class = True


class Specificity(_ShareOfAClass):
    """It needs a case of another class. A case without a result is taken for the class.

    Oracle: scikit-learn, `recall_score` of the absence of the class.
    """

    metric: Literal["specificity"]
    has_class = False


class Precision(OneClassMetric):
    """It needs a case of the class.

    A case of another class without a result counts as assigned to it, a case of the class does not.

    Oracle: scikit-learn, `precision_score` with `zero_division=0`.
    """

    metric: Literal["precision"]
    function: ClassVar[_Figure] = staticmethod(confusion.precision_of_confusion)


_F_OF_A_CLASS = (
    "It needs a case of the class. A case without a result is a miss of its class, or else a false alarm."
)


class FBeta(OneClassMetric):
    """Oracle: scikit-learn, `fbeta_score`."""

    metric: Literal["f_beta"]
    common = _F_OF_A_CLASS
    own_title: ClassVar[str] = "F-beta"
    beta: float = Key(description="Importance of sensitivity.", gt=0, le=100)
    function: ClassVar[_Figure] = staticmethod(confusion.f_beta_of_confusion)

    def options(self, classes: Sequence[str]) -> dict[str, Any]:
        return {**super().options(classes), "beta": self.beta}


class FOne(OneClassMetric):
    """Oracle: scikit-learn, `f1_score`."""

    metric: Literal["f1"]
    common = _F_OF_A_CLASS
    function: ClassVar[_Figure] = staticmethod(confusion.f_beta_of_confusion)


_F_OF_ALL = "A case without a result is a miss of its class and a false alarm of every other class."


class MacroFOne(DecisionMetric):
    """The mean is over the classes that occur in reference or prediction.

    A class whose cases all have weight 0, as in a resample or another subgroup, is left out.

    Oracle: scikit-learn, `f1_score` with `average="macro"`.
    """

    metric: Literal["macro_f1"]
    common = _F_OF_ALL
    function: ClassVar[_Figure] = staticmethod(confusion.mean_f1_of_confusion)


class WeightedFOne(DecisionMetric):
    """Oracle: scikit-learn, `f1_score` with `average="weighted"`."""

    metric: Literal["weighted_f1"]
    common = _F_OF_ALL
    function: ClassVar[_Figure] = partial(confusion.mean_f1_of_confusion, averaging="weighted")


class MatthewsCorrelation(DecisionMetric):
    """With cases without a result it is a lower bound over all answers that they could have had.

    Oracle: scikit-learn, `matthews_corrcoef`.
    """

    metric: Literal["matthews_correlation"]
    own_title: ClassVar[str] = "Matthews' correlation"
    function: ClassVar[_Figure] = staticmethod(confusion.matthews_correlation_of_confusion)
    worst: ClassVar[float] = -1.0


class CohenKappa(DecisionMetric):
    """With `linear` or `quadratic` a disagreement costs the distance of the classes, or its square.

    The order of the classes is that of all declared ones, those that never occur included (in scikit-learn:
    with `labels`). Cases without a result have the answers with the
    lowest kappa. It does not exist if reference and decisions hold the same class alone.

    Oracle: scikit-learn, `cohen_kappa_score`.
    """

    metric: Literal["cohen_kappa"]
    own_title: ClassVar[str] = "Cohen's kappa"
    disagreement: confusion.Disagreement = Key(default="nominal", description="What a disagreement costs.")
    function: ClassVar[_Figure] = staticmethod(confusion.cohen_kappa_of_confusion)
    worst: ClassVar[float] = -1.0

    def options(self, classes: Sequence[str]) -> dict[str, Any]:
        return {"disagreement": self.disagreement}


class NegativePredictiveValue(OneClassMetric):
    """It needs a case of another class.

    A case of the class without a result counts as not assigned to it, a case of another class does not.

    Oracle: scikit-learn, `precision_score` of the absence of the class.
    """

    metric: Literal["negative_predictive_value"]
    function: ClassVar[_Figure] = staticmethod(confusion.negative_predictive_value_of_confusion)

    def decisive_class(self, classes: Sequence[str]) -> int | None:
        return None  # the cases of other classes decide


class ExpectedCost(DecisionMetric):
    """Expected cost: mean cost of the decisions, given a cost for each true and decided class.

    From 0 to the highest cost, lower is better. `normalised` by the cost of the best answer that is the same
    for every case: 1 is then no better than that. A case without a result has the dearest answer.

    Oracle: NumPy, `average`, of the costs of the cases. Source: Ferrer, arXiv:2209.05355, 2022.
    """

    metric: Literal["expected_cost"]
    costs: list[list[Annotated[float, Key(ge=0, allow_inf_nan=False)]]] = Key(
        description="A row for each true class, with the cost of each decided class: `[[0, 1], [5, 0]]` if a "
        "missed positive case costs five times a false alarm."
    )
    normalised: bool = Key(
        default=False, description="Whether the cost is divided by that of the best constant answer."
    )
    function: ClassVar[_Figure] = staticmethod(confusion.expected_cost_of_confusion)

    def options(self, classes: Sequence[str]) -> dict[str, Any]:
        if [len(row) for row in self.costs] != [len(classes)] * len(classes):
            raise ValueError(f"costs: expected {len(classes)} rows of {len(classes)} costs")
        matrix = np.array(self.costs, dtype=np.float64)
        if np.diagonal(matrix).any() or not matrix.any():
            raise ValueError("costs: expected 0 for right answers, and a cost of a wrong one")
        return {"costs": matrix, "normalised": self.normalised}

    def bounds(self, classes: Sequence[str]) -> tuple[float, float]:
        return 0.0, math.inf if self.normalised else max(map(max, self.costs))

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        found = super().measure(name, field_name, table)
        if not self.normalised:
            return found
        # No interval holds where no case of a sample is decided wrongly.
        return replace(found, metrics=(replace(found.metrics[0], no_interval="no largest value"),))
