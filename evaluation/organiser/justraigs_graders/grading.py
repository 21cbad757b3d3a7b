"""Monitors the graders of JustRAIGS: each one's accuracy against limits, and new graders in place of some."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from evaluation.challenges.justraigs.rules import FEATURES, NOT_REFERABLE, REFERABLE
from evaluation.metrics.confusion import cohen_kappa, fleiss_kappa
from evaluation.organiser.annotators.agreement import AgreementFigure
from evaluation.organiser.justraigs_graders.tables import GRADERS, Eye
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


@dataclass(frozen=True, slots=True)
class Grading:
    """One grader's label of one eye, and the final label of that eye.

    It is ``decisive`` if it alone is the final label: a specialist's label if the others disagree.
    """

    grader: str
    label: str
    final: str
    decisive: bool = False


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


def gradings_of(eyes: Sequence[Eye]) -> Iterator[Grading]:
    """Yield all gradings, eye by eye."""
    for eye in eyes:
        labels = eye.graded.labels
        for role in eye.roles:
            decisive = role == SPECIALIST and labels[0] != labels[1]
            yield Grading(eye.graders[role], labels[role], eye.final, decisive)


def figures_of(gradings: Iterable[Grading]) -> list[GraderFigures]:
    """Return the figures of every grader, sorted by name."""
    by_grader: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    decided: Counter[str] = Counter()
    for grading in gradings:
        by_grader[grading.grader][grading.final, grading.label] += 1
        decided[grading.grader] += grading.decisive
    found = []
    for grader, counts in sorted(by_grader.items()):
        referable, not_referable = (
            (counts[label, label], sum(count for (final, _), count in counts.items() if final == label))
            for label in (REFERABLE, NOT_REFERABLE)
        )
        found.append(GraderFigures(grader, counts.total(), *referable, *not_referable, decided[grader]))
    return found


def agreement_of(eyes: Sequence[Eye]) -> list[AgreementFigure]:
    """Return the kappas of the two first graders for the main label and for each feature that both graded."""
    pairs: dict[str, list[Sequence[Hashable]]] = {"main label": [eye.graded.labels[:2] for eye in eyes]}
    for number, feature in enumerate(FEATURES):
        both = ([flags[number] for flags in eye.graded.features[:2]] for eye in eyes)
        pairs[feature] = [pair for pair in both if None not in pair]
    found = []
    for name, given in pairs.items():
        first, second = ([pair[position] for pair in given] for position in (0, 1))
        kappas = (("Cohen's kappa", cohen_kappa(first, second)), ("Fleiss' kappa", fleiss_kappa(given)))
        for measure, kappa in kappas:
            if not math.isnan(kappa):
                found.append(AgreementFigure(name, measure, *GRADERS[:2], len(given), kappa))
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


# --- New graders for the images of those who were removed ---

BLOCK = 200
"""The number of images per pair of graders, as in the design document."""


@dataclass(frozen=True, slots=True)
class Regrading:
    """One grading to repeat: the former grader, the label, and the new grader.

    ``role`` is the grader's position in the eye, from 0 on. ``new_grader`` is empty if nobody is left.
    """

    eye: str
    role: int
    grader: str
    label: str
    final: str
    new_grader: str


def redistribute(
    eyes: Sequence[Eye], removed: Collection[str], seed: int = 0, block: int = BLOCK
) -> list[Regrading]:
    """Return the gradings of removed graders with their new graders, sorted by eye and role.

    First graders follow first graders, and specialists follow specialists; nobody grades an eye twice. Eyes
    with the same graders who stay are dealt out in blocks, with one draw of new graders each. Raises
    ValueError for a block below 1.
    """
    pools = [_pool(eyes, (0, 1), removed), _pool(eyes, (SPECIALIST,), removed)]
    groups: dict[tuple[tuple[int, ...], tuple[str, ...]], list[Eye]] = defaultdict(list)
    for eye in sorted(eyes, key=lambda eye: eye.name):
        roles = tuple(role for role in eye.roles if eye.graders[role] in removed)
        if roles:
            others = sorted(eye.graders[role] for role in eye.roles if role not in roles)
            groups[roles, tuple(others)].append(eye)
    if block < 1:
        raise ValueError(f"block: expected at least 1, found {block}")
    rng = np.random.Generator(np.random.PCG64(seed))
    found = []
    for (roles, staying), members in sorted(groups.items(), key=lambda item: item[0]):
        for part in (members[start : start + block] for start in range(0, len(members), block)):
            taken = set(staying)
            for role in roles:
                candidates = [name for name in pools[role == SPECIALIST] if name not in taken]
                chosen = candidates[int(rng.integers(len(candidates)))] if candidates else ""
                taken.add(chosen)
                for eye in part:
                    of_role = eye.graders[role], eye.graded.labels[role]
                    found.append(Regrading(eye.name, role, *of_role, eye.final, chosen))
    return sorted(found, key=lambda regrading: (regrading.eye, regrading.role))


def _pool(eyes: Sequence[Eye], roles: Collection[int], removed: Collection[str]) -> list[str]:
    """Return the graders who have one of the roles in any eye and stay, sorted."""
    return sorted({eye.graders[role] for eye in eyes for role in eye.roles if role in roles} - set(removed))
