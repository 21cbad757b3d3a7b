"""Monitors the graders of JustRAIGS: agreed labels, each grader's accuracy, and the images to grade again.

Every grader is compared with the final labels. A grader with a sensitivity below 80 % or a specificity below
95 % is flagged, and all images of this grader are graded again (challenge design document, annotation of the
test cases).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from evaluation.challenges.justraigs.agreed_labels import agreed_labels, counting_graders, final_label
from evaluation.challenges.justraigs.graders import GRADERS, Eye
from evaluation.challenges.justraigs.rules import FEATURES, NOT_REFERABLE, REFERABLE
from evaluation.io.kinds.flags import Flags
from evaluation.metrics.agreement import Agreement, cohen_kappa, fleiss_kappa

MIN_SENSITIVITY, MIN_SPECIFICITY = Fraction(80, 100), Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class AgreedEye:
    """The reference of one eye: final label, who decided it, and the agreed features."""

    name: str
    final: str
    decided_by: str
    features: Flags | None


@dataclass(frozen=True, slots=True)
class Grading:
    """One grader's label of one eye, and the final label of that eye."""

    eye: str
    grader: str
    label: str
    final: str


@dataclass(frozen=True)
class GraderFigures:
    """One grader against the final labels.

    ``found`` is the number of ``referable`` eyes that the grader called referable, ``cleared`` that of the
    ``not_referable`` eyes called not referable. Any other label, also ungradable, is wrong. Eyes whose final
    label is ungradable do not count.
    """

    grader: str
    eyes: int
    found: int
    referable: int
    cleared: int
    not_referable: int

    @property
    def flagged(self) -> bool:
        """Whether sensitivity or specificity is below its limit, compared in integers."""
        return _below(self.found, self.referable, MIN_SENSITIVITY) or _below(
            self.cleared, self.not_referable, MIN_SPECIFICITY
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
    return [
        Grading(eye.name, name, label, final_label(*eye.graded.labels))
        for eye in eyes
        for name, label in zip(eye.graders, eye.graded.labels, strict=True)
        if label
    ]


def figures_of(gradings: Iterable[Grading]) -> list[GraderFigures]:
    """Return the figures of every grader, sorted by name."""
    by_grader: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for grading in gradings:
        by_grader[grading.grader][grading.final, grading.label] += 1
    return [
        GraderFigures(
            grader,
            counts.total(),
            counts[REFERABLE, REFERABLE],
            sum(count for (final, _), count in counts.items() if final == REFERABLE),
            counts[NOT_REFERABLE, NOT_REFERABLE],
            sum(count for (final, _), count in counts.items() if final == NOT_REFERABLE),
        )
        for grader, counts in sorted(by_grader.items())
    ]


def to_regrade(gradings: Iterable[Grading], figures: Iterable[GraderFigures]) -> list[Grading]:
    """Return all gradings of the flagged graders, sorted by eye."""
    flagged = {grader.grader for grader in figures if grader.flagged}
    chosen = [grading for grading in gradings if grading.grader in flagged]
    return sorted(chosen, key=lambda grading: (grading.eye, grading.grader))


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
