"""Detection of a structure's presence in an image, counted over the images."""

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
