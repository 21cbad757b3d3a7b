"""Divide a data set into parts with the same mix of vendors and qualities."""

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
    """Return the median of the annotators' ratings "low", "medium" or "high", the lower one of two.

    Raises `ValueError` for another rating and without any.
    """
    unknown = [rank for rank in ranks if rank not in QUALITIES]
    if unknown or not ranks:
        raise ValueError(
            f"expected ranks {', '.join(QUALITIES)}, found {', '.join(map(repr, unknown)) or 'none'}"
        )
    return QUALITIES[median_low(QUALITIES.index(rank) for rank in ranks)]


def partition(strata: Mapping[str, Stratum], parts: int, seed: int) -> dict[str, int]:
    """Return the part of every volume by name, counted from 0.

    The volumes of each stratum are shuffled and dealt to the parts in turn; the next stratum continues with
    the next part. So the sizes of the parts differ by at most one in total, for every vendor and for every
    stratum. A stratum is missing from a part only if it has fewer volumes than there are parts. The result
    does not depend on the order of the names. Raises `ValueError` for fewer than one part.
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
