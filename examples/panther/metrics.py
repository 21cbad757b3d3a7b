"""The metric that PANTHER has of its own."""

import numpy as np


def tumour_burden(prediction, reference, *, spacing_mm):
    """Difference of the volumes of the tumour in ml."""
    voxels = np.count_nonzero(prediction == 1) - np.count_nonzero(reference == 1)
    return voxels * np.prod(spacing_mm) / 1000
