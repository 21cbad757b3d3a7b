"""Figures of a classification into two or more classes, functions of one weighted confusion matrix.

A case without a result is counted in a place of its own (`Confusion.missing`), and every figure takes for it
the answer that is worst for that figure: leaving a case out never pays.
"""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Floats, booleans, mean_of_defined, ratio_or_nan, weights_row

__all__ = [
    "accuracy",
    "balanced_accuracy",
    "cohen_kappa",
    "confusion_matrix",
    "f1",
    "f_beta",
    "fleiss_kappa",
    "hamming_distance",
    "macro_f1",
    "matthews_correlation",
    "negative_predictive_value",
    "precision",
    "sensitivity",
    "specificity",
    "weighted_f1",
]

Averaging = Literal["macro", "weighted"]
Disagreement = Literal["nominal", "linear", "quadratic"]
_MAX_STEPS = 100  # of the search for the worst answers; three or four are usual


def confusion_matrix(
    predicted: ArrayLike,
    reference: ArrayLike,
    *,
    classes: Sequence[Hashable],
    weights: ArrayLike | None = None,
) -> Floats:
    """Return the weights of the cases by true class (row) and predicted class (column).

    predicted, reference: classes of any type, shape (cases,). A case without a predicted class (None or NaN)
    is in no cell, one without a true class is left out. classes: all of them in their order. weights: of the
    cases, finite and at least 0, by default 1 each. All zeros for empty input. Raises ValueError for lengths
    that differ, a class that is not listed, or an invalid weight.
    Source: Grandini et al., arXiv:2008.05756, 2020.

    >>> confusion_matrix(["a", "b", "b"], ["a", "b", "c"], classes=["a", "b", "c"]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    """
    counts: Floats = _confusion_of(predicted, reference, weights, classes).counts[0]
    return counts


def _confusion_of(
    predicted: ArrayLike | Sequence[Hashable],
    reference: ArrayLike | Sequence[Hashable],
    weights: ArrayLike | None,
    classes: Sequence[Hashable] | None = None,
) -> "Confusion":
    """Return the confusion matrix of classes, by default of those that occur."""
    made, true = (np.asarray(column, dtype=object).tolist() for column in (predicted, reference))
    if len(made) != len(true):
        raise ValueError(f"predicted and reference: expected one length, found {len(made)} and {len(true)}")
    occurring = [name for name in dict.fromkeys([*true, *made]) if not _is_missing(name)]
    index = {name: position for position, name in enumerate(occurring if classes is None else classes)}
    if unknown := [name for name in occurring if name not in index]:
        raise ValueError(f"classes: expected every class that occurs, {unknown[0]!r} is not listed")
    truth, answers = (
        [np.nan if _is_missing(name) else float(index[name]) for name in column] for column in (true, made)
    )
    # One class alone still has another one that a case without a result could be taken for.
    count = max(2, len(index)) if classes is None else len(index)
    return weighted_confusion(truth, answers, weights_row(weights, len(true)), count)


def _is_missing(name: Hashable) -> bool:
    return name is None or name != name


def accuracy(predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the accuracy: the share of correctly classified cases.

    From 0 to 1, higher is better. Arguments as of `confusion_matrix`; a case without a result is wrong. NaN
    without a case.
    Source: Grandini et al., arXiv:2008.05756, 2020.

    >>> accuracy(["a", "b", "b", None], ["a", "b", "c", "c"])
    0.5
    """
    return float(accuracy_of_confusion(_confusion_of(predicted, reference, weights))[0])


def balanced_accuracy(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return the balanced accuracy: the mean of the sensitivities of the classes that occur in the reference.

    From 0 to 1, higher is better; 1 / classes for one and the same answer to every case. Arguments as of
    `confusion_matrix`; a case without a result is wrong. NaN without a case.
    Source: Brodersen et al., ICPR 2010, p. 3121.

    >>> balanced_accuracy(["a", "b", "b", None], ["a", "b", "c", "c"])
    0.6666666666666666
    """
    return float(balanced_accuracy_of_confusion(_confusion_of(predicted, reference, weights))[0])


def macro_f1(predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the mean F1 of the classes, each counting alike.

    From 0 to 1, higher is better. The mean is over the classes that occur in reference or prediction with a
    case of weight. Arguments as of `confusion_matrix`; a case without a result is a miss of its class and a
    false alarm of every other class. NaN without a case.
    Source: Opitz and Burst, arXiv:1911.03347, 2019 (the mean of F1 scores).

    >>> macro_f1(["a", "b", "b", "c"], ["a", "b", "c", "c"])
    0.7777777777777777
    """
    return float(mean_f1_of_confusion(_confusion_of(predicted, reference, weights))[0])


def weighted_f1(predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the mean F1 of the classes, each counting with its share of the reference.

    From 0 to 1, higher is better. Everything else as of `macro_f1`. NaN without a case.
    Source: Opitz and Burst, arXiv:1911.03347, 2019.

    >>> weighted_f1(["a", "b", "b", "c"], ["a", "b", "c", "c"])
    0.75
    """
    return float(mean_f1_of_confusion(_confusion_of(predicted, reference, weights), "weighted")[0])


def matthews_correlation(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return Matthews' correlation coefficient, for several classes Gorodkin's.

    From −1 to 1, higher is better; 0 for one and the same answer to every case. With cases without a result
    it is a lower bound over all answers that they could have had. Arguments as of `confusion_matrix`. 0 also
    where the reference has one class only; NaN without a case.
    Source: Gorodkin, Comput. Biol. Chem. 28:367, 2004.

    >>> round(matthews_correlation([1, 1, 0, 0], [1, 0, 0, 0]), 4)
    0.5774
    """
    return float(matthews_correlation_of_confusion(_confusion_of(predicted, reference, weights))[0])


def cohen_kappa(
    first: ArrayLike | Sequence[Hashable],
    second: ArrayLike | Sequence[Hashable],
    *,
    disagreement: Disagreement = "nominal",
    classes: Sequence[Hashable] | None = None,
    weights: ArrayLike | None = None,
) -> float:
    """Return Cohen's kappa: the agreement of decided and true classes beyond chance, plain or weighted.

    At most 1, higher is better; 0 is chance. first, second: the classes of two annotators, or of a prediction
    and the reference, as of `confusion_matrix`. disagreement: what it costs, the same for all ("nominal"), or
    the distance of the classes in the order of ``classes`` or its square. classes: all in their order,
    required unless "nominal". NaN for empty input, and if both always chose one and the same class. Raises
    ValueError as `confusion_matrix`, for another disagreement, and for weighted disagreements without
    ``classes``.
    Source: Cohen, Psychological Bulletin 70:213, 1968.

    >>> cohen_kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"])
    0.5
    >>> cohen_kappa([0, 1, 2, 2], [0, 1, 2, 1], disagreement="quadratic", classes=[0, 1, 2])
    0.8
    """
    if disagreement not in get_args(Disagreement):
        expected = "'nominal', 'linear' or 'quadratic'"
        raise ValueError(f"disagreement: expected {expected}, found {disagreement!r}")
    if classes is None and disagreement != "nominal":
        raise ValueError(f"classes: expected all categories in their order for {disagreement!r}, found none")
    return float(cohen_kappa_of_confusion(_confusion_of(first, second, weights, classes), disagreement)[0])


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float:
    """Return Fleiss' kappa of any number of annotators.

    At most 1, higher is better; 0 is chance. ratings: for every case the categories that its annotators
    chose, of whom there may be other numbers in other cases; cases with fewer than two do not enter. NaN if
    no case enters, or only one category occurs.
    Source: Fleiss, Psychological Bulletin 76:378, 1971.

    >>> round(fleiss_kappa([["a", "a", "a"], ["b", "b", "b"], ["a", "a", "b"]]), 4)
    0.55
    """
    cases = [Counter(case_ratings) for case_ratings in ratings if len(case_ratings) > 1]
    total: Counter[Hashable] = Counter()
    for counts in cases:
        total.update(counts)
    if len(total) < 2:
        return math.nan
    agreeing = [_share_of_agreeing_pairs(counts) for counts in cases]
    observed = math.fsum(agreeing) / len(cases)
    by_chance = math.fsum((count / total.total()) ** 2 for count in total.values())
    return (observed - by_chance) / (1 - by_chance)


def _share_of_agreeing_pairs(counts: Counter[Hashable]) -> float:
    annotators = counts.total()
    return sum(count * (count - 1) for count in counts.values()) / (annotators * (annotators - 1))


def sensitivity(predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the sensitivity (recall) of a class: the share of its cases that are recognised.

    From 0 to 1, higher is better. predicted, reference: 0 and 1 or booleans, 1 for the class, shape (cases,).
    weights: of the cases, finite and at least 0, by default 1 each. NaN without a case of the class. Raises
    ValueError for shapes that differ, other values, or an invalid weight.
    Source: Yerushalmy, Public Health Reports 62:1432, 1947.

    >>> sensitivity([1, 1, 0, 0], [1, 0, 1, 1])
    0.3333333333333333
    """
    return float(sensitivity_of_confusion(_decisions_of(predicted, reference, weights))[0])


def specificity(predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the specificity of a class: the share of the cases of other classes that are not taken for it.

    From 0 to 1, higher is better. Arguments as of `sensitivity`. NaN without a case of another class.
    Source: Yerushalmy, Public Health Reports 62:1432, 1947.

    >>> specificity([1, 1, 0, 0], [1, 0, 1, 1])
    0.0
    """
    return float(specificity_of_confusion(_decisions_of(predicted, reference, weights))[0])


def precision(predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the precision of a class: the share of true cases among those assigned to it (PPV).

    From 0 to 1, higher is better; 0 if no case is assigned to the class. Arguments as of `sensitivity`. NaN
    without a case of the class.
    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7.

    >>> precision([1, 1, 0, 0], [1, 0, 1, 1])
    0.5
    """
    return float(precision_of_confusion(_decisions_of(predicted, reference, weights))[0])


def negative_predictive_value(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return the negative predictive value: the share of other cases among those not assigned to a class.

    From 0 to 1, higher is better; 0 if all cases are assigned to the class. Arguments as of `sensitivity`.
    NaN without a case of another class.
    Source: Yerushalmy, Public Health Reports 62:1432, 1947.

    >>> negative_predictive_value([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """
    return float(negative_predictive_value_of_confusion(_decisions_of(predicted, reference, weights))[0])


def f_beta(
    predicted: ArrayLike, reference: ArrayLike, beta: float, *, weights: ArrayLike | None = None
) -> float:
    """Return F-beta of a class: the harmonic mean of precision and sensitivity, which counts beta² times.

    From 0 to 1, higher is better. Arguments as of `sensitivity`; beta: finite and above 0. NaN without a case
    of the class.
    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7.

    >>> f_beta([1, 1, 0, 0], [1, 0, 1, 1], beta=2)
    0.35714285714285715
    """
    if not 0 < beta < math.inf:
        raise ValueError(f"beta: expected a number above 0, found {beta}")
    return float(f_beta_of_confusion(_decisions_of(predicted, reference, weights), beta)[0])


def f1(predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return F1 of a class: the harmonic mean of precision and sensitivity.

    From 0 to 1, higher is better. Arguments as of `sensitivity`. NaN without a case of the class.
    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7.

    >>> f1([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """
    return f_beta(predicted, reference, 1.0, weights=weights)


def _decisions_of(predicted: ArrayLike, reference: ArrayLike, weights: ArrayLike | None) -> "Confusion":
    """Return the confusion matrix of binary decisions."""
    decided, correct = booleans(predicted, "predicted"), booleans(reference, "reference")
    if decided.ndim != 1 or decided.shape != correct.shape:
        raise ValueError(
            f"predicted and reference: expected one shape (cases,), found {decided.shape} and {correct.shape}"
        )
    return weighted_confusion(correct, decided, weights_row(weights, decided.size), 2)


@dataclass(frozen=True, slots=True)
class Confusion:
    """Weights of the cases by true and predicted class.

    counts: shape (resamples, classes, classes), indexed [resample, true, predicted].
    missing: shape (resamples, classes), weight of the cases without a prediction, by true class.
    """

    counts: Floats
    missing: Floats

    @property
    def truth(self) -> Floats:
        """Weight of every true class, shape (resamples, classes), cases without a prediction included."""
        truth: Floats = self.counts.sum(axis=2) + self.missing
        return truth

    @property
    def predicted(self) -> Floats:
        """Weight of every predicted class, shape (resamples, classes)."""
        predicted: Floats = self.counts.sum(axis=1)
        return predicted

    @property
    def correct(self) -> Floats:
        """Weight of the right answers of every class, shape (resamples, classes)."""
        return np.diagonal(self.counts, axis1=1, axis2=2)


def weighted_confusion(truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike, classes: int) -> Confusion:
    """Count weighted cases by true and predicted class.

    truth: shape (cases,), class indices from 0 on; NaN leaves a case out. predicted: the same; NaN says that
    the case has no result. weights: shape (resamples, cases), at least 0.
    Raises ValueError for shapes that differ and for a value other than a class index.
    """
    true, answer = (np.asarray(column, dtype=np.float64) for column in (truth, predicted))
    matrix = np.asarray(weights, dtype=np.float64)
    if true.ndim != 1 or answer.shape != true.shape or matrix.shape[1:] != true.shape:
        raise ValueError(
            "truth, predicted and weights: expected shapes (cases,), (cases,) and (resamples, cases), "
            f"found {true.shape}, {answer.shape} and {matrix.shape}"
        )
    for name, column in (("truth", true), ("predicted", answer)):
        wrong = column[~np.isnan(column) & ~np.isin(column, np.arange(classes))]
        if wrong.size:
            raise ValueError(f"{name}: expected class indices from 0 to {classes - 1}, found {wrong[0]:g}")
    entering = np.flatnonzero(~np.isnan(true))
    # The last column of each true class has the cases without a result.
    answer = np.where(np.isnan(answer), classes, answer)
    cell = (true[entering] * (classes + 1) + answer[entering]).astype(np.int64)
    order = np.argsort(cell, kind="stable")
    cells, starts = np.unique(cell[order], return_index=True)
    sums = np.zeros((len(matrix), classes * (classes + 1)))
    if cells.size:
        sums[:, cells] = np.add.reduceat(matrix[:, entering[order]], starts, axis=1)
    table = sums.reshape(len(matrix), classes, classes + 1)
    return Confusion(table[..., :classes], table[..., classes])


def accuracy_of_confusion(cases: Confusion) -> Floats:
    """`accuracy`, shape (resamples,), as of all figures here."""
    return ratio_or_nan(cases.correct.sum(axis=1), cases.truth.sum(axis=1))


def balanced_accuracy_of_confusion(cases: Confusion) -> Floats:
    """`balanced_accuracy`."""
    return mean_of_defined(ratio_or_nan(cases.correct, cases.truth), axis=1)


def sensitivity_of_confusion(cases: Confusion, class_index: int = 1) -> Floats:
    """`sensitivity` of a class."""
    return ratio_or_nan(cases.correct[:, class_index], cases.truth[:, class_index])


def specificity_of_confusion(cases: Confusion, class_index: int = 1) -> Floats:
    """`specificity` of a class; a case of another class without a result counts as taken for it."""
    others = cases.truth.sum(axis=1) - cases.truth[:, class_index]
    return ratio_or_nan(others - _false_alarms(cases)[:, class_index], others)


def precision_of_confusion(cases: Confusion, class_index: int = 1) -> Floats:
    """`precision` of a class; a case of another class without a result counts as assigned to it."""
    right = cases.correct[:, class_index]
    value = ratio_or_nan(right, right + _false_alarms(cases)[:, class_index])
    return np.where(cases.truth[:, class_index] > 0, np.nan_to_num(value), np.nan)


def negative_predictive_value_of_confusion(cases: Confusion, class_index: int = 1) -> Floats:
    """`negative_predictive_value` of a class.

    Without a result, a case of the class counts as not assigned to it, any other as assigned.
    """
    truth = cases.truth
    others = truth.sum(axis=1) - truth[:, class_index]
    right = others - _false_alarms(cases)[:, class_index]
    wrong = truth[:, class_index] - cases.correct[:, class_index]
    return np.where(others > 0, np.nan_to_num(ratio_or_nan(right, right + wrong)), np.nan)


def expected_cost_of_confusion(cases: Confusion, costs: Floats, normalised: bool) -> Floats:
    """Mean cost of the answers, by true and decided class; a case without a result has its dearest answer.

    costs: shape (classes, classes), indexed [true, decided]. ``normalised`` by the cost of the cheapest
    answer that is the same for all cases; NaN where that costs nothing. Source: Ferrer, arXiv:2209.05355.
    """
    total = cases.truth.sum(axis=1)
    cost = ratio_or_nan((cases.counts * costs).sum(axis=(1, 2)) + cases.missing @ costs.max(axis=1), total)
    return ratio_or_nan(cost * total, (cases.truth @ costs).min(axis=1)) if normalised else cost


def f_beta_of_confusion(cases: Confusion, beta: float = 1.0, class_index: int = 1) -> Floats:
    """`f_beta` of a class."""
    value = _f_beta_of_classes(cases, beta)[:, class_index]
    return np.where(cases.truth[:, class_index] > 0, value, np.nan)


def mean_f1_of_confusion(cases: Confusion, averaging: Averaging = "macro") -> Floats:
    """`macro_f1`, or `weighted_f1` with the classes weighted by their shares of the reference."""
    scores = _f_beta_of_classes(cases, 1.0)
    if averaging == "macro":
        return mean_of_defined(scores, axis=1)
    return ratio_or_nan(np.nansum(scores * cases.truth, axis=1), cases.truth.sum(axis=1))


def matthews_correlation_of_confusion(cases: Confusion) -> Floats:
    """`matthews_correlation`; of two classes a case without a result has the other one."""
    truth, made = cases.truth, cases.predicted
    total = truth.sum(axis=1)
    missing = cases.missing.sum(axis=1)
    most_frequent_other = np.max(
        np.where(np.eye(truth.shape[1], dtype=np.bool_), -np.inf, truth[:, None, :]), axis=2
    )
    lost = np.where(cases.missing > 0, most_frequent_other * cases.missing, 0.0).sum(axis=1)
    covariance = cases.correct.sum(axis=1) * total - (made * truth).sum(axis=1) - lost
    squares = (made**2).sum(axis=1)
    if truth.shape[1] == 2:
        fewest = most = ((made + cases.missing[:, ::-1]) ** 2).sum(axis=1)
    else:
        fewest = squares
        most = squares + missing**2 + 2 * missing * made.max(axis=1)
    spread = total**2 - np.where(covariance < 0, most, fewest)
    scale = np.sqrt(np.maximum(spread, 0.0) * np.maximum(total**2 - (truth**2).sum(axis=1), 0.0))
    value = np.divide(covariance, scale, out=np.sign(covariance), where=scale > 0)
    value = np.where((total**2 - (truth**2).sum(axis=1)) > 0, value, 0.0)
    return np.where(total > 0, np.clip(value, -1.0, 1.0), np.nan)


def cohen_kappa_of_confusion(cases: Confusion, disagreement: Disagreement = "nominal") -> Floats:
    """`cohen_kappa`; cases without a result have the answers for which it is lowest."""
    classes = cases.counts.shape[1]
    index = np.arange(classes, dtype=np.float64)
    distance = np.abs(index[:, None] - index)
    known = {"nominal": (distance > 0).astype(np.float64), "linear": distance, "quadratic": distance**2}
    cost = known[disagreement]
    truth = cases.truth
    total = truth.sum(axis=1)
    # By predicted class, the share of a case in the expected disagreement.
    expected_by_class = ratio_or_nan(truth @ cost, total[:, None])
    observed = (cases.counts * cost).sum(axis=(1, 2))
    expected = (cases.predicted * expected_by_class).sum(axis=1)
    ratio = _worst_ratio(observed, expected, cases.missing, cost, expected_by_class)
    return 1.0 - ratio


def _worst_ratio(
    observed: Floats, expected: Floats, missing: Floats, cost: Floats, expected_by_class: Floats
) -> Floats:
    """Return the largest observed by expected disagreement over all answers of the missing cases.

    The search is Dinkelbach's for a ratio of linear functions: with the ratio so far, each true class
    chooses the answer that raises observed − ratio · expected most; it ends when that raises no ratio.
    """
    if not missing.any():
        return ratio_or_nan(observed, expected)
    ratio = np.zeros(observed.shape)
    classes = np.arange(len(cost))
    for _ in range(_MAX_STEPS):
        gain = cost - ratio[:, None, None] * expected_by_class[:, None, :]
        answer = gain.argmax(axis=2)
        raised = observed + (missing * cost[classes, answer]).sum(axis=1)
        scale = expected + (missing * np.take_along_axis(expected_by_class, answer, axis=1)).sum(axis=1)
        following = ratio.copy()
        np.divide(raised, scale, out=following, where=scale > 0)
        if not (following > ratio).any():
            break
        ratio = np.maximum(ratio, following)
    # Without any expected disagreement there is no ratio either.
    return np.where((expected > 0) | (ratio > 0), ratio, np.nan)


def _false_alarms(cases: Confusion) -> Floats:
    """Weight of the cases wrongly taken for each class; a missing case for every class but its own."""
    missing_elsewhere: Floats = cases.missing.sum(axis=1, keepdims=True) - cases.missing
    return cases.predicted - cases.correct + missing_elsewhere


def _f_beta_of_classes(cases: Confusion, beta: float) -> Floats:
    right, truth = cases.correct, cases.truth
    squared = beta * beta
    made = right + _false_alarms(cases)
    return ratio_or_nan((1.0 + squared) * right, squared * truth + made)


# --- Sets of labels: the Hamming distance of each case ---


def hamming_distance(predicted: ArrayLike, reference: ArrayLike) -> float:
    """Return the modified Hamming distance: the mean over cases of the share of known labels that are wrong.

    From 0 to 1, lower is better. predicted, reference: 0 and 1 or booleans, shape (labels,) or (cases,
    labels). None or NaN is wrong in the prediction and left out in the reference, as is a case without a
    known label. Where nothing is missing it is scikit-learn's `hamming_loss`. NaN if no case is left. Raises
    ValueError for shapes that differ, or other values.
    Source: JustRAIGS challenge design document, 2024.

    >>> hamming_distance([1, 0, 0, 1], [1, 1, 0, None])  # one of three labels is wrong
    0.3333333333333333
    """
    found, true = (_optional_booleans(labels) for labels in (predicted, reference))
    if found.shape != true.shape or found.ndim not in (1, 2):
        raise ValueError(
            "predicted and reference: expected one shape (labels,) or (cases, labels), "
            f"found {found.shape} and {true.shape}"
        )
    distances = [
        modified_hamming_distance(label_errors(*rows))
        for rows in zip(np.atleast_2d(found).tolist(), np.atleast_2d(true).tolist(), strict=True)
    ]
    return modified_hamming_distance(distances)


def _optional_booleans(values: ArrayLike) -> NDArray[Any]:
    """Return true, false or None for every entry."""
    numbers = np.asarray(values, dtype=np.float64)
    defined = ~np.isnan(numbers)
    found = np.full(numbers.shape, None, dtype=object)
    found[defined] = booleans(numbers[defined], "labels").tolist()
    return found


def label_errors(predicted: Sequence[bool | None], agreed: Sequence[bool | None]) -> tuple[float, ...]:
    """Return 1 for every label that is wrong or missing (None), 0 for a correct one, NaN if not agreed on.

    Both sequences have one entry per label. Raises ValueError if their lengths differ.
    """
    return tuple(
        math.nan if true is None else float(label is not true)
        for label, true in zip(predicted, agreed, strict=True)
    )


def modified_hamming_distance(errors: Sequence[float]) -> float:
    """Return the mean of the errors of `label_errors`, or of such means, that are not NaN."""
    counted = [error for error in errors if not math.isnan(error)]
    return sum(counted) / len(counted) if counted else math.nan
