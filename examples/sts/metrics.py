"""The metric that STS has of its own."""

import numpy as np


def instance_iou(prediction, reference, *, threshold):
    """Mean IoU over the true teeth, each with the best tooth that is free; 0 below the threshold."""
    teeth, sizes = np.unique(reference[reference > 0], return_counts=True)
    made, areas = np.unique(prediction[prediction > 0], return_counts=True)
    if not len(teeth):
        return np.nan
    pairs = []
    for row, tooth in enumerate(teeth):
        common = np.array([np.count_nonzero(prediction[reference == tooth] == other) for other in made])
        pairs += [(one / (sizes[row] + areas[of] - one), row, of) for of, one in enumerate(common)]
    total, taken = 0.0, (set(), set())
    for iou, row, of in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if iou >= threshold and row not in taken[0] and of not in taken[1]:
            total += iou
            taken[0].add(row), taken[1].add(of)
    return total / len(teeth)
