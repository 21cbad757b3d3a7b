"""Where several annotators or submissions disagree most, case by case: whom to ask again."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from evaluation.annotators.comparison import LeftOut, amounts, categories, counting, measures
from evaluation.core.field import Kind
from evaluation.io.kinds.number import Number

_SIMILARITIES, _OVERLAP = (" Dice", " F1", "IoU", "with the same class"), "1 − "


@dataclass(frozen=True)
class CaseDisagreement:
    """How far the values of one case differ in one measure; 0 is complete agreement.

    ``mean`` and ``largest`` are over pairs; ``farthest`` has the largest mean distance to the others (several
    names: equal ones). ``votes``: the decision of each, where there is one.
    """

    field: str
    measure: str
    case: str
    values: int
    mean: float
    largest: float
    farthest: str
    votes: str = ""


@dataclass
class Disagreements:
    """Collects the disagreement of every case; values are not kept."""

    found: list[CaseDisagreement] = field(default_factory=list)

    def add(
        self,
        case: str,
        name: str,
        kind: Kind,
        values: Mapping[str, Any],
        left_out: LeftOut | None = None,
    ) -> None:
        """Add the values of one case and field by annotator; regions that are left out do not count."""
        without = left_out or {}
        pairs: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
        for first, second in combinations(sorted(values), 2):
            of_pair = distances(kind, values[first], values[second])
            for measure, distance in counting(
                of_pair, *(_measures_of(without.get(one, ())) for one in (first, second))
            ).items():
                if not math.isnan(distance):
                    pairs[measure][first, second] = distance
        for measure, of_pairs in pairs.items():
            involved = sorted({one for pair in of_pairs for one in pair})
            self.found.append(
                CaseDisagreement(
                    name,
                    measure,
                    case,
                    len(involved),
                    math.fsum(of_pairs.values()) / len(of_pairs),
                    max(of_pairs.values()),
                    " ".join(_farthest(involved, of_pairs)),
                    _votes(kind, measure, {one: values[one] for one in involved}),
                )
            )

    def ordered(self) -> list[CaseDisagreement]:
        """Return the cases of every measure, the most disputed first, without cases of complete agreement."""
        disputed = (one for one in self.found if one.largest > 0)
        return sorted(disputed, key=lambda one: (one.field, one.measure, -one.mean, -one.largest, one.case))


def distances(kind: Kind, first: Any, second: Any) -> dict[str, float]:
    """Return the distances of two values of one case, by measure; 0 where they agree, NaN where undefined.

    Masks: 1 − Dice of every region, and 1 where only one of them has the region. Boxes: 1 − each of their
    similarities. Points: the distance in pixels. Numbers: the absolute difference. Labels, presence and
    visibility: 1 where they differ.
    """
    found = {
        f"{_OVERLAP}{name}" if name.endswith(_SIMILARITIES) else name: (
            1 - value if name.endswith(_SIMILARITIES) else value
        )
        for name, value in measures(kind, first, second).items()
    }
    one, other = categories(kind, first), categories(kind, second)
    found |= {_decision(name): float(one[name] != other[name]) for name in one}
    if isinstance(kind, Number):
        found["difference"] = abs(amounts(kind, first)[""] - amounts(kind, second)[""])
    return found


def _measures_of(regions: Collection[str]) -> list[str]:
    return [prefix + region for region in regions for prefix in ("", _OVERLAP)]


def _decision(name: str) -> str:
    return name or "label"


def _farthest(involved: Sequence[str], distances_of: Mapping[tuple[str, str], float]) -> Collection[str]:
    """Return the names with the largest mean distance to the others; none where all agree."""

    def mean(name: str) -> float:
        own = [distance for pair, distance in distances_of.items() if name in pair]
        return math.fsum(own) / len(own)

    means = {name: mean(name) for name in involved}
    largest = max(means.values())
    return [name for name in involved if means[name] == largest] if 0 < largest != min(means.values()) else []


def _votes(kind: Kind, measure: str, values: Mapping[str, Any]) -> str:
    return "; ".join(_groups(kind, measure, values))


def _groups(kind: Kind, measure: str, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield every decision with the names of its annotators, the most frequent first."""
    by_decision: dict[str, list[str]] = defaultdict(list)
    for name in sorted(values):
        for decision, value in categories(kind, values[name]).items():
            if _decision(decision) == measure:
                by_decision[str(int(value)) if isinstance(value, bool) else str(value)].append(name)
    for decision, names in sorted(by_decision.items(), key=lambda item: (-len(item[1]), item[0])):
        yield f"{decision}: {' '.join(names)}"
