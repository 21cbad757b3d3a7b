"""The metric that RARE25 has of its own."""

import numpy as np


def ppv_at_recall(prediction, reference, *, recall):
    """Precision at the highest threshold that has the recall, of all cases; NaN without a positive one."""
    positive = np.sort(prediction[reference == 1])[::-1]
    if not len(positive):
        return np.nan
    threshold = positive[int(np.ceil(recall * len(positive) - 1e-9)) - 1]
    return np.mean(reference[prediction >= threshold])
