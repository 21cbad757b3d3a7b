"""A ranking scheme: a few declared steps from the teams' metrics to their places.

    rank a metric → weigh and add → rank again → break ties → combine phases

`evaluation.phase.places` carries them out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import ConfigDict

from evaluation.core.keys import Key, Weight

_AS_TABLE = ConfigDict(extra="forbid")
"""Makes a type the reader of its table in a file, too."""

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

    __pydantic_config__ = _AS_TABLE

    name: MethodName = "mean-then-rank"
    quantile: float = 0.05
    alpha: float = 0.05
    adjust: Literal["holm", "none"] = "holm"

    def __post_init__(self) -> None:
        for name, value in (("quantile", self.quantile), ("alpha", self.alpha)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name}: expected a number from 0 to 1, found {value}")


@dataclass(frozen=True, kw_only=True)
class Term:
    """A term of a leaderboard: the rank of a metric, or the place or score of an earlier leaderboard.

    A rank is among the teams that have the metric, 1 = best. A place is the score ranked again.
    """

    __pydantic_config__ = _AS_TABLE

    rank: Annotated[str | None, Key(description='The metric that is ranked, as `"task.metric"`.')] = None
    place: Annotated[str | None, Key(description="The earlier leaderboard whose place counts.")] = None
    score: Annotated[str | None, Key(description="The earlier leaderboard whose score counts.")] = None
    weight: Annotated[Weight, Key(description="Weight of the term in a sum.")] = Decimal(1)

    def __post_init__(self) -> None:
        if sum(kind is not None for kind in (self.rank, self.place, self.score)) != 1:
            raise ValueError("expected one of rank, place and score")

    @property
    def board(self) -> str:
        """The earlier leaderboard, empty for the rank of a metric."""
        return self.place or self.score or ""


@dataclass(frozen=True)
class Board:
    """A leaderboard: the score is the sum, mean or median of its terms, lower is better.

    Teams are ranked by score. Ties are broken by further terms, in order; if all are equal, teams share
    a place. A team that lacks a term has no place; a team that lacks a tie-break comes after those
    that have it.
    """

    __pydantic_config__ = _AS_TABLE

    name: Annotated[str, Key(description="Name of the leaderboard.")]
    terms: Annotated[
        tuple[Term, ...], Key(description='What is added, for example `{ rank = "task.metric" }`.')
    ]
    ties: Annotated[
        tuple[Term, ...], Key(description="What decides between teams of one score, in order.")
    ] = ()
    combination: Annotated[Combination, Key(description="How the terms become the score.")] = "sum"


@dataclass(frozen=True)
class Scheme:
    """The leaderboards of a phase, each built from metrics and earlier ones.

    ``overall`` names the leaderboard that decides; None if the challenge has several winners. ``phases``
    holds the weight of the overall place in each phase, by role, if several phases decide a challenge.
    ``phase_ties`` names, by role, the leaderboards of phases that break ties, in order. With
    ``complete_only``, a team that lacks a metric of the scheme has no place on any leaderboard, as on the
    platform. Raises ValueError for an invalid scheme.
    """

    __pydantic_config__ = _AS_TABLE

    boards: tuple[Board, ...]
    overall: str | None = None
    phases: dict[str, Weight] = field(default_factory=dict)
    phase_ties: dict[str, str] = field(default_factory=dict)
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
                if term.rank is None and term.board not in known:
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
        return tuple(dict.fromkeys(term.rank for term in terms if term.rank is not None))

    @property
    def board_names(self) -> tuple[str, ...]:
        """The names of the leaderboards, in their order."""
        return tuple(board.name for board in self.boards)

    def metrics_of(self, board_name: str) -> tuple[str, ...]:
        """Return the metrics on which the places of a leaderboard depend, ties included."""
        boards = {board.name: board for board in self.boards}

        def needed(board: Board) -> Iterator[str]:
            for term in (*board.terms, *board.ties):
                if term.rank is not None:
                    yield term.rank
                else:
                    yield from needed(boards[term.board])

        return tuple(dict.fromkeys(needed(boards[board_name])))
