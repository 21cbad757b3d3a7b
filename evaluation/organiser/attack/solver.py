"""Hidden 0/1 labels from sums of known weights over the cases with label 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

FloatArray = NDArray[np.float64]
LabelArray = NDArray[np.int64]

_INFEASIBLE = 2


@dataclass
class Sums:
    """Constraints on n unknown labels: weighted sums of them, each within bounds."""

    size: int
    weights: list[FloatArray] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)

    def add(self, weights: FloatArray, lower: float, upper: float) -> None:
        """Add a sum: weights of shape (n,)."""
        self.weights.append(np.asarray(weights, dtype=np.float64))
        self.lower.append(lower)
        self.upper.append(upper)


def only_labels(sums: Sums, seconds: float) -> LabelArray | None:
    """Return the only labels that fit all sums, shape (n,), by integer programming.

    None where several fit, where none fit, or where the time limit ends the search.
    """
    found = _labels(sums, None, seconds)
    if found is None or _labels(sums, found, seconds) is not False:
        return None
    return found if isinstance(found, np.ndarray) else None


def _labels(sums: Sums, other_than: object, seconds: float) -> LabelArray | bool | None:
    """Return labels that fit and differ from the given ones; False if there are none, None if unknown."""
    constraints = [LinearConstraint(np.array(sums.weights), sums.lower, sums.upper)]
    if isinstance(other_than, np.ndarray):
        # At least one label differs: 0-labels that change add 1, 1-labels that stay subtract 1.
        signs = np.where(other_than == 1, -1.0, 1.0)
        constraints.append(LinearConstraint(signs[np.newaxis], 1 - float(other_than.sum()), np.inf))
    elif other_than is not None:
        return None
    solution = milp(
        np.zeros(sums.size),
        integrality=np.ones(sums.size),
        bounds=Bounds(0, 1),
        constraints=constraints,
        options={"time_limit": seconds},
    )
    if solution.status == _INFEASIBLE:
        return False
    return None if solution.x is None else np.round(solution.x).astype(np.int64)


def subsets_of_sum(weights: Sequence[float], lower: float, upper: float, most: int) -> LabelArray:
    """Return the subsets with a sum of weights in lower … upper, as 0/1 rows, by meeting in the middle.

    Shape (subsets, n), at most ``most`` + 1 rows, for up to about 40 weights.
    """
    values = np.asarray(weights, dtype=np.float64)
    half = len(values) // 2
    left, right = _sums_of_subsets(values[:half]), _sums_of_subsets(values[half:])
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    first = np.searchsorted(ordered, lower - left, side="left")
    last = np.searchsorted(ordered, upper - left, side="right")
    found: list[LabelArray] = []
    for subset in np.flatnonzero(last > first).tolist():
        for other in order[first[subset] : last[subset]].tolist():
            found.append(np.concatenate([_members(subset, half), _members(other, len(values) - half)]))
            if len(found) > most:
                return np.array(found)
    return np.array(found, dtype=np.int64).reshape(len(found), len(values))


def _sums_of_subsets(weights: FloatArray) -> FloatArray:
    """Return the sums of all 2^n subsets; bit i of a subset's number says whether weight i is in it."""
    sums = np.zeros(1)
    for weight in weights.tolist():
        sums = np.concatenate([sums, sums + weight])
    return sums


def _members(subset: int, size: int) -> LabelArray:
    return np.array([subset >> position & 1 for position in range(size)], dtype=np.int64)
