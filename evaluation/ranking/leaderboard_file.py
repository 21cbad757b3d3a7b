"""`leaderboard.json` and `leaderboard.csv`: their types, and how they are written."""

from __future__ import annotations

import csv
import dataclasses
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from evaluation.platform.result_file import as_written, render, write_atomically
from evaluation.platform.schema import schema_of
from evaluation.ranking.annotators import AnnotatorsSection
from evaluation.ranking.comparisons import Comparisons
from evaluation.ranking.difficulty import CaseDifficulty, GroupDifficulty, SubgroupTest
from evaluation.ranking.stability import Influence, PlaceDistribution, RankingAgreement

FORMAT: Literal["leaderboard/1"] = "leaderboard/1"


@dataclass(frozen=True)
class MetricOfTeam:
    """A team's metric, its rank (None: not ranked), and its 95 % bootstrap interval, if any."""

    value: float
    rank: float | None = None
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True)
class BoardOfTeam:
    """A team's place in a leaderboard.

    ``place``: teams with equal scores share the lowest place ("1, 1, 3"). ``rank``: the place under the
    scheme's rule for ties. ``score``: lower is better. ``exact_score``: the same as a decimal or a fraction.
    ``would_be_place``: the place that an unranked team would take if it alone joined.
    """

    place: int | None = None
    score: float | None = None
    exact_score: str | None = None
    rank: float | None = None
    would_be_place: int | None = None
    distribution: PlaceDistribution | None = None


@dataclass(frozen=True)
class Team:
    """A row of a leaderboard. ``submission``: the one that counts. ``submissions``: their number."""

    team: str
    eligible: bool
    submission: str
    submissions: int
    metrics: dict[str, MetricOfTeam]
    boards: dict[str, BoardOfTeam]
    note: str | None = None


@dataclass(frozen=True)
class MetricOfPhase:
    """A metric: title, direction, whether the scheme uses it, tests, and why intervals are missing."""

    title: str
    better: Literal["higher", "lower"]
    in_ranking: bool
    no_intervals: str | None = None
    comparisons: Comparisons | None = None


@dataclass(frozen=True)
class PhaseLeaderboard:
    """The teams of one phase in the order of the leaderboard.

    ``agreement``: by board, Kendall's τ-b between the ranking and those of the resamples.
    """

    role: str | None
    challenge: str
    phase: str
    manifest: str
    cases: int | None
    scheme: dict[str, Any]
    metrics: dict[str, MetricOfPhase]
    teams: tuple[Team, ...]
    agreement: dict[str, RankingAgreement] = field(default_factory=dict)
    subgroup_tests: tuple[SubgroupTest, ...] = ()
    annotators: AnnotatorsSection | None = None


@dataclass(frozen=True)
class FinalTeam:
    """A team's place over all phases, None where it has no place in one of them."""

    team: str
    place: int | None
    score: float | None
    exact_score: str | None
    phases: dict[str, int | None]
    distribution: PlaceDistribution | None = None


@dataclass(frozen=True)
class Leaderboard:
    """The content of `leaderboard.json`."""

    format: Literal["leaderboard/1"]
    phases: tuple[PhaseLeaderboard, ...]
    final: tuple[FinalTeam, ...] | None = None
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class OrganiserPart:
    """The figures of single cases. They reveal labels and are written to separate files."""

    difficulties: tuple[CaseDifficulty, ...] = ()
    groups: tuple[GroupDifficulty, ...] = ()
    influences: tuple[Influence, ...] = ()


def leaderboard_schema() -> dict[str, Any]:
    """Return the schema of `leaderboard.json`."""
    return schema_of(Leaderboard, "leaderboard.json")


def write_leaderboard(board: Leaderboard, folder: Path) -> list[Path]:
    """Write leaderboard.json and leaderboard.csv, over several phases one more csv each; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = {"leaderboard.json": render(dataclasses.asdict(board), organisers=True)}
    if board.final is None:
        documents["leaderboard.csv"] = _csv(_phase_rows(board.phases[0]))
    else:
        documents["leaderboard.csv"] = _csv(_final_rows(board.final))
        documents |= {f"leaderboard-{phase.role}.csv": _csv(_phase_rows(phase)) for phase in board.phases}
    return _write(documents, folder)


def write_organiser_part(part: OrganiserPart, folder: Path, suffix: str) -> list[Path]:
    """Write the non-empty tables of single cases; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        f"difficulty{suffix}.csv": part.difficulties,
        f"difficulty-groups{suffix}.csv": part.groups,
        f"influence{suffix}.csv": part.influences,
    }
    return _write(
        {name: _csv([_cells(row) for row in rows]) for name, rows in tables.items() if rows}, folder
    )


def leaderboard_rows(board: Leaderboard, role: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of `leaderboard.csv`, or of one phase of a ranking over several. Raises `KeyError`."""
    if role is not None:
        return _phase_rows({phase.role: phase for phase in board.phases}[role])
    return _phase_rows(board.phases[0]) if board.final is None else _final_rows(board.final)


def _write(documents: dict[str, bytes], folder: Path) -> list[Path]:
    for name, data in documents.items():
        write_atomically(folder / name, data)
    return [folder / name for name in documents]


def _cells(row: Any) -> dict[str, Any]:
    return {name: " ".join(value) if isinstance(value, tuple) else value for name, value in vars(row).items()}


def _phase_rows(phase: PhaseLeaderboard) -> list[dict[str, Any]]:
    """Return the rows of the csv. Metric columns have the names that a phase's `leaderboard.csv` uses."""
    metrics = [name for name in phase.metrics if any(name in team.metrics for team in phase.teams)]
    rows = []
    for team in phase.teams:
        row: dict[str, Any] = {"team": team.team, "eligible": "yes" if team.eligible else "no"}
        for name, board in team.boards.items():
            row |= {f"{name} place": board.place, f"{name} score": board.exact_score}
            distribution = board.distribution
            row |= {
                f"{name} place lower": distribution.lower if distribution else None,
                f"{name} place upper": distribution.upper if distribution else None,
            }
        for name in metrics:
            metric = team.metrics.get(name)
            row |= {
                name: metric.value if metric else None,
                f"{name} rank": metric.rank if metric else None,
                f"{name} lower": metric.lower if metric else None,
                f"{name} upper": metric.upper if metric else None,
            }
        row["submission"], row["note"] = team.submission, team.note
        rows.append(row)
    return rows


def _final_rows(final: tuple[FinalTeam, ...]) -> list[dict[str, Any]]:
    return [
        {"place": row.place, "team": row.team, "score": row.exact_score}
        | {f"{role} place": place for role, place in row.phases.items()}
        | {
            "place lower": row.distribution.lower if row.distribution else None,
            "place upper": row.distribution.upper if row.distribution else None,
        }
        for row in final
    ]


def _csv(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO(newline="")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue().encode("utf-8")


def _cell(value: Any) -> Any:
    return as_written(value) if isinstance(value, float) else value
