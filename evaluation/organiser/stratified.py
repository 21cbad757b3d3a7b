"""Stratified draw of a random part of the cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

Stratum = tuple[str, ...]


def apportion(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Divide a total among groups in proportion to their sizes.

    Exact parts are rounded up for the largest remainders, of equal ones the first, else down (Hamilton's
    method). total: at most the sum of the sizes. Empty without groups.
    """
    exact = {name: Fraction(total * size, sum(sizes.values())) for name, size in sizes.items() if size}
    parts = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: parts[name] - exact[name])
    for name in by_remainder[: total - sum(parts.values())]:
        parts[name] += 1
    return dict.fromkeys(sizes, 0) | parts


def draw_part(strata: Sequence[Stratum], share: Fraction, seed: int) -> list[int]:
    """Return the positions of the drawn cases, ascending: their share of all, rounded half up.

    strata: for each case its values, equally many. The first value gets its share exactly, see `apportion`;
    within it the second, and so on. Within a stratum, all sets of cases have equal chances. The draw depends
    on the strata, the order of the cases, the share and the seed alone.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    total = int((2 * share * len(strata) + 1) // 2)
    return sorted(_draw(range(len(strata)), strata, 0, total, rng))


def _draw(
    positions: Sequence[int], strata: Sequence[Stratum], depth: int, total: int, rng: np.random.Generator
) -> list[int]:
    """Return a number of positions with strata that have the same values before a depth."""
    if not positions or depth == len(strata[positions[0]]):
        drawn: list[int] = rng.permutation(np.array(positions, dtype=np.int64))[:total].tolist()
        return drawn
    groups: dict[str, list[int]] = {value: [] for value in sorted({strata[i][depth] for i in positions})}
    for position in positions:
        groups[strata[position][depth]].append(position)
    parts = apportion({value: len(members) for value, members in groups.items()}, total)
    return [
        position
        for value, members in groups.items()
        for position in _draw(members, strata, depth + 1, parts[value], rng)
    ]
