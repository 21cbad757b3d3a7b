"""Metrics: what an estimator of per-case columns is called, its range and its direction."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.estimator import Estimator, Mean
from evaluation.stats import figure

FixedIntervals = Callable[[CaseTable, int, NDArray[np.int64] | None], dict[str, figure.Figure]]


@dataclass(frozen=True)
class Metric:
    """One figure of a task; ``best`` and ``worst`` bound it, and their order says which way is better.

    ``worst`` may be infinite (a distance). ``no_interval``: why there is no confidence interval;
    ``fixed_intervals`` returns further intervals by name, from the cases, the seed of the phase and the unit
    of each case, None where cases are independent.
    ``ordered`` is false if the value alone does not separate good submissions from useless ones (a spread, a
    difference, a number of false objects), or if it compares with another reference than the task's.
    ``unit`` is empty for a plain number. ``reached`` is false if no submission need have the best value, as
    a case has several references, or counts less where it has no object. ``structures``: those regions of
    ``field`` that it measures, taken as one; empty if it measures something else. If the reference leaves
    nothing to average, the metric does not exist: its value is NaN and it is omitted from all output.
    """

    name: str
    title: str
    estimator: Estimator
    best: float
    worst: float
    fixed_intervals: FixedIntervals | None = None
    no_interval: str | None = None
    ordered: bool = True
    unit: str = ""
    reached: bool = True
    field: str = ""
    structures: tuple[str, ...] = ()

    @property
    def better(self) -> Literal["higher", "lower"]:
        """Which direction is better."""
        return "higher" if self.best > self.worst else "lower"


def mean_metric(
    name: str,
    title: str,
    best: float,
    worst: float,
    *,
    ordered: bool = True,
    unit: str = "",
    field: str = "",
    structures: tuple[str, ...] = (),
) -> Metric:
    """Return the metric that is the mean of the column of its own name."""
    return Metric(
        name,
        title,
        Mean(name),
        best,
        worst,
        ordered=ordered,
        unit=unit,
        field=field,
        structures=structures,
    )
