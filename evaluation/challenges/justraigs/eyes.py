"""Synthetic eyes of JustRAIGS: persons, three graders who disagree, and predicted features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.justraigs.agreed_labels import agreed_labels, counting_graders
from evaluation.challenges.justraigs.graders import MAIN_LABELS
from evaluation.challenges.justraigs.rules import FEATURES, NOT_REFERABLE, REFERABLE, UNGRADABLE
from evaluation.io.kinds.flags import Flags

# How often a grader chooses RG, NRG and U for an eye, by its true label.
_CONFUSION = {REFERABLE: (0.85, 0.14, 0.01), NOT_REFERABLE: (0.04, 0.95, 0.01), UNGRADABLE: (0.03, 0.17, 0.8)}
_PREVALENCE = (0.7, 0.75, 0.3, 0.4, 0.25, 0.3, 0.3, 0.1, 0.35, 0.6)
_GRADER_FEATURE_ERROR = 0.2
_SHARE_OF_FELLOWS = 0.8


@dataclass(frozen=True)
class Eyes:
    """All eyes of a sample; arrays are (eyes,), (eyes, grader) and (eyes, grader, feature)."""

    names: tuple[str, ...]
    fellows: tuple[str, ...]
    ages: NDArray[np.int64]
    final: NDArray[np.str_]
    labels: NDArray[np.str_]
    true_features: NDArray[np.bool_]
    graded_features: NDArray[np.bool_]

    def agreed(self, position: int) -> Flags:
        """Return the agreed features of a referable eye."""
        counting = counting_graders(self.labels[position].tolist())
        return agreed_labels([self.graded_features[position, grader].tolist() for grader in counting])


def draw_eyes(count: int, referable_share: float, ungradable_share: float, rng: np.random.Generator) -> Eyes:
    """Draw the eyes: first the final labels, then graders' labels that lead to them.

    Raises ValueError unless there are referable and not referable eyes.
    """
    referable, ungradable = round(referable_share * count), round(ungradable_share * count)
    if not 0 < referable <= count - ungradable - 1 or ungradable < 0:
        raise ValueError(f"referable and ungradable: expected eyes of both classes among {count}")
    rest = count - referable - ungradable
    final = rng.permutation(np.repeat([REFERABLE, UNGRADABLE, NOT_REFERABLE], [referable, ungradable, rest]))
    labels = np.full((count, 3), "", dtype="<U3")
    for label, shares in _CONFUSION.items():
        members = np.flatnonzero(final == label)
        labels[members, :2] = rng.choice(MAIN_LABELS, p=shares, size=(members.size, 2))
    both_wrong = (labels[:, 0] == labels[:, 1]) & (labels[:, 0] != final)
    labels[both_wrong, 1] = final[both_wrong]
    disagree = labels[:, 0] != labels[:, 1]
    labels[disagree, 2] = final[disagree]
    true_features = rng.random((count, len(FEATURES))) < _PREVALENCE
    wrong = rng.random((count, 3, len(FEATURES))) < _GRADER_FEATURE_ERROR
    return Eyes(
        names := tuple(f"J{number:05d}" for number in rng.permutation(np.arange(1, count + 1)).tolist()),
        _fellows(names, rng),
        rng.integers(35, 90, count),
        final,
        labels,
        true_features,
        true_features[:, np.newaxis] ^ wrong,
    )


def _fellows(names: tuple[str, ...], rng: np.random.Generator) -> tuple[str, ...]:
    """Return the fellow eye of every eye, empty where there is none."""
    fellows = [""] * len(names)
    order = rng.permutation(len(names))[: round(_SHARE_OF_FELLOWS * len(names)) // 2 * 2].tolist()
    for left, right in zip(order[::2], order[1::2], strict=True):
        fellows[left], fellows[right] = names[right], names[left]
    return tuple(fellows)


def predicted_features(eyes: Eyes, error: float, rng: np.random.Generator) -> list[Flags]:
    """Return features that differ from the agreed ones (or the true ones, if not agreed) at a given rate."""
    wrong = rng.random(eyes.true_features.shape) < error
    flags: list[Flags] = []
    for position, eye_errors in enumerate(wrong):
        agreed = eyes.agreed(position)
        true = eyes.true_features[position].tolist()
        flags.append(
            tuple(
                bool((fallback if label is None else label) ^ flip)
                for label, fallback, flip in zip(agreed, true, eye_errors.tolist(), strict=True)
            )
        )
    return flags
