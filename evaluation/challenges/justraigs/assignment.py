"""Assignment of graders to images of JustRAIGS: pairs by blocks, and replacements of removed graders.

Graders do not work in fixed pairs: a pair is drawn for each block of 200 images. The images of a grader who
falls below the limits are dealt out to the others (challenge design document, annotation of the test cases c,
and sources of error a). All draws are uniform, and come from a seed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from evaluation.challenges.justraigs.agreed_labels import final_label
from evaluation.challenges.justraigs.graders import Eye
from evaluation.challenges.justraigs.grading import SPECIALIST

Item = TypeVar("Item")

BLOCK = 200
"""The number of images per pair of graders, as in the design document."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The two first graders of one image, drawn for its block; blocks are numbered from 1 on."""

    image: str
    block: int
    graders: tuple[str, str]


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


def assign_pairs(
    images: Sequence[str], graders: Sequence[str], seed: int = 0, block: int = BLOCK
) -> list[Assignment]:
    """Return the graders of each image, in the order of the images: a random pair for each block of them.

    The last block may be smaller. Each pair is drawn independently from all pairs with equal chances. Raises
    ValueError for fewer than two graders, a repeated grader or image, and a block below 1.
    """
    if len(graders) < 2 or len(set(graders)) < len(graders):
        raise ValueError(f"graders: expected two or more different ones, found {len(graders)}")
    if len(set(images)) < len(images):
        raise ValueError("images: expected each once")
    rng = np.random.Generator(np.random.PCG64(seed))
    assignments = []
    for number, members in enumerate(_blocks(images, block), start=1):
        first, second = rng.choice(len(graders), size=2, replace=False).tolist()
        pair = graders[first], graders[second]
        assignments += [Assignment(image, number, pair) for image in members]
    return assignments


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
        roles = tuple(role for role in _roles(eye) if eye.graders[role] in removed)
        if roles:
            others = sorted(eye.graders[role] for role in _roles(eye) if role not in roles)
            groups[roles, tuple(others)].append(eye)
    rng = np.random.Generator(np.random.PCG64(seed))
    found = []
    for (roles, staying), members in sorted(groups.items(), key=lambda item: item[0]):
        for part in _blocks(members, block):
            taken = set(staying)
            for role in roles:
                candidates = [name for name in pools[role == SPECIALIST] if name not in taken]
                chosen = candidates[int(rng.integers(len(candidates)))] if candidates else ""
                taken.add(chosen)
                found += [_regrading(eye, role, chosen) for eye in part]
    return sorted(found, key=lambda regrading: (regrading.eye, regrading.role))


def _regrading(eye: Eye, role: int, new_grader: str) -> Regrading:
    labels = eye.graded.labels
    return Regrading(eye.name, role, eye.graders[role], labels[role], final_label(*labels), new_grader)


def _roles(eye: Eye) -> list[int]:
    """Return the positions of the graders of an eye."""
    return [role for role, label in enumerate(eye.graded.labels) if label]


def _pool(eyes: Sequence[Eye], roles: Collection[int], removed: Collection[str]) -> list[str]:
    """Return the graders who have one of the roles in any eye and stay, sorted."""
    return sorted({eye.graders[role] for eye in eyes for role in _roles(eye) if role in roles} - set(removed))


def _blocks(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    if size < 1:
        raise ValueError(f"block: expected at least 1, found {size}")
    for start in range(0, len(items), size):
        yield items[start : start + size]
