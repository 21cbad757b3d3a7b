"""Columns and metrics of the segmentation task: overlap of all channels pooled, and of each class."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan

import numpy as np

from evaluation.core.case_table import FloatArray, WeightedCases
from evaluation.core.metric import Aggregate, Metric, mean_metric, mean_of, sum_of
from evaluation.metrics.averages import weighted_deviation
from evaluation.metrics.crop import Crop
from evaluation.metrics.overlap import OverlapCounts, f_beta, overlap_of, precision, recall

OVERLAPS = {"precision": "Precision", "recall": "Recall", "f1": "F1 (Dice)", "f2": "F2"}
"""Column and title of the four overlap metrics."""


def multilabel_columns(
    predicted: Sequence[Crop], reference: Sequence[Crop], classes: Sequence[str]
) -> dict[str, float]:
    """Return the columns of one image from its regions, one for each class.

    ``precision``, ``recall``, ``f1`` and ``f2`` pool all channels: 1 if both sides are empty, 0 if one is.
    ``score`` is their mean. ``f1_<class>`` and so on are of one class, NaN if the reference lacks it.
    ``false_<class>`` exists if the reference lacks the class: 1 if it is predicted, else 0.
    """
    overlaps = [overlap_of(*pair) for pair in zip(predicted, reference, strict=True)]
    pooled = OverlapCounts(
        sum(counts.intersection for counts in overlaps),
        sum(counts.prediction for counts in overlaps),
        sum(counts.reference for counts in overlaps),
    )
    row = _overlaps(pooled)
    row["score"] = sum(row.values()) / len(OVERLAPS)
    for name, counts in zip(classes, overlaps, strict=True):
        class_row = _overlaps(counts) if counts.reference else dict.fromkeys(OVERLAPS, nan)
        row |= {f"{figure}_{name}": value for figure, value in class_row.items()}
        row[f"false_{name}"] = nan if counts.reference else float(counts.prediction > 0)
    return row


def worst_multilabel_columns(reference: Sequence[Crop], classes: Sequence[str]) -> dict[str, float]:
    """Return the columns of an image without a result: overlap 0, and false pixels of every absent class."""
    row = dict.fromkeys((*OVERLAPS, "score"), 0.0)
    for name, region in zip(classes, reference, strict=True):
        present = bool(region.values.any())
        row |= {f"{figure}_{name}": 0.0 if present else nan for figure in OVERLAPS}
        row[f"false_{name}"] = nan if present else 1.0
    return row


def multilabel_metrics(classes: Sequence[str]) -> tuple[Metric, ...]:
    """Return the metrics of the segmentation task (Eq. 6), the score first."""
    return (
        Metric("score_s", "Mean of precision, recall, F1 and F2", mean_of("score"), best=1, worst=0),
        Metric(
            "sigma_score_s",
            "Mean of their standard deviations over the images",
            _mean_deviation(),
            best=0,
            worst=0.5,
            ordered=False,
        ),
        *(mean_metric(name, title, best=1, worst=0) for name, title in OVERLAPS.items()),
        *(
            mean_metric(f"{name}_{of}", f"{title} of {of}", best=1, worst=0)
            for of in classes
            for name, title in OVERLAPS.items()
        ),
        *(
            Metric(
                f"images_with_false_{of}",
                f"Images without {of} in which it is predicted",
                sum_of(f"false_{of}"),
                best=0,
                worst=inf,
            )
            for of in classes
        ),
    )


def _mean_deviation() -> Aggregate:
    """Return the mean of the standard deviations of the overlap metrics over the images (ddof = 0)."""

    def values(cases: WeightedCases) -> FloatArray:
        deviations = [weighted_deviation(cases.table[column], cases.weights) for column in OVERLAPS]
        mean: FloatArray = np.mean(deviations, axis=0)
        return mean

    return Aggregate(values, strata=lambda table: np.zeros(len(table), dtype=np.int64))


def _overlaps(counts: OverlapCounts[int]) -> dict[str, float]:
    return {
        "precision": precision(counts, both_empty=1.0),
        "recall": recall(counts, both_empty=1.0),
        "f1": f_beta(counts, 1, both_empty=1.0),
        "f2": f_beta(counts, 2, both_empty=1.0),
    }
