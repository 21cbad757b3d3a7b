"""The results of many teams in one phase, ready for ranking."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Challenge, Composite, Options, Task, metrics_of
from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.phase.scores import RecordedColumns

VARIANT_OF = "variant_of"
"""The column of a table of teams that names the original of a variant."""


class RankingError(PhaseError):
    """Raised where results cannot be ranked; lists every problem."""


@dataclass(frozen=True)
class Submission:
    """One submission's metrics by name ("task.metric") and its case tables by task, if available.

    ``absence``: why a submission has no metrics.
    """

    team: str
    name: str
    values: Mapping[str, float]
    tables: Mapping[str, CaseTable] | None = None
    absence: str | None = None


@dataclass(frozen=True)
class PhaseResults:
    """All submissions of one phase, sorted by team and in their order.

    ``compare_with``: the opponents of each team of ``ineligible`` that has any. ``variants``: the original
    team by the variant's name; variants are not eligible.
    """

    challenge: Challenge
    options: Options
    tasks: tuple[Task, ...]
    phase: str
    manifest: str
    submissions: tuple[Submission, ...]
    ineligible: frozenset[str]
    cases: RecordedColumns | None
    resampling: Resampling | None
    compare_with: Mapping[str, Sequence[str]] = field(default_factory=dict)
    variants: Mapping[str, str] = field(default_factory=dict)

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics of the phase by name."""
        return metrics_of(self.tasks)

    @property
    def figures(self) -> dict[str, Metric | Composite]:
        """Metrics and composites by name: everything that can be ranked."""
        return {**self.metrics, **{composite.name: composite for composite in self.challenge.composites}}


def variant_faults(variants: Mapping[str, str], teams: Collection[str]) -> list[str]:
    """Return the faults of variants: an original that is unknown or a variant itself."""
    return [
        f"{VARIANT_OF}: {team!r}, of which {variant!r} is a variant, "
        + ("is a variant itself" if team in variants else "is not a team")
        for variant, team in variants.items()
        if team in variants or team not in teams
    ]
