"""A ranking scheme: a few declared steps from the teams' metrics to their places.

    rank a metric → weigh and add → rank again → break ties → combine phases

`evaluation.phase.places` carries them out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from pydantic import ConfigDict, model_validator

from evaluation.core.keys import Key, KeyTable, Weight

Combination = Literal["sum", "mean", "median"]
Ties = Literal["min", "average", "max", "dense"]
MethodName = Literal[
    "mean-then-rank",
    "median-then-rank",
    "quantile-then-rank",
    "rank-then-mean",
    "rank-then-median",
    "test-then-rank",
    "min-max",
]


@dataclass(frozen=True)
class Method:
    """How the values of the cases become the ranks of a metric.

    "mean-then-rank" ranks the metric's own value, the mean if it has one value per case. "min-max" takes that
    value, too, and in place of its rank its distance from the best team's, in parts of that of the worst
    team: 0 to 1, and ½ where all are equal. The other methods apply only to means: the median or a quantile
    over the cases is ranked; teams are ranked in every case, and the mean or median of these ranks is ranked;
    or teams are ranked by the number of teams that they beat in a one-sided signed-rank test. ``quantile``:
    from the worse end. ``alpha``: of the tests. ``adjust``: for the number of tests. Raises ValueError for a
    quantile or level outside [0, 1]. Source: Maier-Hein et al. 2018, Nat. Commun. 9:5217; Wiesenfarth et al.
    2021, Sci. Rep. 11:2369; for "min-max" the ranking of SynthRAD 2025.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    name: MethodName = "mean-then-rank"
    quantile: float = 0.05
    alpha: float = 0.05
    adjust: Literal["holm", "none"] = "holm"

    def __post_init__(self) -> None:
        for name, value in (("quantile", self.quantile), ("alpha", self.alpha)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name}: expected a number from 0 to 1, found {value}")


@dataclass(frozen=True)
class Rank:
    """The rank of a metric ("task.metric") among the teams that have it, 1 = best."""

    metric: str
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class Place:
    """The place in an earlier leaderboard of the scheme: its score, ranked again."""

    board: str
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class Score:
    """The score of an earlier leaderboard of the scheme, not ranked again."""

    board: str
    weight: Fraction = Fraction(1)


Term = Rank | Place | Score


@dataclass(frozen=True)
class Board:
    """A leaderboard: the score is the sum, mean or median of its terms, lower is better.

    Teams are ranked by score. Ties are broken by the terms in ``ties``, in order; if all are equal, teams
    share a place. A team that lacks a term has no place; a team that lacks a tie-break comes after those
    that have it.
    """

    name: str
    terms: tuple[Term, ...]
    ties: tuple[Term, ...] = ()
    combination: Combination = "sum"


@dataclass(frozen=True)
class Scheme:
    """The leaderboards of a phase, each built from metrics and earlier ones.

    ``overall`` names the leaderboard that decides; None if the challenge has several winners. ``phases``
    holds the weight of the overall place in each phase, by role, if several phases decide a challenge.
    ``phase_ties`` names, by role, the leaderboards of phases that break ties, in order. With
    ``complete_only``, a team that lacks a metric of the scheme has no place on any leaderboard, as on the
    platform. Raises ValueError for an invalid scheme.
    """

    boards: tuple[Board, ...]
    overall: str | None = None
    phases: Mapping[str, Fraction] = field(default_factory=dict)
    phase_ties: Mapping[str, str] = field(default_factory=dict)
    complete_only: bool = False
    method: Method = Method()
    ties: Ties = "min"

    def __post_init__(self) -> None:
        known: set[str] = set()
        for board in self.boards:
            if board.name in known:
                raise ValueError(f"leaderboard {board.name!r} is defined twice")
            if not board.terms:
                raise ValueError(f"leaderboard {board.name!r} has no terms")
            for term in (*board.terms, *board.ties):
                if isinstance(term, Place | Score) and term.board not in known:
                    raise ValueError(
                        f"leaderboard {board.name!r} uses {term.board!r}, which is none before it"
                    )
                if term.weight < 0:
                    raise ValueError(
                        f"leaderboard {board.name!r}: expected weights of at least 0, found {term.weight}"
                    )
            if board.combination != "sum" and any(term.weight != 1 for term in board.terms):
                raise ValueError(f"leaderboard {board.name!r}: only a sum has weights")
            known.add(board.name)
        if self.overall is not None and self.overall not in known:
            raise ValueError(f"overall: {self.overall!r} is no leaderboard of this scheme")
        if self.phases and (self.overall is None or min(self.phases.values()) < 0):
            raise ValueError("phases: expected weights of at least 0, of an overall leaderboard")
        for role, name in self.phase_ties.items():
            if role not in self.phases or name not in known:
                raise ValueError(
                    f"phase_ties: expected a phase and a leaderboard of this scheme, found {role} = {name!r}"
                )

    @property
    def metrics(self) -> tuple[str, ...]:
        """All metrics of the scheme without duplicates, in order of first use."""
        terms = (term for board in self.boards for term in (*board.terms, *board.ties))
        return tuple(dict.fromkeys(term.metric for term in terms if isinstance(term, Rank)))

    @property
    def board_names(self) -> tuple[str, ...]:
        """The names of the leaderboards, in their order."""
        return tuple(board.name for board in self.boards)

    def metrics_of(self, board_name: str) -> tuple[str, ...]:
        """Return the metrics on which the places of a leaderboard depend, ties included."""
        boards = {board.name: board for board in self.boards}

        def needed(board: Board) -> Iterator[str]:
            for term in (*board.terms, *board.ties):
                if isinstance(term, Rank):
                    yield term.metric
                else:
                    yield from needed(boards[term.board])

        return tuple(dict.fromkeys(needed(boards[board_name])))


# --- The tables that declare leaderboards, in phase.toml or in a file of their own ---


class TermTable(KeyTable, strict=False):
    """A term of a leaderboard: the rank of a metric, or the place or score of an earlier leaderboard."""

    rank: str | None = Key(default=None, description='The metric that is ranked, as `"task.metric"`.')
    place: str | None = Key(default=None, description="The earlier leaderboard whose place counts.")
    score: str | None = Key(default=None, description="The earlier leaderboard whose score counts.")
    weight: Weight = Key(default=Decimal(1), description="Weight of the term in a sum.")

    @model_validator(mode="after")
    def _one_kind(self) -> "TermTable":
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
