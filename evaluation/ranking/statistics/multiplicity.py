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
) -> list[tuple[int, ...]] | None:
    """Return tiers of teams, best first; None where a test that decides about them could not be computed.

    teams: in the order of their ranks. The best team not yet placed opens a tier; the next ones join until
    the first that differs significantly from the opener.
    """
    tiers: list[list[int]] = []
    for team in teams:
        answer = differs(tiers[-1][0], team) if tiers else True
        if answer is None:
            return None
        if answer:
            tiers.append([team])
        else:
            tiers[-1].append(team)
    return [tuple(tier) for tier in tiers]
