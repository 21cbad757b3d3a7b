"""One bootstrap of the cases for metrics of different strata, so that shared cases are drawn once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import FloatArray
from evaluation.core.metric import Strata
from evaluation.core.resampling import Resampling, Units
from evaluation.metrics.bootstrap import bootstrap_weights

_MOST_DRAWS = 20  # for each resample that is wanted


def joint_weights(strata: Strata, units: Units | None, resampling: Resampling) -> Iterator[FloatArray]:
    """Yield blocks of case weights under which every metric exists, (rows, cases), ``resamples`` rows in all.

    strata: shape (metrics, cases), −1 where a case does not enter a metric. units: shape (cases,), the
    cluster of every case; None where cases are independent. Units in the same strata of all metrics are
    resampled among themselves. Combinations of strata with fewer units than the phase asks for in a stratum
    are resampled together, and a draw that leaves a stratum empty is repeated. There are fewer rows only if
    nearly all draws leave a stratum empty.
    """
    unit_of_case = np.arange(strata.shape[1]) if units is None else np.unique(units, return_inverse=True)[1]
    combination = _combinations(strata, unit_of_case.reshape(-1), resampling.interval_minimum)
    present = np.concatenate(
        [row == stratum for row in strata for stratum in np.unique(row[row >= 0])[:, np.newaxis]]
    ).reshape(-1, strata.shape[1])
    wanted = resampling.resamples
    for block in bootstrap_weights(combination, units, resampling.seed, wanted * _MOST_DRAWS):
        complete = (block @ present.T.astype(np.float64) > 0).all(axis=1)
        rows = block[complete][:wanted]
        wanted -= len(rows)
        yield rows
        if not wanted:
            return


def _combinations(strata: Strata, unit_of_case: NDArray[np.intp], minimum: int) -> Strata:
    """Return for every case the number of its unit's combination of strata, small ones together."""
    kind_of_case = np.unique(strata, axis=1, return_inverse=True)[1].reshape(-1)
    has = np.zeros((int(unit_of_case.max(initial=-1)) + 1, int(kind_of_case.max(initial=-1)) + 1), np.bool_)
    has[unit_of_case, kind_of_case] = True
    # Units that enter no metric at all are not drawn.
    entering = np.zeros(len(has), dtype=np.bool_)
    entering[unit_of_case[(strata >= 0).any(axis=0)]] = True
    combination = np.unique(has, axis=0, return_inverse=True)[1].reshape(-1)
    small = np.bincount(combination)[combination] < minimum
    combination = np.where(small, combination.max(initial=-1) + 1, combination)
    # Numbered as they occur, so that the order of the metrics does not matter.
    _, first, number = np.unique(combination, return_index=True, return_inverse=True)
    in_order = np.argsort(np.argsort(first))[number]
    return np.where(entering, in_order, -1)[unit_of_case]
