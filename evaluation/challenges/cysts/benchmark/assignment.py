"""Assign two complementary annotators to every part, with balanced workloads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from evaluation.challenges.cysts.benchmark.accuracy import Accuracy
from evaluation.challenges.cysts.benchmark.distinction import CONFIDENCES

Pair = tuple[str, str]


def assign(accuracies: Mapping[str, Accuracy], parts: int) -> tuple[Pair, ...]:
    """Return a pair of annotators for every part.

    The numbers of parts per annotator differ by one at most. Of these assignments the one with the highest
    sum of `complementarity` is chosen; of equal ones, the first in the order of `pairs`. With three
    annotators and three parts, every pair has one part. Raises `ValueError` for fewer than two annotators.
    """
    candidates = pairs(tuple(accuracies))
    if not candidates:
        raise ValueError(f"annotators: expected at least 2, found {len(accuracies)}")
    gains = [complementarity(accuracies[first], accuracies[second]) for first, second in candidates]
    fewest, rest = divmod(2 * parts, len(accuracies))
    best_left = [max(gains[position:]) for position in range(len(gains))]
    load = dict.fromkeys(accuracies, 0)
    chosen: list[int] = []
    best: tuple[float, tuple[int, ...]] = (-math.inf, ())

    def search(first: int) -> None:
        """Try every multiset of pairs, in order, that can still become balanced and the best."""
        nonlocal best
        left = parts - len(chosen)
        if not left:
            # Exact sums, so that equal sums of different terms are ties.
            value = math.fsum(gains[position] for position in chosen)
            if value > best[0] and sum(count > fewest for count in load.values()) == rest:
                best = (value, tuple(chosen))
            return
        missing = sum(max(0, fewest - count) for count in load.values())
        if missing > 2 * left:
            return
        for position in range(first, len(candidates)):
            bound = math.fsum([*(gains[i] for i in chosen), left * best_left[position]])
            if bound <= best[0]:
                return
            one, other = candidates[position]
            if max(load[one], load[other]) < fewest + (rest > 0):
                load[one], load[other] = load[one] + 1, load[other] + 1
                chosen.append(position)
                search(position)
                chosen.pop()
                load[one], load[other] = load[one] - 1, load[other] - 1

    search(0)
    return tuple(candidates[position] for position in best[1])


def complementarity(first: Accuracy, second: Accuracy) -> float:
    """Return the sum over the confidences of the better accuracy of two annotators."""
    return math.fsum(max(first.weight(c), second.weight(c)) for c in CONFIDENCES)


def pairs(annotators: Sequence[str]) -> tuple[Pair, ...]:
    """Return all pairs: first neighbours in the circle of annotators, then annotators two apart, and so on.

    Three annotators give 1+2, 2+3 and 1+3, the order in the cyst benchmark.
    """
    count = len(annotators)
    found: dict[Pair, None] = {}
    for gap in range(1, count // 2 + 1):
        for start in range(count):
            first, second = sorted((start, (start + gap) % count))
            found[annotators[first], annotators[second]] = None
    return tuple(found)
