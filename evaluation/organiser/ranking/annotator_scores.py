"""Annotators who were scored like teams, listed beside the teams (ADAM, Table 14)."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evaluation.core.fault import PhaseError
from evaluation.organiser.ranking.leaderboard_file import Team
from evaluation.phase.cases import OrganiserTable, TableRow, organiser_table
from evaluation.phase.places import Better

ANNOTATOR, TASK, METRIC, VALUE = "annotator", "task", "metric", "value"
Scores = Mapping[str, Mapping[str, float]]
"""Metrics ("task.metric") by annotator."""


@dataclass(frozen=True)
class Beside:
    """A team or an annotator in one metric; ``rank`` 1 is the best.

    ``teams_better`` and so on count ranked teams other than itself. An annotator or unranked team has the
    rank that it would take if it alone joined the ranked teams.
    """

    metric: str
    rank: int
    name: str
    kind: Literal["team", "unranked team", "annotator"]
    value: float
    teams_better: int
    teams_equal: int
    teams_worse: int


def is_scores(path: Path) -> bool:
    """Return whether a table has metrics of annotators, and not their readings of the cases."""
    if not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return ANNOTATOR in [name.strip().strip('"') for name in file.readline().split(",")]


def read_annotator_scores(path: Path, metrics: Collection[str]) -> Scores:
    """Return the metrics of annotators in a csv file.

    The file is long, with the columns annotator, task, metric and value, as `fuse` writes it, or wide, with
    the column annotator and one for each "task.metric". Empty values are left out. Raises `PhaseError` with
    every fault, such as a metric that is not in ``metrics``.
    """
    with organiser_table(path, (ANNOTATOR,), holds=ANNOTATOR) as table:
        found: dict[str, dict[str, float]] = {}
        for row, metric, value in _values(table):
            if not row.cells[ANNOTATOR]:
                row.fault(ANNOTATOR, "expected the name of an annotator, found nothing")
            of_annotator = found.setdefault(row.cells[ANNOTATOR], {})
            if metric not in metrics:
                row.fault(METRIC, f"expected one of {', '.join(metrics)}, found {metric!r}")
            elif metric in of_annotator:
                row.fault(METRIC, f"{metric} of {row.cells[ANNOTATOR]!r} is also in an earlier row")
            elif not math.isnan(value):
                of_annotator[metric] = value
    return found


def _values(table: OrganiserTable) -> list[tuple[TableRow, str, float]]:
    """Return row, metric and value of a long or wide table. Raises `PhaseError` for another one."""
    if {TASK, METRIC, VALUE} <= set(table.columns):
        return [(row, f"{row.cells[TASK]}.{row.cells[METRIC]}", row.number(VALUE)) for row in table.rows]
    columns = [column for column in table.columns if "." in column and " " not in column]
    if not columns:
        expected = f"the columns {TASK!r}, {METRIC!r} and {VALUE!r}, or one for each metric"
        raise PhaseError(f"{table.file}: expected {expected}, found {', '.join(table.columns)}")
    return [(row, column, row.number(column)) for row in table.rows for column in columns]


def beside_teams(
    teams: Sequence[Team], ranked: Collection[str], scores: Scores, better: Mapping[str, Better]
) -> tuple[Beside, ...]:
    """Return teams and annotators in every metric that an annotator has, the best first.

    ranked: the names of the ranked teams. better: by metric.
    """
    wanted = [name for name in better if any(name in of_annotator for of_annotator in scores.values())]
    found = []
    for metric in wanted:
        upwards = 1 if better[metric] == "higher" else -1
        given: list[tuple[str, Literal["team", "unranked team", "annotator"], float]] = [
            (team.team, "team" if team.team in ranked else "unranked team", team.metrics[metric].value)
            for team in teams
            if metric in team.metrics
        ]
        of_teams = {name: value for name, kind, value in given if kind == "team"}
        given += [(name, "annotator", values[metric]) for name, values in scores.items() if metric in values]
        rows = []
        for name, kind, value in given:
            others = [other for team, other in of_teams.items() if kind != "team" or team != name]
            ahead = sum(upwards * other > upwards * value for other in others)
            equal = sum(other == value for other in others)
            worse = len(others) - ahead - equal
            rows.append(Beside(metric, ahead + 1, name, kind, value, ahead, equal, worse))
        found += sorted(rows, key=lambda row: (-upwards * row.value, row.kind != "team", row.name))
    return tuple(found)
