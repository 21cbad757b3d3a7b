"""The metrics of a scheme without composites, and the ones that all ranked teams have per case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.core.metric import Metric
from evaluation.core.scheme import Scheme
from evaluation.ranking.resampling import TeamCases
from evaluation.ranking.results import PhaseResults, Submission


@dataclass(frozen=True)
class SchemeMetrics:
    """The metrics of a phase that a ranking resamples and tests, by name.

    ``cases`` are the results per case of the ``ranked`` teams, in their order.
    """

    results: PhaseResults
    scheme: Scheme
    ranked: Sequence[Submission]
    cases: TeamCases

    def of_scheme(self) -> dict[str, Metric]:
        """Return the metrics that the scheme ranks, including the parts of its composites."""
        metrics = self.results.metrics
        return {name: metrics[name] for name in self._single(self.scheme.metrics)}

    def of_ranked_teams(self) -> dict[str, Metric]:
        """Return the metrics that the scheme ranks and any ranked team has."""
        return {name: metric for name, metric in self.of_scheme().items() if self._is_given(name)}

    def with_intervals(self) -> dict[str, Metric]:
        """Return the metrics of the phase with a bootstrap interval that any ranked team has."""
        return {
            name: metric
            for name, metric in self.results.metrics.items()
            if metric.resampled and self._is_given(name)
        }

    def are_complete(self, names: Sequence[str]) -> bool:
        """Return whether all ranked teams with these metrics or composites also have them per case."""
        for name in self._single(names):
            tables = self.cases.task_tables(name.partition(".")[0])
            if any(
                name in submission.values and position not in tables
                for position, submission in enumerate(self.ranked)
            ):
                return False
        return True

    def _is_given(self, name: str) -> bool:
        return any(name in submission.values for submission in self.ranked)

    def _single(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return names with each composite replaced by its metrics."""
        parts = {composite.name: composite.metrics for composite in self.results.challenge.composites}
        return tuple(dict.fromkeys(single for name in names for single in parts.get(name, (name,))))
