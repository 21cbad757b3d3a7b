"""Write `leaderboard.json`, the csv files beside it, and the organiser's files of single cases."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.platform.result_file import as_written, render, write_atomically
from evaluation.ranking.leaderboard import RankedPhase
from evaluation.ranking.leaderboard_file import FinalTeam, Leaderboard, OrganiserPart, PhaseLeaderboard
from evaluation.ranking.robustness import Variation


def write_leaderboard(board: Leaderboard, folder: Path) -> list[Path]:
    """Write leaderboard.json and leaderboard.csv, over several phases one more csv each; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = {"leaderboard.json": render(board, organisers=True, compact=True)}
    variations = [
        _robustness_row(phase, variation) for phase in board.phases for variation in phase.robustness
    ]
    if variations:
        documents["robustness.csv"] = _csv(variations)
    if rows := leaderboard_rows(board):
        documents["leaderboard.csv"] = _csv(rows)
    if len(board.phases) > 1:
        documents |= {f"leaderboard-{phase.role}.csv": _csv(_phase_rows(phase)) for phase in board.phases}
    return _write(documents, folder)


def write_organiser_part(part: OrganiserPart, folder: Path, suffix: str) -> list[Path]:
    """Write the non-empty tables of single cases; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        f"difficulty{suffix}.csv": part.difficulties,
        f"difficulty-groups{suffix}.csv": part.groups,
        f"influence{suffix}.csv": part.influences,
        f"operating-points{suffix}.csv": part.operating_points,
        f"subgroups{suffix}.csv": part.subgroups,
    }
    documents = {name: _csv([_cells(row) for row in rows]) for name, rows in tables.items() if rows}
    if part.values or part.curves:
        report = {
            "format": "leaderboard-organiser/1",
            "values": {name: vars(values) for name, values in part.values.items()},
            "curves": {
                name: {team: vars(points) for team, points in curves.items()}
                for name, curves in part.curves.items()
            },
        }
        documents[f"organiser{suffix}.json"] = (json.dumps(report) + "\n").encode("ascii")
    return _write(documents, folder)


def write_comparisons(phase: RankedPhase, folder: Path, suffix: str) -> list[Path]:
    """Write the non-empty tables of first places, variants and annotators; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[str, Sequence[Any]] = {
        f"first-place{suffix}.csv": phase.first_place,
        f"variants{suffix}.csv": phase.variants,
        f"annotator-scores{suffix}.csv": phase.annotator_scores,
    }
    return _write({name: _csv([vars(row) for row in rows]) for name, rows in tables.items() if rows}, folder)


def leaderboard_rows(board: Leaderboard, role: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of `leaderboard.csv`, or of one phase of a ranking over several. Raises `KeyError`."""
    if role is not None:
        return _phase_rows({phase.role: phase for phase in board.phases}[role])
    if len(board.phases) == 1:
        return _phase_rows(board.phases[0])
    if board.final is not None:
        return _final_rows(board.final)
    return [] if board.across is None else [vars(team) for team in board.across.teams]


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


def _robustness_row(phase: PhaseLeaderboard, variation: Variation) -> dict[str, Any]:
    row: dict[str, Any] = {"phase": phase.role or phase.phase, "board": variation.board}
    row |= {"kind": variation.kind, "change": variation.change, "tau_b": variation.tau_b}
    ranked = [team.team for team in phase.teams if team.boards[variation.board].place is not None]
    return row | {f"place of {team}": variation.places.get(team) for team in ranked}


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
