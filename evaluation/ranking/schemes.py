"""Which scheme ranks a challenge, and the platform's own three."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, get_args

from evaluation.model.challenge import Challenge, Options
from evaluation.model.scheme import Board, Place, Rank, Scheme, Score

PlatformMethod = Literal["absolute", "mean", "median"]
PLATFORM_METHODS: tuple[PlatformMethod, ...] = get_args(PlatformMethod)

_LESIONS = ("drusen", "exudate", "hemorrhage", "scar", "other")


def _detection_and_segmentation(name: str, prefix: str) -> Board:
    return Board(name, (Rank(f"{prefix}f1", Fraction("0.4")), Rank(f"{prefix}dice", Fraction("0.6"))))


ADAM = Scheme(
    boards=(
        Board("classification", (Rank("classification.auc"),)),
        _detection_and_segmentation("disc", "disc."),
        Board("fovea", (Rank("fovea.distance"),)),
        *(_detection_and_segmentation(lesion, f"lesions.{lesion}_") for lesion in _LESIONS),
        Board("lesions", tuple(Score(lesion) for lesion in _LESIONS)),
        Board(
            "overall",
            (
                Place("classification", Fraction("0.3")),
                Place("disc", Fraction("0.1")),
                Place("fovea", Fraction("0.1")),
                Place("lesions", Fraction("0.5")),
            ),
            ties=(Place("classification"),),
        ),
    ),
    overall="overall",
    phases={"online": Fraction("0.3"), "onsite": Fraction("0.7")},
)

JUSTRAIGS = Scheme(
    boards=(
        Board("referral", (Rank("referral.sensitivity_at_95_specificity"),)),
        Board("justification", (Rank("justification.hamming_distance"),)),
        Board("overall", (Place("referral"), Place("justification"))),
    ),
    overall="overall",
)

EDD2020 = Scheme(
    boards=(
        Board("detection", (Rank("detection.score"),), ties=(Rank("detection.score_deviation"),)),
        Board("segmentation", (Rank("segmentation.score"),), ties=(Rank("segmentation.score_deviation"),)),
        Board(
            "generalisation",
            (Rank("generalisation.map"), Rank("generalisation.deviation")),
            ties=(Rank("generalisation.map"),),
            combination="mean",
        ),
    ),
)

CYSTS = Scheme(
    boards=(
        Board(
            "overall",
            (Rank("segmentation.confidence_weighted_dice"),),
            ties=(Rank("segmentation.detection_ratio"), Rank("segmentation.false_components")),
        ),
    ),
    overall="overall",
)

_OF_CHALLENGES = {"adam": ADAM, "justraigs": JUSTRAIGS, "edd2020": EDD2020, "cysts": CYSTS}


def scheme_of(challenge: Challenge, options: Options) -> Scheme:
    """Return the ranking scheme of a challenge under a phase's options."""
    if challenge.ranking is not None:
        return challenge.ranking(options)
    return _OF_CHALLENGES.get(challenge.name) or platform_scheme("mean", challenge.components)


def platform_scheme(method: PlatformMethod, metrics: Sequence[str]) -> Scheme:
    """Return a ranking as the platform itself computes it.

    metrics: the score and then the further columns that are ranked. "absolute" ranks the score, "mean" and
    "median" the mean and median of all ranks. Whatever the method, the platform ranks no submission that
    lacks one of the metrics.
    """
    if method == "absolute":
        # Weight 0: of no influence, but needed.
        terms = tuple(Rank(metric, Fraction(position == 0)) for position, metric in enumerate(metrics))
        return Scheme((Board("overall", terms),), overall="overall", complete_only=True)
    board = Board("overall", tuple(Rank(metric) for metric in metrics), combination=method)
    return Scheme((board,), overall="overall", complete_only=True)
