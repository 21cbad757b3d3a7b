"""Lesions of two masks as connected components: which are found, which are false, how well they fit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lesions:
    """Components of a predicted and a reference mask, and the pairs that overlap.

    prediction_voxels, reference_voxels: size of each component. pair_prediction, pair_reference: indices of
    the components of each overlapping pair; pair_voxels: voxels that both have; all of shape (pairs,).
    """

    prediction_voxels: Integers
    reference_voxels: Integers
    pair_prediction: Integers
    pair_reference: Integers
    pair_voxels: Integers

    @property
    def iou(self) -> Floats:
        """Intersection over union of each pair, in (0, 1]."""
        union = (
            self.prediction_voxels[self.pair_prediction]
            + self.reference_voxels[self.pair_reference]
            - self.pair_voxels
        )
        ratio: Floats = self.pair_voxels / union
        return ratio

    @property
    def detected(self) -> int:
        """Number of reference components that the prediction touches."""
        return len(np.unique(self.pair_reference))

    @property
    def hits(self) -> int:
        """Number of predicted components that touch a reference component."""
        return len(np.unique(self.pair_prediction))

    @property
    def false(self) -> int:
        """Number of predicted components that touch no reference component."""
        return len(self.prediction_voxels) - self.hits


@dataclass(frozen=True, slots=True)
class PanopticQuality:
    """Panoptic quality, the product of recognition (F1 of pairs with IoU > ½) and segmentation (mean IoU).

    Each in [0, 1], higher is better. ``segmentation`` is 0 where no pair matches.
    """

    panoptic: float
    segmentation: float
    recognition: float


def lesions(prediction: Bools, reference: Bools, diagonal_neighbours: bool = True) -> Lesions:
    """Return the connected components of two masks of one shape and how they overlap.

    prediction, reference: boolean, shape (z, y, x) or (y, x). With ``diagonal_neighbours`` 26 (8) neighbours
    join, otherwise the 6 (4) that share a face. Raises ValueError where the shapes differ.
    """
    from scipy import ndimage  # 0.3 s that only few challenges need

    if prediction.shape != reference.shape:
        raise ValueError(f"prediction: expected shape {reference.shape}, found {prediction.shape}")
    structure = ndimage.generate_binary_structure(
        prediction.ndim, prediction.ndim if diagonal_neighbours else 1
    )
    (predicted, predictions), (true, references) = (
        ndimage.label(mask, structure=structure) for mask in (prediction, reference)
    )
    both = np.flatnonzero(prediction & reference)
    pairs, voxels = np.unique(
        (predicted.reshape(-1)[both].astype(np.int64) - 1) * references + true.reshape(-1)[both] - 1,
        return_counts=True,
    )
    of_prediction, of_reference = np.divmod(pairs, max(1, references))
    return Lesions(
        np.bincount(predicted[prediction], minlength=predictions + 1)[1:],
        np.bincount(true[reference], minlength=references + 1)[1:],
        of_prediction,
        of_reference,
        voxels,
    )


def lesion_f1(found: Lesions) -> float:
    """F1 of touched components, in [0, 1]; 1 where neither mask has one.

    Recall is the share of reference components that are touched, precision that of predicted ones.
    """
    references, predictions = len(found.reference_voxels), len(found.prediction_voxels)
    if not references or not predictions:
        return 1.0 if references == predictions else 0.0
    recall, precision = found.detected / references, found.hits / predictions
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def panoptic_quality(found: Lesions) -> PanopticQuality:
    """Return the panoptic quality of the components; all 1 where neither mask has one.

    A pair matches where its IoU is above ½, which no component can be in two of.
    Source: Kirillov et al. 2019, CVPR, p. 9396.
    """
    references, predictions = len(found.reference_voxels), len(found.prediction_voxels)
    if not references and not predictions:
        return PanopticQuality(1.0, 1.0, 1.0)
    matched = found.iou[found.iou > 0.5]
    segmentation = math.fsum(matched) / len(matched) if len(matched) else 0.0
    recognition = 2 * len(matched) / (references + predictions)
    return PanopticQuality(segmentation * recognition, segmentation, recognition)


def false_positive_voxels(found: Lesions) -> int:
    """Return the voxels of the predicted components that touch no reference component."""
    return int(np.delete(found.prediction_voxels, found.pair_prediction).sum())


def false_negative_voxels(found: Lesions) -> int:
    """Return the voxels of the reference components that no predicted component touches."""
    return int(np.delete(found.reference_voxels, found.pair_reference).sum())
