"""Panoptic quality of lesions, and its two factors."""

from __future__ import annotations

from typing import Literal

from evaluation.challenges.declared.lesion_table import LabelLesions, ShareTable


class PanopticQuality(ShareTable):
    """Panoptic quality of lesions: recognition quality times segmentation quality.

    From 0 to 1, higher is better, for each label and as mean over labels. Lesions match where their
    intersection is more than half of their union. 1 where neither map has a lesion, 0 where nothing matches.
    A case without a result counts as 0.

    Oracle: SimpleITK, `ConnectedComponent` and `LabelOverlapMeasuresImageFilter`. Source: Kirillov et
    al., CVPR 2019.
    """

    metric: Literal["panoptic_quality"]

    def value(self, label: LabelLesions) -> float:
        """Return the quality."""
        return label.panoptic.panoptic


class SegmentationQuality(ShareTable):
    """Segmentation quality: mean intersection over union of the lesions that match, part of panoptic quality.

    From 0 to 1, higher is better, for each label and as mean over labels. Lesions match where their
    intersection is more than half of their union. 1 where neither map has a lesion, 0 where nothing matches.
    A case without a result counts as 0.

    Oracle: SimpleITK, `ConnectedComponent` and `LabelOverlapMeasuresImageFilter`. Source: Kirillov et
    al., CVPR 2019.
    """

    metric: Literal["segmentation_quality"]

    def value(self, label: LabelLesions) -> float:
        """Return the quality."""
        return label.panoptic.segmentation


class RecognitionQuality(ShareTable):
    """Recognition quality: F1 of the lesions that match, part of panoptic quality.

    From 0 to 1, higher is better, for each label and as mean over labels. Lesions match where their
    intersection is more than half of their union. 1 where neither map has a lesion, 0 where nothing matches.
    A case without a result counts as 0.

    Oracle: SimpleITK, `ConnectedComponent` and `LabelOverlapMeasuresImageFilter`. Source: Kirillov et
    al., CVPR 2019.
    """

    metric: Literal["recognition_quality"]

    def value(self, label: LabelLesions) -> float:
        """Return the quality."""
        return label.panoptic.recognition
