"""Areas under the ROC curves of several classes, each against the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.ratio import ratio_or_nan
from evaluation.metrics.roc import auc, roc_table

Floats = NDArray[np.float64]


def macro_auc(score: ArrayLike, truth: ArrayLike, weights: ArrayLike) -> Floats:
    """Mean over the classes of the AUC of one class against the rest, in [0, 1]; higher is better.

    score: shape (cases, classes), one column a class; a row with NaN has no result and loses all its pairs.
    truth: shape (cases,), class indices from 0 on; NaN leaves a case out. weights: shape (resamples, cases),
    at least 0. Returns shape (resamples,). A class that all cases of weight or none of them have does not
    enter the mean; NaN where that is true of every class. Raises ValueError for shapes that differ.
    Source: Provost and Domingos 2000, CeDER working paper IS-00-04, with equal weights of the classes; as
    scikit-learn's ``roc_auc_score(multi_class="ovr", average="macro")``.
    """
    scores, true = np.asarray(score, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    matrix = np.asarray(weights, dtype=np.float64)
    if scores.ndim != 2 or true.shape != scores.shape[:1] or matrix.shape[1:] != true.shape:
        raise ValueError(
            "score, truth and weights: expected shapes (cases, classes), (cases,) and (resamples, cases), "
            f"found {scores.shape}, {true.shape} and {matrix.shape}"
        )
    entering = ~np.isnan(true)
    missing = np.isnan(scores[entering]).any(axis=1)
    total, defined = np.zeros(len(matrix)), np.zeros(len(matrix))
    for index, column in enumerate(scores[entering].T):
        positive = true[entering] == index
        worst = np.where(positive, -np.inf, np.inf)
        area = auc(roc_table(np.where(missing, worst, column), positive), matrix[:, entering])
        total += np.nan_to_num(area)
        defined += ~np.isnan(area)
    return ratio_or_nan(total, defined)
