"""Many tests at once: Holm's correction, and tiers of teams that differ significantly."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's adjusted p-values in the order given; those that are None stay so but are counted.

    A test that could not be computed counts as one of the family, which can only make the others larger.
    Source: Holm 1979, Scand. J. Stat. 6:65.
    """
    adjusted: list[float | None] = [None] * len(p_values)
    smallest = 0.0
    computed = sorted((p, position) for position, p in enumerate(p_values) if p is not None)
    for done, (p, position) in enumerate(computed):
        smallest = max(smallest, min(1.0, p * (len(p_values) - done)))
        adjusted[position] = smallest
    return adjusted


def significance_tiers(
    teams: Sequence[int], differs: Callable[[int, int], bool | None]
) -> list[tuple[int, ...]]:
    """Return tiers of teams, best first.

    teams: in the order of their ranks. The best team not yet placed opens a tier; the next ones join until
    the first that differs significantly from the opener, or where this could not be tested (None).
    """
    tiers: list[tuple[int, ...]] = []
    waiting = list(teams)
    while waiting:
        opener, others = waiting[0], waiting[1:]
        joined = next(
            (count for count, team in enumerate(others) if differs(opener, team) is not False), len(others)
        )
        tiers.append((opener, *others[:joined]))
        waiting = others[joined:]
    return tiers
