"""The rules for the figures of a rehearsal, the same for every challenge."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluation.core.variant import Variant

SHUFFLED = "shuffled"
"""Perfect predictions, each of another case of the same size."""
MISSING = "missing"
"""No prediction at all."""
HALF_MISSING = {variant: f"{variant}, half missing" for variant in Variant}
"""Every second prediction of a variant is missing."""

_TOLERANCE = 1e-9

Figures = Mapping[str, float]

# (at least as good, not better). Empty and shuffled are compared with perfect only: an empty prediction is
# right for metrics of false alarms, and a shuffled one if cases are alike.
_ORDER = (
    (Variant.PERFECT, Variant.NEAR),
    (Variant.PERFECT, Variant.EMPTY),
    (Variant.PERFECT, Variant.INVERTED),
    (Variant.PERFECT, SHUFFLED),
    (Variant.NEAR, Variant.INVERTED),
    # Missing is never better than present. Shuffled predictions are exempt: they may have more false objects
    # than a case has true ones.
    *((variant, MISSING) for variant in Variant),
    *((variant, HALF_MISSING[variant]) for variant in Variant),
)


@dataclass(frozen=True)
class Scale:
    """The bounds of a metric or composite, and whether a better value means a better submission."""

    best: float
    worst: float
    ordered: bool = True


def problems_of(name: str, scale: Scale, figures: Figures) -> Iterator[str]:
    """Yield the rules that a metric's figures (by submission) break; none if no case enters the metric.

    A submission that could not be derived has no figure.
    """
    perfect = figures.get(Variant.PERFECT, math.nan)
    if math.isnan(perfect):
        return
    present = {submission: value for submission, value in figures.items() if not math.isnan(value)}
    for submission in [other for other in figures if other not in present]:
        yield f"{name}: exists for the perfect submission and not for the {submission} one"
    low, high = sorted((scale.best, scale.worst))
    for submission, value in present.items():
        if not low - _TOLERANCE <= value <= high + _TOLERANCE:
            yield f"{name}: the {submission} submission gets {value:.6g}, outside {low:.6g} to {high:.6g}"
    if not scale.ordered:
        return
    better_is = "higher" if scale.best > scale.worst else "lower"
    sign = 1.0 if better_is == "higher" else -1.0
    if abs(perfect - scale.best) > _TOLERANCE:
        yield f"{name}: the perfect submission gets {perfect:.6g}, not the best value {scale.best:.6g}"
    for better, worse in _ORDER:
        if better in present and worse in present and sign * (present[worse] - present[better]) > _TOLERANCE:
            yield (
                f"{name}: the {worse} submission gets {present[worse]:.6g} and beats the {better} one with "
                f"{present[better]:.6g}, though {better_is} is better"
            )
    if MISSING in present and abs(present[MISSING] - perfect) <= _TOLERANCE:
        yield f"{name}: the missing submission gets the same as the perfect one, {perfect:.6g}"
