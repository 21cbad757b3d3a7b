"""Lesions, the connected components of a label: which are found, and which are false."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Literal

from evaluation.challenges.declared.label_map import LabelFigure, LabelMapField
from evaluation.challenges.declared.lesion_table import LabelLesions, LesionTable, ShareTable, most_lesions
from evaluation.challenges.declared.table import key
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.lesions import Lesions, lesion_f1


class DetectedLesions(ShareTable):
    """Share of the reference's lesions that the prediction touches; lesions are connected components.

    From 0 to 1, higher is better, for each label and as mean over labels. A case whose reference has no
    lesion does not enter. A case without a result counts as 0.

    Oracle: SimpleITK, `ConnectedComponent`.
    """

    metric: Literal["detected_lesions"]

    def value(self, label: LabelLesions) -> float:
        """Return the share, NaN without lesions."""
        references = len(label.found.reference_voxels)
        return label.found.detected / references if references else math.nan

    def worst_value(self, reference: LabelMapValue, position: int) -> float:
        """Return 0, NaN without lesions."""
        return 0.0 if (reference.positions == position).any() else math.nan


class LesionF1(ShareTable):
    """F1 of lesions: harmonic mean of the shares of reference and of predicted lesions that touch another.

    From 0 to 1, higher is better, for each label and as mean over labels; 1 where neither map has a lesion,
    0 where only one has. A case without a result counts as 0.

    Oracle: SimpleITK, `ConnectedComponent`.
    """

    metric: Literal["lesion_f1"]

    def value(self, label: LabelLesions) -> float:
        """Return the F1."""
        return lesion_f1(label.found)


class _NumberTable(LesionTable):
    """A number of lesions; if no worst is stated, a case without a result has the most that fit its image."""

    worst: float | None = key(
        "Number for a case without a result, which no other case exceeds. Default: as many lesions as fit "
        "into the case's image.",
        None,
        gt=0,
        allow_inf_nan=False,
    )

    def figure(self, table: LabelMapField) -> LabelFigure:
        """Return a number."""
        return LabelFigure(best=0, worst=math.inf)

    def value(self, label: LabelLesions) -> float:
        """Return the number, at most the worst one."""
        number = self.number(label.found)
        return number if self.worst is None else min(number, self.worst)

    @abstractmethod
    def number(self, found: Lesions) -> float:
        """Return the number of lesions."""

    def worst_value(self, reference: LabelMapValue, position: int) -> float:
        """Return the stated worst, or the most that fit."""
        return most_lesions(reference.shape, self.neighbours) if self.worst is None else self.worst


class FalseLesions(_NumberTable):
    """Number of predicted lesions that touch no lesion of the reference.

    At least 0, lower is better, for each label and as mean over labels: the mean number in a case. A case
    without a result counts as `worst`.

    Oracle: SimpleITK, `ConnectedComponent`.
    """

    metric: Literal["false_lesions"]

    def number(self, found: Lesions) -> float:
        """Return the number of false lesions."""
        return float(found.false)


class LesionCountDifference(_NumberTable):
    """Absolute difference of the numbers of predicted lesions and of the reference's lesions.

    At least 0, lower is better, for each label and as mean over labels. A case without a result counts as
    `worst`.

    Oracle: SimpleITK, `ConnectedComponent`.
    """

    metric: Literal["lesion_count_difference"]

    def number(self, found: Lesions) -> float:
        """Return the difference."""
        return float(abs(len(found.prediction_voxels) - len(found.reference_voxels)))
