"""All kinds of fields and all metrics that can be declared."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Discriminator

from evaluation.challenges.declared import (
    average_precision,
    boxes,
    classes,
    decisions,
    detection_map,
    flags,
    label_overlap,
    label_surfaces,
    landmarks,
    lesion_volumes,
    lesions,
    number,
    panoptic,
    points,
    probabilities,
    probability_map,
    regression,
    scores,
    survival,
)
from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.measure import MetricTable

_MODULES = (
    average_precision,
    boxes,
    classes,
    decisions,
    detection_map,
    flags,
    label_overlap,
    label_surfaces,
    landmarks,
    lesions,
    panoptic,
    lesion_volumes,
    number,
    points,
    probabilities,
    probability_map,
    regression,
    scores,
    survival,
)

FIELDS: tuple[type[FieldTable], ...] = tuple(table for module in _MODULES for table in module.FIELDS)
METRICS: tuple[type[MetricTable], ...] = tuple(table for module in _MODULES for table in module.METRICS)

if TYPE_CHECKING:
    AnyFieldTable = FieldTable
    AnyMetricTable = MetricTable
else:
    AnyFieldTable = Annotated[reduce(or_, FIELDS), Discriminator("kind")]
    AnyMetricTable = Annotated[reduce(or_, METRICS), Discriminator("metric")]


def name_of(table: type[FieldTable] | type[MetricTable]) -> str:
    """Return the name of a kind or a metric in a declaration."""
    discriminator: Any = table.model_fields["kind" if issubclass(table, FieldTable) else "metric"].annotation
    name: str = discriminator.__args__[0]
    return name
