"""The file `teams.csv` beside the results: which teams are ranked, listed, and compared with others.

team          a folder of results
eligible      no: listed without a place
listed        no: left out altogether, as if there were no results
variant_of    the team with the original method: the variant has no place, and is shown beside it
compare_with  of a team without a place: the teams it is tested against, with ";" between; * for all ranked

An empty cell or a missing column means yes, or no comparison. Other columns are remarks, or describe
the methods (see `method_groups`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.core.fault import PhaseError
from evaluation.phase.leaderboard import ELIGIBLE, TEAM, is_yes
from evaluation.phase.organiser_tables import organiser_table
from evaluation.ranking.results import VARIANT_OF, variant_faults

LISTED, COMPARE_WITH, SEPARATOR = "listed", "compare_with", ";"


@dataclass(frozen=True)
class TeamRoles:
    """The ineligible teams, the unlisted teams, and the opponents of teams without a place.

    ``variants``: the original team by the variant's name; variants are not eligible.
    """

    ineligible: frozenset[str] = frozenset()
    unlisted: frozenset[str] = frozenset()
    compare_with: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    variants: Mapping[str, str] = field(default_factory=dict)


def read_roles(path: Path, teams: Collection[str], problems: list[str]) -> TeamRoles:
    """Return the roles of the teams that have results; faults of the file are added to ``problems``."""
    if not path.is_file():
        return TeamRoles()
    try:
        with organiser_table(path, (TEAM,)) as table:
            for row in table.rows:
                if row.cells[TEAM] not in teams:
                    row.fault(TEAM, f"{row.cells[TEAM]!r} has no folder")
            ineligible = frozenset(row.cells[TEAM] for row in table.rows if not is_yes(row, ELIGIBLE))
            unlisted = frozenset(row.cells[TEAM] for row in table.rows if not is_yes(row, LISTED))
            variants = {
                row.cells[TEAM]: base for row in table.rows if (base := row.cells.get(VARIANT_OF, ""))
            }
            table.faults.extend(f"{table.file}: {fault}" for fault in variant_faults(variants, teams))
            compared = {row.cells[TEAM]: _names(row.cells.get(COMPARE_WITH, "")) for row in table.rows}
    except PhaseError as error:
        problems += (f"{path.parent}: {problem}" for problem in error.problems)
        return TeamRoles()
    return TeamRoles(
        (ineligible | variants.keys()) - unlisted,
        unlisted,
        {team: names for team, names in compared.items() if names and team not in unlisted},
        {variant: team for variant, team in variants.items() if not {variant, team} & unlisted},
    )


def _names(cell: str) -> tuple[str, ...]:
    return tuple(name for part in cell.split(SEPARATOR) if (name := part.strip()))
