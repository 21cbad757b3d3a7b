"""New graders for the images of those who were removed."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.organiser.justraigs_graders import grading, tables

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
    eyes: Sequence[tables.Eye], removed: Collection[str], seed: int = 0, block: int = BLOCK
) -> list[Regrading]:
    """Return the gradings of removed graders with their new graders, sorted by eye and role.

    First graders follow first graders, and specialists follow specialists; nobody grades an eye twice. Eyes
    with the same graders who stay are dealt out in blocks, with one draw of new graders each. Raises
    ValueError for a block below 1.
    """
    pools = [_pool(eyes, (0, 1), removed), _pool(eyes, (grading.SPECIALIST,), removed)]
    groups: dict[tuple[tuple[int, ...], tuple[str, ...]], list[tables.Eye]] = defaultdict(list)
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
                candidates = [name for name in pools[role == grading.SPECIALIST] if name not in taken]
                chosen = candidates[int(rng.integers(len(candidates)))] if candidates else ""
                taken.add(chosen)
                for eye in part:
                    of_role = eye.graders[role], eye.graded.labels[role]
                    found.append(Regrading(eye.name, role, *of_role, eye.final, chosen))
    return sorted(found, key=lambda regrading: (regrading.eye, regrading.role))


def _pool(eyes: Sequence[tables.Eye], roles: Collection[int], removed: Collection[str]) -> list[str]:
    """Return the graders who have one of the roles in any eye and stay, sorted."""
    return sorted({eye.graders[role] for eye in eyes for role in eye.roles if role in roles} - set(removed))
