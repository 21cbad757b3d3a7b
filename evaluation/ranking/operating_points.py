"""Every team's operating point. For organisers only, since its counts and its threshold reveal labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.core.challenge import Task
from evaluation.ranking.resampling import TeamCases


@dataclass(frozen=True)
class TeamOperatingPoint:
    """A team's highest sensitivity at a specificity of at least ``specificity_at_least``.

    ``threshold`` is infinite where no finite one has that specificity.
    """

    task: str
    team: str
    specificity_at_least: float
    threshold: float
    sensitivity: float
    specificity: float
    false_positive_rate: float
    true_positives: int
    false_negatives: int
    false_positives: int
    true_negatives: int


def operating_points(tasks: Sequence[Task], cases: TeamCases) -> tuple[TeamOperatingPoint, ...]:
    """Return the operating points of every task that has one, teams in the order of ``cases``."""
    found = []
    for task in tasks:
        rule = task.operating_point
        if rule is None:
            continue
        for team, table in cases.task_tables(task.name).items():
            point = rule.point(table)
            if point is not None:
                found.append(
                    TeamOperatingPoint(
                        task.name,
                        cases.teams[team],
                        float(rule.specificity),
                        point.threshold,
                        point.sensitivity,
                        point.specificity,
                        point.false_positives / (point.false_positives + point.true_negatives),
                        point.true_positives,
                        point.false_negatives,
                        point.false_positives,
                        point.true_negatives,
                    )
                )
    return tuple(found)
