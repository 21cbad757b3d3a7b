"""Write `leaderboard.json`, the csv files beside it, and the organiser's files of single cases."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.io.files import write_atomically
from evaluation.organiser.output import csv_bytes
from evaluation.organiser.ranking import leaderboard_file
from evaluation.organiser.ranking.leaderboard import RankedPhase
from evaluation.organiser.ranking.results import ROLES, SECONDS, SEPARATOR, RankingError
from evaluation.organiser.ranking.robustness import Variation
from evaluation.organiser.ranking.stability import PlaceDistribution
from evaluation.phase.cases import organiser_table
from evaluation.phase.leaderboard import TEAM
from evaluation.platform.result_file import render
from evaluation.stats.differences import corrected
from evaluation.stats.ranks import rank_sum_difference

# --- Results by the teams' methods, from columns of `teams.csv`, as in REFUGE's Tables 3 and 5 ---


@dataclass(frozen=True)
class Methods:
    """The methods in a table of teams: its columns without the roles, and the cells by team."""

    file: str
    columns: tuple[str, ...]
    cells: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class MethodGroup:
    """The ranked teams with one value in a column of methods, in one metric.

    ``p_value``: two-sided Mann–Whitney test against the other ranked teams with a value in the column; None
    where there are none. ``p_holm`` is corrected for the groups of the column. Teams chose their methods
    themselves, so a difference does not show its cause.
    """

    metric: str
    column: str
    value: str
    teams: int
    best: float
    mean: float
    median: float
    worst: float
    best_team: str
    p_value: float | None
    p_holm: float | None


def read_methods(path: Path) -> Methods:
    """Read a table of methods, with a column ``team``; it may have teams without results.

    Raises `PhaseError` listing every fault, such as a team in two rows.
    """
    cells: dict[str, Mapping[str, str]] = {}
    with organiser_table(path, (TEAM,)) as table:
        for row in table.rows:
            team = row.cells[TEAM]
            if team in cells:
                row.fault(TEAM, f"{team!r} is also in an earlier row")
            cells[team] = row.cells
        columns = tuple(column for column in table.columns if column and column not in ROLES)
    return Methods(path.name, columns, cells)


def method_groups(
    phase: leaderboard_file.PhaseLeaderboard, methods: Methods, columns: Sequence[str]
) -> tuple[MethodGroup, ...]:
    """Return the groups of every column in every metric, the best mean first.

    A cell may list several values, such as "ResNet-50; DenseNet-201"; its team is in each group.
    Raises `RankingError` for a column that the table of methods does not have.
    """
    if unknown := [column for column in columns if column not in methods.columns]:
        known = ", ".join(methods.columns) or "none of methods"
        raise RankingError(*(f"{column}: no column of {methods.file}; it has {known}" for column in unknown))
    found: list[MethodGroup] = []
    for name, metric in phase.metrics.items():
        ranked = [team for team in phase.teams if team.eligible and name in team.metrics]
        values = {team.team: team.metrics[name].value for team in ranked}
        upwards = 1 if metric.better == "higher" else -1
        for column in columns:
            members: dict[str, list[str]] = {}
            for team in values:
                cell = methods.cells.get(team, {}).get(column, "")
                for value in dict.fromkeys(part.strip() for part in cell.split(SEPARATOR)):
                    if value:
                        members.setdefault(value, []).append(team)
            groups = [_group(name, column, value, members, values, upwards) for value in members]
            tested = corrected(groups, lambda group: None)
            found += sorted(tested, key=lambda group: (-upwards * group.mean, group.value))
    return tuple(found)


def methods_rows(phase: leaderboard_file.PhaseLeaderboard, methods: Methods) -> list[dict[str, Any]]:
    """Return a row for each team in the order of the leaderboard: places, methods, metrics of the ranking."""
    ranked = [name for name, metric in phase.metrics.items() if metric.in_ranking]
    return [
        {
            TEAM: team.team,
            **{f"{name} place": board.place for name, board in team.boards.items()},
            **{column: methods.cells.get(team.team, {}).get(column, "") for column in methods.columns},
            **{name: team.metrics[name].value if name in team.metrics else None for name in ranked},
        }
        for team in phase.teams
    ]


def _group(
    metric: str,
    column: str,
    value: str,
    members: dict[str, list[str]],
    values: dict[str, float],
    upwards: int,
) -> MethodGroup:
    own = members[value]
    others = sorted({team for teams in members.values() for team in teams} - set(own))
    numbers = [values[team] for team in own]
    best, worst = (max, min) if upwards > 0 else (min, max)
    mean, median = math.fsum(numbers) / len(numbers), float(np.median(numbers))
    first = min(team for team in own if values[team] == best(numbers))
    return MethodGroup(
        metric=metric,
        column=column,
        value=value,
        teams=len(own),
        best=best(numbers),
        mean=mean,
        median=median,
        worst=worst(numbers),
        best_team=first,
        p_value=rank_sum_difference(numbers, [values[team] for team in others]).p_value,
        p_holm=None,
    )


# --- The files of a leaderboard ---


def write_leaderboard(board: leaderboard_file.Leaderboard, folder: Path) -> list[Path]:
    """Write leaderboard.json and csv files, over several phases one more csv each; return the paths."""
    tables: dict[str, list[dict[str, Any]]] = {"robustness.csv": [], "comparisons.csv": []}
    tables |= {"subgroup-tests.csv": [], "associations.csv": [], "leaderboard.csv": leaderboard_rows(board)}
    for phase in board.phases:
        of_phase = {"phase": phase.role or phase.phase}
        tables["robustness.csv"] += [of_phase | _robustness_row(phase, one) for one in phase.robustness]
        tables["subgroup-tests.csv"] += [of_phase | vars(test) for test in phase.subgroup_tests]
        tables["associations.csv"] += [of_phase | vars(one) for one in phase.associations]
        for name, metric in phase.metrics.items():
            pairs = metric.comparisons.pairs if metric.comparisons else ()
            rows = [of_phase | {"metric": name} | vars(pair) for pair in (*pairs, *metric.unranked)]
            tables["comparisons.csv"] += rows
        if len(board.phases) > 1:
            tables[f"leaderboard-{phase.role}.csv"] = _phase_rows(phase)
    if found := board.generalisation:
        tables["generalisation.csv"] = [vars(one) for one in found.changes]
        tables["development-gaps.csv"] = [vars(one) for one in found.gaps]
        tables["gap-trends.csv"] = [vars(one) for one in found.trends]
    documents = {"leaderboard.json": render(board, organisers=True, compact=True)}
    return _write(documents | _filled(tables), folder)


def write_organiser_part(part: leaderboard_file.OrganiserPart, folder: Path, suffix: str) -> list[Path]:
    """Write the non-empty tables of single cases; return the paths."""
    tables: dict[str, Sequence[Any]] = {
        f"difficulty{suffix}.csv": part.difficulties,
        f"difficulty-groups{suffix}.csv": part.groups,
        f"influence{suffix}.csv": part.influences,
        f"annotator-points{suffix}.csv": part.annotator_points,
        f"readers{suffix}.csv": part.readers,
        f"classifiers{suffix}.csv": part.classifiers.values,
        f"classifier-tests{suffix}.csv": part.classifiers.tests,
        f"operating-points{suffix}.csv": part.operating_points,
        f"predictive-values{suffix}.csv": part.predictive_values,
        f"subgroups{suffix}.csv": part.subgroups,
    }
    documents = _filled({name: [_cells(row) for row in rows] for name, rows in tables.items()})
    if part.values or part.curves or part.free_response:
        report = {
            "format": "leaderboard-organiser/1",
            "values": part.values,
            "curves": part.curves,
            "classifiers": {"curves": part.classifiers.curves},
            "reader_curves": part.reader_curves,
        }
        if part.free_response:
            report["free_response"] = part.free_response
        documents[f"organiser{suffix}.json"] = (json.dumps(report, default=vars) + "\n").encode("ascii")
    return _write(documents, folder)


def write_differences(phase: RankedPhase, folder: Path, suffix: str) -> list[Path]:
    """Write the non-empty tables of first places, variants, annotators and submissions; return the paths."""
    tables: dict[str, list[dict[str, Any]]] = {
        f"submissions{suffix}.csv": _submission_rows(phase),
        f"first-place{suffix}.csv": [vars(row) for row in phase.first_place],
        f"variants{suffix}.csv": [vars(row) for row in phase.variants],
        f"annotator-scores{suffix}.csv": [vars(row) for row in phase.annotator_scores],
        f"margins{suffix}.csv": [vars(row) for row in phase.margins],
    }
    return _write(_filled(tables), folder)


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


def write_methods(
    groups: Sequence[MethodGroup], rows: Sequence[Mapping[str, Any]], folder: Path, suffix: str
) -> list[Path]:
    """Write the table of methods, and the results by group; return the paths."""
    documents = {
        f"methods{suffix}.csv": csv_bytes([dict(row) for row in rows]),
        f"method-groups{suffix}.csv": csv_bytes([_cells(group) for group in groups]),
    }
    return _write(documents, folder)


def leaderboard_rows(board: leaderboard_file.Leaderboard, role: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of `leaderboard.csv`, or of one of several phases. Raises `KeyError`."""
    if role is not None:
        return _phase_rows({phase.role: phase for phase in board.phases}[role])
    if len(board.phases) == 1:
        return _phase_rows(board.phases[0])
    if board.final is not None:
        return _final_rows(board.final)
    return [] if board.across is None else [vars(team) for team in board.across.teams]


def _filled(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, bytes]:
    """Return the csv files of the tables that have rows."""
    return {name: csv_bytes(rows) for name, rows in tables.items() if rows}


def _write(documents: dict[str, bytes], folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in documents.items():
        write_atomically(folder / name, data)
    return [folder / name for name in documents]


def _cells(row: Any) -> dict[str, Any]:
    return {name: " ".join(value) if isinstance(value, tuple) else value for name, value in vars(row).items()}


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
            row |= _interval(name, metric)
        if any(one.seconds_per_case for one in phase.teams):
            row[SECONDS] = team.seconds_per_case
        row["submission"], row["note"] = team.submission, team.note
        rows.append(row)
    return rows


def _interval(
    name: str, of: leaderboard_file.MetricOfTeam | PlaceDistribution | None
) -> dict[str, float | None]:
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
