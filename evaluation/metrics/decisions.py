"""Binary decisions: F1 of a structure's presence over images, and the Hamming distance of sets of labels."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray


def f1_of_presence(predicted: ArrayLike, present: ArrayLike, weights: ArrayLike) -> NDArray[np.float64]:
    """F1 of detection 2·TP / (2·TP + FP + FN), one decision per image.

    predicted, present: boolean, shape (cases,). weights: shape (resamples, cases), at least 0. Returns shape
    (resamples,) in [0, 1]; 1 in a row where no image has the structure and none is predicted to.
    Raises ValueError where the shapes do not fit.
    Source: Fang et al. 2022, IEEE Trans. Med. Imaging 41:2828 (ADAM); it gives no value without positives.
    """
    said = np.asarray(predicted, dtype=np.bool_)
    truth = np.asarray(present, dtype=np.bool_)
    matrix = np.asarray(weights, dtype=np.float64)
    if said.ndim != 1 or said.shape != truth.shape or matrix.ndim != 2 or matrix.shape[1] != said.size:
        raise ValueError(
            "predicted, present and weights: expected shapes (cases,), (cases,) and (resamples, cases), "
            f"found {said.shape}, {truth.shape} and {matrix.shape}"
        )
    counts = matrix @ np.column_stack((said & truth, said != truth)).astype(np.float64)
    twice_true_positive, wrong = 2.0 * counts[:, 0], counts[:, 1]
    total = twice_true_positive + wrong
    return np.divide(twice_true_positive, total, out=np.ones(total.shape), where=total > 0)


def values_of_f1(positives: int, negatives: int) -> int:
    """Return how many values F1 can take, given the numbers of images with and without the structure.

    At most positives · (negatives + 1) + 1 and less, since 2·TP / (TP + positives + FP) repeats itself.
    Without positives it is 1 where none is predicted, else 0.
    """
    if not positives:
        return min(2, 1 + negatives)
    true_positive = np.arange(1, positives + 1, dtype=np.int64)[:, np.newaxis]
    total = true_positive + positives + np.arange(negatives + 1, dtype=np.int64)
    common = np.gcd(2 * true_positive, total)
    return 1 + len(np.unique((2 * true_positive // common) << 32 | total // common))


def label_errors(predicted: Sequence[bool | None], agreed: Sequence[bool | None]) -> tuple[float, ...]:
    """Return 1 for every label that is wrong or missing (None), 0 for a correct one, NaN if not agreed on.

    Both sequences have one entry per label. Raises ValueError if their lengths differ.
    """
    return tuple(
        math.nan if true is None else float(label is not true)
        for label, true in zip(predicted, agreed, strict=True)
    )


def modified_hamming_distance(errors: Sequence[float]) -> float:
    """Return the share of wrong labels among those that the graders agreed on, NaN if there are none.

    errors: the result of `label_errors`. Source: JustRAIGS challenge design, metrics, P_just.
    """
    counted = [error for error in errors if not math.isnan(error)]
    return sum(counted) / len(counted) if counted else math.nan
