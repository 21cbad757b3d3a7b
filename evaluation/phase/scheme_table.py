"""A ranking scheme as tables of a TOML file."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Literal

from pydantic import model_validator

from evaluation.core.keys import Key, KeyTable, Weight
from evaluation.core.scheme import Board, Method, MethodName, Place, Rank, Scheme, Score, Term, Ties


class TermTable(KeyTable, strict=False):
    """A term of a leaderboard: the rank of a metric, or the place or score of an earlier leaderboard."""

    rank: str | None = Key(default=None, description='The metric that is ranked, as `"task.metric"`.')
    place: str | None = Key(default=None, description="The earlier leaderboard whose place counts.")
    score: str | None = Key(default=None, description="The earlier leaderboard whose score counts.")
    weight: Weight = Key(default=Decimal(1), description="Weight of the term in a sum.")

    @model_validator(mode="after")
    def _one_kind(self) -> TermTable:
        if sum(kind is not None for kind in (self.rank, self.place, self.score)) != 1:
            raise ValueError("expected one of rank, place and score")
        return self

    def term(self) -> Term:
        """Return the term."""
        weight = Fraction(self.weight)
        if self.rank is not None:
            return Rank(self.rank, weight)
        if self.place is not None:
            return Place(self.place, weight)
        assert self.score is not None
        return Score(self.score, weight)


class BoardTable(KeyTable, strict=False):
    """A leaderboard: lower sums are better."""

    name: str = Key(description="Name of the leaderboard.")
    terms: list[TermTable] = Key(description='What is added, for example `{ rank = "task.metric" }`.')
    ties: list[TermTable] = Key(default=[], description="What decides between teams of one score, in order.")
    combination: Literal["sum", "mean", "median"] = Key(
        default="sum", description="How the terms become the score."
    )

    def board(self) -> Board:
        """Return the leaderboard."""
        terms, ties = (tuple(term.term() for term in table) for table in (self.terms, self.ties))
        return Board(self.name, terms, ties, self.combination)


class MethodTable(KeyTable, strict=False):
    """How the values of the cases become the ranks of a metric, see `docs/rank-teams.md`."""

    name: MethodName = Key(default="mean-then-rank", description="The method.")
    quantile: float = Key(default=0.05, description="Quantile of `quantile-then-rank`.")
    alpha: float = Key(default=0.05, description="Level of the tests of `test-then-rank`.")
    adjust: Literal["holm", "none"] = Key(default="holm", description="Adjustment of these tests.")


class SchemeTable(KeyTable, strict=False):
    """The ranking of a challenge: leaderboards, of which one may decide."""

    boards: list[BoardTable] = Key(description="The leaderboards, each built from metrics and earlier ones.")
    overall: str | None = Key(default=None, description="The leaderboard that decides. Default: none.")
    phases: dict[str, Weight] = Key(
        default={}, description="Weight of the overall place in each phase, if several decide."
    )
    phase_ties: dict[str, str] = Key(
        default={},
        description="The leaderboard whose place in a phase breaks ties of the final ranking over `phases`, "
        "by phase, in order.",
    )
    complete_only: bool = Key(
        default=False, description="Whether teams that lack one of the metrics have no place at all."
    )
    method: MethodTable = Key(default=MethodTable(), description="How cases become ranks.")
    ties: Ties = Key(default="min", description="Which place teams of one score share.")

    def scheme(self) -> Scheme:
        """Return the scheme; weights are the exact decimals. Raises ValueError for an invalid one."""
        return Scheme(
            boards=tuple(board.board() for board in self.boards),
            overall=self.overall,
            phases={role: Fraction(weight) for role, weight in self.phases.items()},
            phase_ties=self.phase_ties,
            complete_only=self.complete_only,
            method=Method(**self.method.model_dump()),
            ties=self.ties,
        )
