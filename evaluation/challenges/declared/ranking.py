"""The declared ranking and the declared composites."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pydantic import model_validator

from evaluation.challenges.declared.table import DeclaredTable, key, title_of
from evaluation.core.challenge import Composite
from evaluation.core.metric import Metric
from evaluation.core.scheme import Board, Method, MethodName, Rank, Scheme, Ties
from evaluation.phase.scheme_table import BoardTable, Weight


class RankingTable(DeclaredTable):
    """How teams are ranked: by the mean of their ranks in some metrics, or by leaderboards of one's own."""

    metrics: list[str] = key(
        'The metrics that are ranked, as `"task.metric"`; a team\'s score is the mean of its ranks. Default: '
        "those of the boards, or else the first metric of every task.",
        [],
    )
    weights: dict[str, Weight] = key("Weights of these ranks by metric. Default: 1 each.", {}, strict=False)
    boards: list[BoardTable] = key("Leaderboards in place of `metrics`.", [], strict=False)
    overall: str | None = key("The board that decides. Default: the last.", None)
    method: MethodName = key(
        "How the values of the cases become the ranks of a metric. `mean-then-rank` ranks the metric itself; "
        "`rank-then-mean` ranks the teams in every case and then the mean of these ranks.",
        "mean-then-rank",
    )
    ties: Ties = key("Which place teams of one score share.", "min")
    score: str | None = key(
        "The metric or composite that is the score on the platform's leaderboard. Default: the first metric.",
        None,
    )

    @model_validator(mode="after")
    def _metrics_or_boards(self) -> RankingTable:
        if self.boards and (self.metrics or self.weights):
            raise ValueError("expected metrics with weights, or boards, found both")
        if self.overall is not None and not self.boards:
            raise ValueError("overall: expected boards")
        if unknown := [name for name in self.weights if name not in self.metrics]:
            raise ValueError(f"weights: {', '.join(unknown)} is not among the metrics")
        return self

    def scheme(self, default: tuple[str, ...]) -> Scheme:
        """Return the scheme; ``default`` are the metrics where the table has none. Raises ValueError."""
        boards = tuple(board.board() for board in self.boards)
        if not boards:
            names = self.metrics or default
            weights = [Fraction(self.weights.get(name, 1)) for name in names]
            terms = tuple(Rank(name, weight) for name, weight in zip(names, weights, strict=True))
            boards = (Board("overall", terms, combination="sum" if self.weights else "mean"),)
        overall = self.overall or boards[-1].name
        return Scheme(boards, overall, method=Method(self.method), ties=self.ties)


class CompositeTable(DeclaredTable):
    """One figure that is the weighted sum of several metrics."""

    title: str | None = key("Title for people. Default: the name in words.", None)
    weights: dict[str, float] = key('Weight of each metric by `"task.metric"`.', min_length=1)
    constant: float = key("What is added to the sum.", 0.0)

    def composite(self, name: str, metrics: Mapping[str, Metric]) -> Composite:
        """Return the composite. Raises ValueError where its best and worst values are not finite."""
        names, weights = tuple(self.weights), tuple(self.weights.values())
        best, worst = (
            self.constant + sum(weight * value for weight, value in zip(weights, values, strict=True))
            for values in (
                [metrics[metric].best for metric in names],
                [metrics[metric].worst for metric in names],
            )
        )

        def combine(*values: float) -> float:
            return self.constant + sum(weight * value for weight, value in zip(weights, values, strict=True))

        return Composite(name, self.title or title_of(name), names, combine, best, worst)

    def problems(self, metrics: Mapping[str, Metric]) -> list[str]:
        """Return faults of the weights: unknown metrics, and those that pull in both directions."""
        unknown = [name for name in self.weights if name not in metrics]
        if unknown:
            return [f"{name!r} is not a metric of this phase" for name in unknown]
        directions: set[Any] = {
            (weight > 0) == (metrics[name].better == "higher")
            for name, weight in self.weights.items()
            if weight
        }
        if len(directions) != 1:
            return ["expected weights under which one direction is better for all metrics"]
        return []
