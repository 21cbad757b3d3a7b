"""Monitors the graders of JustRAIGS: each one's accuracy against limits."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from evaluation.challenges.justraigs.rules import NOT_REFERABLE, REFERABLE
from evaluation.organiser.justraigs_graders.tables import Eye
from evaluation.stats.intervals import wilson_interval

SPECIALIST = 2
"""Position of the specialist among the graders of an eye."""


@dataclass(frozen=True, slots=True)
class GraderLimits:
    """The lowest sensitivity and specificity that a grader may have, each from 0 to 1."""

    sensitivity: Fraction
    specificity: Fraction


MONITORING = GraderLimits(sensitivity=Fraction(80, 100), specificity=Fraction(95, 100))
"""All images of a grader below them are graded again (challenge design document, annotation, c)."""


@dataclass(frozen=True)
class GraderFigures:
    """One grader against the final labels.

    ``found`` of the ``referable`` eyes were called referable, ``cleared`` of the ``not_referable`` eyes not
    referable. Any other label, also ungradable, is wrong. Eyes with the final label ungradable do not count.
    ``self_decided`` of all ``eyes`` have a final label that this grader decided alone, and cannot be wrong
    about.
    """

    grader: str
    eyes: int
    found: int
    referable: int
    cleared: int
    not_referable: int
    self_decided: int = 0

    def is_below(self, limits: GraderLimits) -> bool:
        """Return whether a share is below its limit, compared exactly; a share of no eyes is not."""
        too_few_found = self.found < limits.sensitivity * self.referable
        return too_few_found or self.cleared < limits.specificity * self.not_referable


def figures_of(eyes: Iterable[Eye]) -> list[GraderFigures]:
    """Return the figures of every grader, sorted by name."""
    by_grader: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    decided: Counter[str] = Counter()
    for eye in eyes:
        labels = eye.graded.labels
        for role in eye.roles:
            by_grader[eye.graders[role]][eye.final, labels[role]] += 1
            # A specialist's label alone is the final one if the others disagree.
            decided[eye.graders[role]] += role == SPECIALIST and labels[0] != labels[1]
    found = []
    for grader, counts in sorted(by_grader.items()):
        referable, not_referable = (
            (counts[label, label], sum(count for (final, _), count in counts.items() if final == label))
            for label in (REFERABLE, NOT_REFERABLE)
        )
        found.append(GraderFigures(grader, counts.total(), *referable, *not_referable, decided[grader]))
    return found


# --- The figures of graders as rows of a table: sensitivity and specificity with Wilson's intervals ---

_BOUNDS = ("", "_lower", "_upper")
COLUMNS = (
    *("grader", "eyes", "referable", *(f"sensitivity{bound}" for bound in _BOUNDS)),
    *("not_referable", *(f"specificity{bound}" for bound in _BOUNDS)),
)


def row_of(figures: GraderFigures) -> tuple[object, ...]:
    """Return the cells of `COLUMNS`; a share of no eyes and its interval are NaN."""
    return (
        *(figures.grader, figures.eyes, figures.referable, *_share(figures.found, figures.referable)),
        *(figures.not_referable, *_share(figures.cleared, figures.not_referable)),
    )


def _share(part: int, whole: int) -> tuple[float, float, float]:
    """Return a share and its Wilson interval; NaN where the whole is 0."""
    if not whole:
        return (math.nan,) * 3
    interval = wilson_interval(part, whole)
    return part / whole, interval.lower, interval.upper
