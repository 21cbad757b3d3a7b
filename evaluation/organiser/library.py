"""The organiser's functions of the library: phases sealed, teams ranked, figures compared, from any program.

Nothing is printed and nothing of the caller's process is changed, as in `evaluation.library`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.library import AnyPath, Progress, run_job
from evaluation.phase.named import phase_folder
from evaluation.platform import machine
from evaluation.platform.result_file import render

if TYPE_CHECKING:
    import pandas

    from evaluation.organiser.ranking.analysis import RankOptions
    from evaluation.organiser.ranking.leaderboard_file import Leaderboard


@dataclass(frozen=True, repr=False)
class Ranking:
    """A leaderboard of teams."""

    leaderboard: Leaderboard

    def __repr__(self) -> str:
        """Return the phases and the first teams."""
        phases = ", ".join(phase.phase for phase in self.leaderboard.phases)
        teams = [str(team) for team in self.teams().index]
        return f"<Ranking of {phases}: {', '.join(teams[:5])}{', …' if len(teams) > 5 else ''}>"

    def _repr_html_(self) -> str:
        """Return the teams as a table, for notebooks; columns without any value are left out."""
        table: str = (
            self.teams().dropna(axis="columns", how="all").to_html(float_format="{:.4g}".format, na_rep="")
        )
        return f"<p>{escape(repr(self)[1:-1])}</p>{table}"

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `leaderboard.json` as plain values."""
        content: dict[str, Any] = json.loads(render(dataclasses.asdict(self.leaderboard), organisers=True))
        return content

    def teams(self, role: str | None = None) -> pandas.DataFrame:
        """Return a row per team, in the order of the leaderboard, as `leaderboard.csv` has them.

        ``role`` is a phase of a ranking over several, by default the final ranking. Raises `KeyError`.
        """
        import pandas

        from evaluation.organiser.ranking.leaderboard import leaderboard_rows

        return pandas.DataFrame(leaderboard_rows(self.leaderboard, role)).set_index("team")

    def write(self, folder: str | Path) -> list[Path]:
        """Write `leaderboard.json` and `leaderboard.csv` and return the paths. Raises `OSError`."""
        from evaluation.organiser.ranking.leaderboard import write_leaderboard

        return write_leaderboard(self.leaderboard, Path(folder))


@dataclass(frozen=True, repr=False)
class Seal:
    """A phase that has been sealed: its folder, the digest of its manifest, and notices for its organiser."""

    folder: str
    digest: str
    notices: tuple[str, ...]

    def __repr__(self) -> str:
        """Return the folder and the first digits of the digest."""
        return f"<Seal of {self.folder}: {self.digest[:12]}…, {len(self.notices)} notices>"

    def _repr_html_(self) -> str:
        """Return folder, digest and notices, for notebooks."""
        notices = "".join(f"<li>{escape(notice)}</li>" for notice in self.notices)
        return f"<p>{escape(self.folder)} is sealed: <code>{self.digest}</code></p><ul>{notices}</ul>"


def seal(phase: AnyPath, *, progress: Progress | None = None) -> Seal:
    """Validate a phase and write its manifest, without which nothing is scored against it.

    Parameters
    ----------
    phase
        A phase folder, or the name of one below `ground-truth/`.
    progress
        Called with the number of reference values read so far.

    Raises
    ------
    PhaseError
        With every fault of the phase.
    """
    found: Seal = run_job("evaluation.organiser.library:seal_phase", {"phase": fspath(phase)}, progress)
    return found


def rank(
    results: AnyPath | Mapping[str, AnyPath],
    *,
    scheme: AnyPath = "challenge",
    ground_truth: AnyPath | None = None,
    options: RankOptions | None = None,
    metrics: Mapping[str, str] | None = None,
) -> Ranking:
    """Rank teams by their results.

    Parameters
    ----------
    results
        A folder with a sub-folder per team that holds `metrics.json` and `cases.json`, as `evaluate --each`
        and ``Evaluation.write`` write them, a table of results (csv), or evaluations that the platform
        exports; for a ranking over several phases, one of them per role.
    scheme
        "challenge" for the challenge's own, a method or scheme that `rank --scheme` knows by name, or a TOML
        file.
    ground_truth
        The phase, whose score and columns the platform's schemes rank by, and beside which its challenge may
        be programmed.
    options
        Which analyses are made, see `evaluation.organiser.ranking.analysis.RankOptions`.
    metrics
        Of a table, or of exported evaluations of any container: the better direction of each metric by name
        or dotted path, and further keys as `rank --metric` takes them, such as
        ``{"dice": "higher,worst=0"}``.

    Returns
    -------
    Ranking
        ``to_dict()`` is the content of `leaderboard.json`, ``teams()`` a frame with a row per team.

    Raises
    ------
    PhaseError
        With every reason why the results cannot be ranked.
    """
    from evaluation.organiser.ranking.analysis import RankOptions
    from evaluation.organiser.ranking.leaderboard import rank_paths

    folders = results if isinstance(results, Mapping) else {"": results}
    paths = {role: [Path(path)] for role, path in folders.items()}
    folder = None if ground_truth is None else phase_folder(fspath(ground_truth))
    given = [f"{name}={described}" for name, described in (metrics or {}).items()]
    return Ranking(rank_paths(paths, fspath(scheme), options or RankOptions(), folder, given).board)


def seal_phase(phase: str, progress: Progress) -> Seal:
    """Validate and seal a phase in this process. Raises `PhaseError` with all faults."""
    from evaluation.organiser.validate import validate_phase
    from evaluation.phase.manifest import scan
    from evaluation.phase.manifest import seal as write_seal

    folder = phase_folder(phase)
    scanned = scan(folder)
    validation = validate_phase(folder, scanned, machine.worker_count(), progress)
    return Seal(str(folder), write_seal(folder, scanned).digest, validation.notices)
