"""Shares of landmarks that are near enough to their references."""

from typing import Annotated, ClassVar, Literal

import numpy as np

from evaluation.challenges.declared import tables
from evaluation.challenges.declared.landmarks import KeypointsField, LandmarkMetric
from evaluation.core.keys import Key
from evaluation.metrics.arrays import Bools, Floats
from evaluation.metrics.points import radial_errors


class SuccessDetectionRate(LandmarkMetric):
    """Of several radii it is the mean of the shares. In a case without a result no landmark is detected.

    Oracle: SciPy, `cdist`.
    """

    metric: Literal["success_detection_rate"]
    radius: tables.Positive | Annotated[list[tables.Positive], Key(min_length=1)] = Key(
        description="The largest distance of a detected landmark, in the field's unit; of several, as "
        "`[4, 8, 16, 32, 64]` (STIR), the figure is the mean of the shares."
    )

    def values(self, found: Floats, true: Floats, worst: float) -> Floats:
        errors = radial_errors(found, true)
        return np.asarray((errors[:, np.newaxis] <= np.atleast_1d(self.radius)).mean(axis=1))


class IdentificationRate(LandmarkMetric):
    """Share of named points that are identified: near their reference, which is the nearest one.

    From 0 to 1, higher is better. A point is identified if its prediction is less than `radius` away and no
    reference of another name that both sides have is nearer. Points that are not predicted are not
    identified; predicted ones that the reference lacks do not count. In a case without a result no point is
    identified.

    Oracle: SciPy, `cdist`. Source: Sekuboyina et al., Medical Image Analysis 73:102166, 2021 (VerSe).
    """

    metric: Literal["identification_rate"]
    radius: tables.Positive = Key(default=20.0, description="In the field's unit; the distance is smaller.")
    kinds: ClassVar[tuple[type[tables.FieldTable], ...]] = (KeypointsField,)

    def values(self, found: Floats, true: Floats, worst: float) -> Floats:
        distances = np.sqrt(((found[:, None] - true) ** 2).sum(axis=2))
        own = np.diagonal(distances)
        # Only of a name that both sides have is the reference point a candidate.
        others = np.where(np.isnan(own), np.inf, np.nan_to_num(distances, nan=np.inf))
        is_own: Bools = (own < self.radius) & (own <= others.min(axis=1))
        return is_own.astype(np.float64)
