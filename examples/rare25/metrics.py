"""The metric that RARE25 has of its own."""

import numpy as np


def ppv_at_recall(prediction, reference, *, recall):
    """Precision at a recall of all cases, linear between thresholds; NaN without a positive case."""
    order = np.argsort(-prediction)
    hits = np.cumsum(reference[order] == 1)
    if not hits[-1]:
        return np.nan
    last = np.flatnonzero(np.diff(prediction[order], append=-1))  # of the cases at each threshold
    return np.interp(recall, [0, *hits[last] / hits[-1]], [1, *hits[last] / (last + 1)])
