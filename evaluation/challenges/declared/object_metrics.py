"""Metrics of listed objects by any rule for hits: F1, precision, recall, free-response ROC."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from evaluation.challenges.declared.detections import (
    RATES,
    Detections,
    Rate,
    Share,
    froc_measure,
    share_measure,
)
from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.list_field import ObjectFieldTable
from evaluation.challenges.declared.measure import Measure, MetricTable
from evaluation.challenges.declared.table import key


class ObjectMetric(MetricTable):
    """A metric of the hits, false predictions and missed objects of all cases."""

    @abstractmethod
    def detections(self, field_name: str, table: FieldTable) -> Detections:
        """Return how hits follow from objects. Raises ValueError for options that do not fit the field."""


class ShareOfObjects(ObjectMetric):
    """F1, precision or recall of the sums."""

    share: ClassVar[Share]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the figure over all classes, and of each."""
        return share_measure(name, self.title_of(name), self.share, self.detections(field_name, table))


class FrocOfObjects(ObjectMetric):
    """Sensitivities of the free-response ROC curve."""

    false_positives_per_case: list[Rate] = key(
        "At which numbers of false positives per case the sensitivity is read.", RATES, min_length=1
    )

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the mean and the sensitivity at each rate. Raises ValueError without probabilities."""
        assert isinstance(table, ObjectFieldTable)
        if not table.probability:
            raise ValueError(f"expected probability = true in field {field_name!r}")
        detections = self.detections(field_name, table)
        return froc_measure(name, self.title or "FROC score", self.false_positives_per_case, detections)
