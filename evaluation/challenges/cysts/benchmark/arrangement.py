"""Which pair of annotators gets which part: as few B-scans as possible for the busiest annotator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from evaluation.challenges.cysts.benchmark.assignment import Pair

MOST_TRIED = 200_000
"""The number of arrangements, complete or begun, after which the search takes the best one so far."""


def arrange(pairs: Sequence[Pair], b_scans: Sequence[int]) -> tuple[Pair, ...]:
    """Return the pairs in the order of the parts, so that the busiest annotator has the fewest B-scans.

    ``b_scans``: of every part. The given order is kept where no other is better; of several better ones, the
    first is returned, in the pairs' order, part by part. Beyond ten parts or so, the search ends after
    200,000 trials with the best so far.
    """
    order = tuple(dict.fromkeys(pairs))
    left = Counter(pairs)
    load = dict.fromkeys((annotator for pair in pairs for annotator in pair), 0)
    best, least = tuple(pairs), max(loads(pairs, b_scans).values(), default=0)
    chosen: list[Pair] = []
    tried = 0

    def search() -> None:
        """Try the remaining pairs at the next part, wherever that can still be better."""
        nonlocal best, least, tried
        if len(chosen) == len(pairs):
            best, least = tuple(chosen), max(load.values(), default=0)
            return
        more = b_scans[len(chosen)]
        for pair in order:
            tried += 1
            busiest = max(load[annotator] for annotator in pair) + more
            if tried > MOST_TRIED or not left[pair] or max(busiest, *load.values()) >= least:
                continue
            chosen.append(pair)
            left[pair] -= 1
            for annotator in pair:
                load[annotator] += more
            search()
            for annotator in pair:
                load[annotator] -= more
            left[pair] += 1
            chosen.pop()

    search()
    return best


def loads(pairs: Sequence[Pair], b_scans: Sequence[int]) -> Mapping[str, int]:
    """Return the number of B-scans of every annotator in the pairs' order."""
    found: Counter[str] = Counter()
    for pair, number in zip(pairs, b_scans, strict=True):
        for annotator in pair:
            found[annotator] += number
    return found
