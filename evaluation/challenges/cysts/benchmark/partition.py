"""Parts of a data set that are small copies of the whole: by vendor, then by the quality of the pathology."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low

import numpy as np

QUALITIES = ("low", "medium", "high")


@dataclass(frozen=True, slots=True, order=True)
class Stratum:
    """A vendor and a quality; volumes are drawn within it."""

    vendor: str
    quality: str


def median_quality(ranks: Sequence[str]) -> str:
    """Return the median of annotators' ranks "low", "medium" or "high"; of an even number the lower one.

    Raises `ValueError` for another rank or none at all.
    """
    unknown = [rank for rank in ranks if rank not in QUALITIES]
    if unknown or not ranks:
        raise ValueError(
            f"expected ranks {', '.join(QUALITIES)}, found {', '.join(map(repr, unknown)) or 'none'}"
        )
    return QUALITIES[median_low(QUALITIES.index(rank) for rank in ranks)]


def partition(strata: Mapping[str, Stratum], parts: int, seed: int) -> dict[str, int]:
    """Return for every volume, by name, the part (from 0 on) into which it is drawn.

    The volumes of each stratum are shuffled and dealt to the parts like cards, without a new start between
    strata. So the parts' numbers of volumes differ by at most one, in the whole, for every vendor and for
    every stratum, and a part lacks a stratum only where there are fewer volumes than parts. The same names
    and seed give the same parts, in whatever order they come. Raises `ValueError` for no part at all.
    """
    if parts < 1:
        raise ValueError(f"parts: expected at least 1, found {parts}")
    rng = np.random.Generator(np.random.PCG64(seed))
    members: dict[Stratum, list[str]] = defaultdict(list)
    for name in sorted(strata):
        members[strata[name]].append(name)
    dealt = [name for stratum in sorted(members) for name in rng.permutation(members[stratum]).tolist()]
    order = rng.permutation(parts).tolist()
    return {name: order[position % parts] for position, name in enumerate(dealt)}
