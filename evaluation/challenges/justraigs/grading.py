"""Monitors the graders of JustRAIGS: agreed labels, and each grader's accuracy against limits.

Every grader is compared with the final labels. By default a grader with a sensitivity below 80 % or a
specificity below 95 % is flagged, and all images of this grader are graded again (challenge design document,
annotation of the test cases, c).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from evaluation.challenges.justraigs.agreed_labels import agreed_labels, counting_graders, final_label
from evaluation.challenges.justraigs.graders import GRADERS, Eye
from evaluation.challenges.justraigs.rules import FEATURES, NOT_REFERABLE, REFERABLE
from evaluation.io.kinds.flags import Flags
from evaluation.metrics.agreement import Agreement, cohen_kappa, fleiss_kappa

SPECIALIST = 2
"""Position of the specialist among the graders of an eye."""


@dataclass(frozen=True, slots=True)
class GraderLimits:
    """The lowest sensitivity and specificity that a grader may have, each from 0 to 1."""

    sensitivity: Fraction
    specificity: Fraction


ENTRY_EXAM = GraderLimits(sensitivity=Fraction(85, 100), specificity=Fraction(92, 100))
MONITORING = GraderLimits(sensitivity=Fraction(80, 100), specificity=Fraction(95, 100))


@dataclass(frozen=True, slots=True)
class AgreedEye:
    """The reference of one eye: final label, its deciding grader, and the agreed features."""

    name: str
    final: str
    decided_by: str
    features: Flags | None


@dataclass(frozen=True, slots=True)
class Grading:
    """One grader's label of one eye, and the final label of that eye.

    It is ``decisive`` if it alone is the final label: a specialist's label if the others disagree.
    """

    eye: str
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
        """Return whether sensitivity or specificity is below its limit, compared in integers.

        Without eyes of a class, its limit does not apply.
        """
        return _below(self.found, self.referable, limits.sensitivity) or _below(
            self.cleared, self.not_referable, limits.specificity
        )


def agreed_eye(eye: Eye, specialist_alone: bool = False) -> AgreedEye:
    """Return the final label of an eye and, where it is referable, the features that its graders agree on."""
    first, second, specialist = eye.graded.labels
    final = final_label(first, second, specialist)
    counting = counting_graders(eye.graded.labels, specialist_alone)
    features = agreed_labels([eye.graded.features[grader] for grader in counting])
    decided_by = "both graders" if first == second else "specialist"
    return AgreedEye(eye.name, final, decided_by, features if final == REFERABLE else None)


def is_unexpected(eye: Eye) -> bool:
    """Return whether a specialist graded an eye although both first graders agree; the design has none."""
    first, second, specialist = eye.graded.labels
    return bool(specialist) and first == second


def gradings_of(eyes: Sequence[Eye]) -> list[Grading]:
    """Return all gradings, eye by eye."""
    return list(chain.from_iterable(map(_gradings, eyes)))


def _gradings(eye: Eye) -> Iterator[Grading]:
    labels = eye.graded.labels
    final = final_label(*labels)
    for position, (name, label) in enumerate(zip(eye.graders, labels, strict=True)):
        if label:
            decisive = position == SPECIALIST and labels[0] != labels[1]
            yield Grading(eye.name, name, label, final, decisive)


def figures_of(gradings: Iterable[Grading]) -> list[GraderFigures]:
    """Return the figures of every grader, sorted by name."""
    by_grader: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    decided: Counter[str] = Counter()
    for grading in gradings:
        by_grader[grading.grader][grading.final, grading.label] += 1
        decided[grading.grader] += grading.decisive
    return [
        GraderFigures(
            grader,
            counts.total(),
            counts[REFERABLE, REFERABLE],
            sum(count for (final, _), count in counts.items() if final == REFERABLE),
            counts[NOT_REFERABLE, NOT_REFERABLE],
            sum(count for (final, _), count in counts.items() if final == NOT_REFERABLE),
            decided[grader],
        )
        for grader, counts in sorted(by_grader.items())
    ]


def agreement_of(eyes: Sequence[Eye]) -> list[Agreement]:
    """Return the kappas of the two first graders for the main label and for each feature that both graded."""
    pairs: list[tuple[str, list[tuple[object, object]]]] = [
        ("main label", [(eye.graded.labels[0], eye.graded.labels[1]) for eye in eyes])
    ]
    for number, feature in enumerate(FEATURES):
        both = ((eye.graded.features[0][number], eye.graded.features[1][number]) for eye in eyes)
        pairs.append((feature, [pair for pair in both if None not in pair]))
    found = chain.from_iterable(
        (
            Agreement(name, "Cohen's kappa", *GRADERS[:2], len(given), cohen_kappa(*_columns(given))),
            Agreement(name, "Fleiss' kappa", *GRADERS[:2], len(given), fleiss_kappa(given)),
        )
        for name, given in pairs
    )
    return [agreement for agreement in found if agreement.value == agreement.value]


def _columns(pairs: Sequence[tuple[object, object]]) -> tuple[list[object], list[object]]:
    return [first for first, _ in pairs], [second for _, second in pairs]


def _below(part: int, whole: int, limit: Fraction) -> bool:
    return part * limit.denominator < whole * limit.numerator
