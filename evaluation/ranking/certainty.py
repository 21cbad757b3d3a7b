"""How certain the order of the ranked teams is, by board and by metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.ranking.boards import BoardPlaces
from evaluation.ranking.rank_confidence import rank_confidence_sets, superiority


@dataclass(frozen=True)
class Superiority:
    """The probability that a team is ahead of another in a board, by the paired bootstrap, ties ½.

    ``probabilities``: that the team of the row is ahead of the team of the column, in the order of ``teams``.
    """

    teams: tuple[str, ...]
    probabilities: tuple[tuple[float, ...], ...]


def superiorities(teams: Sequence[str], resampled: Mapping[str, BoardPlaces]) -> dict[str, Superiority]:
    """Return by board the probabilities that a team is ahead of another.

    resampled: the places over the teams by board. Boards with fewer than two placed teams are left out.
    """
    found = {}
    for name, standing in resampled.items():
        placed = np.flatnonzero((standing.places > 0).all(axis=0))
        if placed.size > 1:
            probabilities = superiority(standing.places[:, placed]).tolist()
            found[name] = Superiority(
                tuple(teams[team] for team in placed.tolist()), tuple(map(tuple, probabilities))
            )
    return found


def rank_sets(
    values: Mapping[str, float],
    teams: Sequence[str],
    resampled: NDArray[np.float64],
    better: Literal["higher", "lower"],
) -> dict[str, tuple[int, int]]:
    """Return the simultaneous confidence set of every team's rank in a metric, see `rank_confidence_sets`.

    values: by team. resampled: shape (resamples, teams). Empty with fewer than two teams or resamples, and
    where a value is not finite.
    """
    columns = resampled[:, [teams.index(team) for team in values]]
    estimates = list(values.values())
    if min(columns.shape) < 2 or not (np.isfinite(columns).all() and np.isfinite(estimates).all()):
        return {}
    sets = rank_confidence_sets(estimates, columns, better).tolist()
    return {team: (lowest, highest) for team, (lowest, highest) in zip(values, sets, strict=True)}
