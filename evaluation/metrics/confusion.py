"""Figures of a classification into two or more classes, all functions of one weighted confusion matrix.

A case without a result is counted in a place of its own (`Confusion.missing`), and every figure takes for it
the answer that is worst for that figure: leaving a case out never pays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.ratio import ratio_or_nan

Floats = NDArray[np.float64]
Averaging = Literal["macro", "weighted"]
Disagreement = Literal["nominal", "linear", "quadratic"]

_MAX_STEPS = 100  # of the search for the worst answers; three or four are usual


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
        correct: Floats = np.diagonal(self.counts, axis1=1, axis2=2)
        return correct


def confusion(truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike, classes: int) -> Confusion:
    """Count weighted cases by true and predicted class.

    truth: shape (cases,), class indices from 0 on; NaN leaves a case out. predicted: the same; NaN says that
    the case has no result. weights: shape (resamples, cases), at least 0.
    Raises ValueError for shapes that differ and for what is no class index.
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
    # The last column of each true class is that of the cases without a result.
    answer = np.where(np.isnan(answer), classes, answer)
    cell = (true[entering] * (classes + 1) + answer[entering]).astype(np.int64)
    order = np.argsort(cell, kind="stable")
    cells, starts = np.unique(cell[order], return_index=True)
    sums = np.zeros((len(matrix), classes * (classes + 1)))
    if cells.size:
        sums[:, cells] = np.add.reduceat(matrix[:, entering[order]], starts, axis=1)
    table = sums.reshape(len(matrix), classes, classes + 1)
    return Confusion(table[..., :classes], table[..., classes])


def accuracy(cases: Confusion) -> Floats:
    """Share of right answers, in [0, 1]; NaN without a case. Shape (resamples,), as of all figures here."""
    return ratio_or_nan(cases.correct.sum(axis=1), cases.truth.sum(axis=1))


def balanced_accuracy(cases: Confusion) -> Floats:
    """Mean of the sensitivities of the classes that occur in the reference, in [0, 1]; NaN without a case.

    Source: Brodersen et al. 2010, ICPR, p. 3121; for several classes as scikit-learn.
    """
    return _mean_of_defined(ratio_or_nan(cases.correct, cases.truth))


def sensitivity(cases: Confusion, class_index: int = 1) -> Floats:
    """Share of a class's cases that are recognised (recall), in [0, 1]; NaN where it has none."""
    return ratio_or_nan(cases.correct[:, class_index], cases.truth[:, class_index])


def specificity(cases: Confusion, class_index: int = 1) -> Floats:
    """Share of the cases of other classes that are not taken for a class, in [0, 1]; NaN without one.

    A case of another class without a result counts as taken for it.
    """
    others = cases.truth.sum(axis=1) - cases.truth[:, class_index]
    return ratio_or_nan(others - _false_alarms(cases)[:, class_index], others)


def precision(cases: Confusion, class_index: int = 1) -> Floats:
    """Share of the cases taken for a class that are of it, in [0, 1].

    0 where none is taken for it; NaN where the reference has none of it.
    """
    right = cases.correct[:, class_index]
    value = ratio_or_nan(right, right + _false_alarms(cases)[:, class_index])
    return np.where(cases.truth[:, class_index] > 0, np.nan_to_num(value), np.nan)


def f_beta(cases: Confusion, beta: float = 1.0, class_index: int = 1) -> Floats:
    """F-beta of one class, in [0, 1]; NaN where the reference has none of it.

    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7.
    """
    value = _f_beta_of_classes(cases, beta)[:, class_index]
    return np.where(cases.truth[:, class_index] > 0, value, np.nan)


def mean_f1(cases: Confusion, averaging: Averaging = "macro") -> Floats:
    """F1 averaged over the classes that occur in reference or prediction, in [0, 1]; NaN without a case.

    "macro": each class counts alike; "weighted": by its share of the reference. A case without a result
    is a miss of its class and a false alarm of every other class. As scikit-learn's `f1_score`.
    """
    scores = _f_beta_of_classes(cases, 1.0)
    if averaging == "macro":
        return _mean_of_defined(scores)
    return ratio_or_nan(np.nansum(scores * cases.truth, axis=1), cases.truth.sum(axis=1))


def matthews_correlation(cases: Confusion) -> Floats:
    """Matthews' correlation coefficient, for several classes Gorodkin's, in [−1, 1]; NaN without a case.

    0 where reference or prediction has one class only, as scikit-learn. With two classes a case without a
    result has the other class; with more, the value is a lower bound over all answers it could have had.
    Source: Gorodkin 2004, Comput. Biol. Chem. 28:367.
    """
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


def cohen_kappa(cases: Confusion, disagreement: Disagreement = "nominal") -> Floats:
    """Cohen's κ of reference and prediction, at most 1; NaN where both have one and the same class only.

    "linear" and "quadratic" weight a disagreement by the distance of the classes or its square. Cases
    without a result have the answers for which κ is lowest.
    Source: Cohen 1968, Psychological Bulletin 70:213.
    """
    classes = cases.counts.shape[1]
    index = np.arange(classes, dtype=np.float64)
    distance = np.abs(index[:, None] - index)
    cost = {"nominal": (distance > 0).astype(np.float64), "linear": distance, "quadratic": distance**2}[
        disagreement
    ]
    truth = cases.truth
    total = truth.sum(axis=1)
    # By predicted class, what a case adds to the expected disagreement.
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


def _mean_of_defined(values: Floats) -> Floats:
    defined = ~np.isnan(values)
    return ratio_or_nan(np.where(defined, values, 0.0).sum(axis=1), defined.sum(axis=1).astype(np.float64))
