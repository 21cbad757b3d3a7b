"""Panoptic quality and its parts by hand, computed once for all of them."""

import numpy as np
import pytest

from evaluation.challenges.declared.lesions import (
    PanopticQuality,
    RecognitionQuality,
    SegmentationQuality,
)
from evaluation.challenges.declared.maps import LabelMapField
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics import lesions
from evaluation.metrics.crops import VolumeCrop

FIELD = LabelMapField(kind="label_map", labels={"1": "core", "2": "rim"}, dimensions=2)
# A lesion of four pixels of which three are found, one that is missed, and one that is false.
REFERENCE = np.array([[[1, 1, 1, 1, 0, 1, 0, 0, 0]]], np.uint8)
PREDICTION = np.array([[[0, 1, 1, 1, 0, 0, 0, 1, 0]]], np.uint8)


@pytest.fixture
def computed(monkeypatch):
    """Count how often the objects of a label are found."""
    found, find = [], lesions.find_lesions
    monkeypatch.setattr(lesions, "find_lesions", lambda *masks: found.append(masks) or find(*masks))
    return found


def comparison():
    predicted, true = (
        LabelMapValue(VolumeCrop(image, (0, 0, 0)), image.shape, None) for image in (PREDICTION, REFERENCE)
    )
    return FieldComparison("map", predicted, {"map": true})


def test_three_figures_of_two_labels_are_two_computations(computed):
    tables = (
        PanopticQuality(metric="panoptic_quality"),
        SegmentationQuality(metric="segmentation_quality"),
        RecognitionQuality(metric="recognition_quality"),
    )
    case, row = comparison(), {}
    for table in tables:
        row |= table.measure(table.metric, "map", FIELD).row(case)
    # One of two lesions on each side matches: 2·1 / 4. Its intersection over union is 3 / 4.
    assert row["recognition_quality_core"] == pytest.approx(1 / 2)
    assert row["segmentation_quality_core"] == pytest.approx(3 / 4)
    assert row["panoptic_quality_core"] == pytest.approx(3 / 8)
    # Neither map has the other label.
    assert [row[f"{table.metric}_rim"] for table in tables] == [1, 1, 1]
    assert len(computed) == 2


def test_other_neighbours_are_another_computation(computed):
    case = comparison()
    for neighbours in ("all", "faces"):
        table = PanopticQuality(metric="panoptic_quality", neighbours=neighbours, labels=["core"])
        table.measure("panoptic_quality", "map", FIELD).row(case)
    assert len(computed) == 2
