"""Write `leaderboard.json`, the csv files beside it, and the organiser's files of single cases."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.io.files import write_atomically
from evaluation.organiser.output import csv_bytes, table_row
from evaluation.organiser.ranking import leaderboard_file
from evaluation.organiser.ranking.leaderboard import RankedPhase
from evaluation.organiser.ranking.results import SECONDS
from evaluation.organiser.ranking.robustness import Variation
from evaluation.organiser.ranking.stability import PlaceDistribution
from evaluation.phase.leaderboard import TEAM
from evaluation.platform.result_file import render
from evaluation.stats.figure import Interval


def write_leaderboard(board: leaderboard_file.Leaderboard, folder: Path) -> list[Path]:
    """Write leaderboard.json and csv files, over several phases one more csv each; return the paths."""
    tables: dict[str, list[dict[str, Any]]] = {"robustness": [], "comparisons": [], "subgroup-tests": []}
    tables["leaderboard"] = leaderboard_rows(board)
    for phase in board.phases:
        of_phase = {"phase": phase.role or phase.phase}
        tables["robustness"] += [of_phase | _robustness_row(phase, one) for one in phase.robustness]
        tables["subgroup-tests"] += [of_phase | table_row(test) for test in phase.subgroup_tests]
        for name, metric in phase.metrics.items():
            pairs = metric.comparisons.pairs if metric.comparisons else ()
            of_metric = of_phase | {"metric": name}
            tables["comparisons"] += [of_metric | table_row(pair) for pair in (*pairs, *metric.unranked)]
        if len(board.phases) > 1:
            tables[f"leaderboard-{phase.role}"] = _phase_rows(phase)
    tables["generalisation"] = [table_row(one) for one in board.generalisation]
    documents = {"leaderboard.json": render(board, organisers=True, compact=True)}
    return _write(documents, tables, folder)


def write_phase(phase: RankedPhase, folder: Path, suffix: str) -> list[Path]:
    """Write the non-empty tables of one phase, those of single cases among them; return the paths.

    What reports read of single cases is also in organiser.json.
    """
    part = phase.organiser
    records: dict[str, Sequence[Any]] = {
        "annotator-scores": phase.annotator_scores,
        "margins": phase.margins,
        "difficulty": part.difficulties,
        "annotator-points": part.annotator_points,
        "readers": part.readers,
        "classifiers": part.classifiers.values,
        "classifier-tests": part.classifiers.tests,
        "operating-points": part.operating_points,
        "subgroups": part.subgroups,
    }
    tables = {f"{name}{suffix}": list(map(table_row, rows)) for name, rows in records.items()}
    tables[f"submissions{suffix}"] = _submission_rows(phase)
    documents = {}
    if part != leaderboard_file.OrganiserPart():
        # Operating points may be at infinite scores, which JSON does not have.
        shown = {name: value for name, value in vars(part).items() if name != "operating_points"}
        content = {"format": leaderboard_file.ORGANISER_FORMAT, **shown}
        documents[f"organiser{suffix}.json"] = (json.dumps(content, default=vars) + "\n").encode("ascii")
    return _write(documents, tables, folder)


def leaderboard_rows(board: leaderboard_file.Leaderboard, role: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of `leaderboard.csv`, or of one of several phases. Raises `KeyError`."""
    if role is not None:
        return _phase_rows({phase.role: phase for phase in board.phases}[role])
    if len(board.phases) == 1:
        return _phase_rows(board.phases[0])
    if board.final is not None:
        return _final_rows(board.final)
    return [] if board.across is None else [table_row(team) for team in board.across.teams]


def _write(
    documents: Mapping[str, bytes], tables: Mapping[str, Sequence[Mapping[str, Any]]], folder: Path
) -> list[Path]:
    """Write documents, and the csv files of the tables that have rows; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {**documents, **{f"{name}.csv": csv_bytes(rows) for name, rows in tables.items() if rows}}
    for name, data in files.items():
        write_atomically(folder / name, data)
    return [folder / name for name in files]


def _submission_rows(phase: RankedPhase) -> list[dict[str, Any]]:
    """Return a row for each submission, in their order; none where no team has several."""
    teams = {team.team: team for team in phase.board.teams}
    if all(team.submissions == 1 for team in teams.values()):
        return []
    rows: list[dict[str, Any]] = []
    for one in phase.submissions:
        counts = "yes" if teams[one.team].submission == one.name else "no"
        values = {name: one.values.get(name) for name in phase.board.metrics}
        rows.append({TEAM: one.team, "submission": one.name, "counts": counts, **values, "note": one.absence})
    return rows


def _phase_rows(phase: leaderboard_file.PhaseLeaderboard) -> list[dict[str, Any]]:
    """Return the rows of the csv; metric columns are named as in a phase's `leaderboard.csv`."""
    metrics = [name for name in phase.metrics if any(name in team.metrics for team in phase.teams)]
    rows = []
    for team in phase.teams:
        row: dict[str, Any] = {"team": team.team, "eligible": "yes" if team.eligible else "no"}
        for name, board in team.boards.items():
            row |= {f"{name} place": board.place, f"{name} score": board.exact_score}
            row |= _interval(f"{name} place", board.distribution)
        for name in metrics:
            metric = team.metrics.get(name)
            row[name], row[f"{name} rank"] = (metric.value, metric.rank) if metric else (None, None)
            row |= _interval(name, metric.figure.interval if metric else None)
        if any(one.seconds_per_case for one in phase.teams):
            row[SECONDS] = team.seconds_per_case
        row["submission"], row["note"] = team.submission, team.note
        rows.append(row)
    return rows


def _interval(name: str, of: Interval | PlaceDistribution | None) -> dict[str, float | None]:
    return {f"{name} lower": of.lower if of else None, f"{name} upper": of.upper if of else None}


def _robustness_row(phase: leaderboard_file.PhaseLeaderboard, variation: Variation) -> dict[str, Any]:
    row = {key: getattr(variation, key) for key in ("board", "kind", "change", "tau_b")}
    ranked = [team.team for team in phase.teams if team.boards[variation.board].place is not None]
    return row | {f"place of {team}": variation.places.get(team) for team in ranked}


def _final_rows(final: tuple[leaderboard_file.FinalTeam, ...]) -> list[dict[str, Any]]:
    return [
        {"place": row.place, "team": row.team, "score": row.exact_score}
        | {f"{role} place": place for role, place in row.phases.items()}
        | _interval("place", row.distribution)
        for row in final
    ]
