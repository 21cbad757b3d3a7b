"""The changes from earlier to present results of a phase: values, places and cases."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.core.case_table import CaseTable
from evaluation.core.fault import PhaseError, apart, counted, printable
from evaluation.organiser.ranking.results import PhaseResults, Submission, read_results
from evaluation.organiser.ranking.scheme_scores import SchemeScores, select
from evaluation.organiser.rescoring.kept import SEALED
from evaluation.phase.manifest import read_manifest
from evaluation.phase.places import scheme_of
from evaluation.platform.result_file import render

_MOST_ROWS = 40
"""Rows of a phase in the text: a log has an end, and the line of every phase is seen in it."""


@dataclass(frozen=True)
class Change:
    """A value before and now; None where there was or is none."""

    before: Any | None
    now: Any | None


_NONE = Change(None, None)


@dataclass(frozen=True)
class CaseChange:
    """A case of a task with its changed columns; an added or removed case has all columns."""

    case: str
    columns: Mapping[str, Change]


@dataclass(frozen=True)
class SubmissionChange:
    """One submission: the reasons for missing results, all its values, and the changes of its cases."""

    team: str
    submission: str
    absence: Change
    values: Mapping[str, Change]
    cases: Mapping[str, tuple[CaseChange, ...]]

    @property
    def is_one(self) -> bool:
        """Whether anything has changed."""
        values = (self.absence, *self.values.values())
        return bool(self.cases) or any(change.before != change.now for change in values)


@dataclass(frozen=True)
class Changes:
    """All changes of a phase: its seals, its submissions, and the places of the teams by leaderboard.

    ``ranked``: the metrics of the ranking. ``overall``: the leaderboard that combines them, if any.
    ``relabelled``: the cases of both runs whose labels or other cells in `cases.csv` differ.
    ``references``: the other files of the phase whose sealed contents differ, such as masks. ``titles``: of
    metrics by name, and the words of the phase for other names. ``challenge``: its name.
    """

    phase: str
    seal: Change
    ranked: tuple[str, ...]
    overall: str | None
    submissions: tuple[SubmissionChange, ...]
    places: Mapping[str, Mapping[str, Change]]
    relabelled: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    challenge: str = ""


def changes_between(before: Path, now: Path) -> Changes:
    """Return the changes between two folders of results of one phase. Raises `PhaseError`.

    Values are compared as written. Places follow the challenge's own ranking.
    """
    earlier, later = read_results(before), read_results(now)
    scheme = scheme_of(later.challenge, later.options)
    old, new = ({(one.team, one.name): one for one in run.submissions} for run in (earlier, later))
    old_places, new_places = _places(earlier), _places(later)
    old_cells, new_cells = _cells(earlier), _cells(later)
    return Changes(
        phase=later.phase,
        seal=Change(earlier.manifest, later.manifest),
        ranked=tuple(scheme.metrics),
        overall=scheme.overall,
        submissions=tuple(_change(name, old.get(name), new.get(name)) for name in sorted({*old, *new})),
        places={
            name: _pairs(old_places.get(name, {}), new_places.get(name, {}))
            for name in dict.fromkeys((*old_places, *new_places))
        },
        relabelled=tuple(name for name, row in new_cells.items() if old_cells.get(name, row) != row),
        references=tuple(_other_files(before, now)),
        titles={**later.titles, **{name: figure.title for name, figure in later.figures.items()}},
        challenge=later.challenge.name,
    )


def _other_files(before: Path, now: Path) -> Iterator[str]:
    """Yield the references whose sealed contents differ; none where a run did not keep its manifest."""
    try:
        old, new = (read_manifest(folder / SEALED).files for folder in (before, now))
    except PhaseError:
        return
    same = {"cases.csv", "phase.toml"}
    yield from (path for path in sorted({*old, *new} - same) if old.get(path) != new.get(path))


def _cells(results: PhaseResults) -> dict[str, dict[str, str]]:
    """Return the cells of `cases.csv` by case and column, empty without the organiser's files."""
    cases = results.cases
    if cases is None:
        return {}
    rows = zip(*cases.columns.values(), strict=True)
    named = zip(cases.names, rows, strict=False)
    return {name: dict(zip(cases.columns, row, strict=True)) for name, row in named}


def changes_json(phases: Sequence[Changes]) -> bytes:
    """Return the content of `changes.json`, with figures of single cases, which reveal labels."""
    return render({"phases": phases}, organisers=True, rounded=False)


def lines_of(changes: Changes) -> Iterator[str]:
    """Yield the changes of a phase in words: a line for each of the first 40 submissions with some."""
    places = changes.places.get(changes.overall or "", {})
    moved = {team for team, place in places.items() if place.before != place.now}
    changed = [one for one in changes.submissions if one.is_one]
    cases = {case.case for one in changed for task in one.cases.values() for case in task}
    yield (
        f"{changes.phase}: {len(changed)} of {len(changes.submissions)} submissions have changed, "
        f"{counted(len(cases), 'case')} moved"
    )
    shown = [one for one in changes.submissions if one.is_one or one.team in moved]
    for one in shown[:_MOST_ROWS]:
        found = {"place": places[one.team]} if one.team in moved else {}
        found |= {changes.titles.get(name, name): one.values.get(name, _NONE) for name in changes.ranked}
        told = [f"{title} {_text(value)}" for title, value in found.items() if value.before != value.now]
        if one.absence.before != one.absence.now:
            told.insert(0, f"{one.absence.before or 'scored'} → {one.absence.now or 'scored'}")
        if count := len({case.case for task in one.cases.values() for case in task}):
            told.append(f"{counted(count, 'case')} moved")
        name = f"{one.team}/{one.submission}" if one.submission else one.team
        yield f"{printable(name)}: {'; '.join(told)}"
    if len(shown) > _MOST_ROWS:
        yield f"… and {len(shown) - _MOST_ROWS} more submissions"


def _text(change: Change) -> str:
    if change.before is None or change.now is None or change.before == change.now:
        before, now = ("–" if value is None else f"{value:.6g}" for value in (change.before, change.now))
        return now if change.before == change.now else f"{before} → {now}"
    return " → ".join(apart([change.before], [change.now]))


def _change(name: tuple[str, str], before: Submission | None, now: Submission | None) -> SubmissionChange:
    return SubmissionChange(
        *name,
        Change(_absence(before), _absence(now)),
        _pairs(before.values if before else {}, now.values if now else {}),
        _case_changes((before and before.tables) or {}, (now and now.tables) or {}),
    )


def _absence(submission: Submission | None) -> str | None:
    return "no submission" if submission is None else submission.absence


def _case_changes(
    before: Mapping[str, CaseTable], now: Mapping[str, CaseTable]
) -> dict[str, tuple[CaseChange, ...]]:
    """Return the changed cases by task; none for an added or removed task."""
    found = {}
    for task in before.keys() & now.keys():
        old, new = (dict(zip(table.names, table.rows, strict=True)) for table in (before[task], now[task]))
        changes = []
        for case in sorted({*old, *new}):
            pairs = _pairs(_plain(old.get(case, {})), _plain(new.get(case, {})))
            if columns := {name: change for name, change in pairs.items() if change.before != change.now}:
                changes.append(CaseChange(case, columns))
        if changes:
            found[task] = tuple(changes)
    return dict(sorted(found.items()))


def _plain(value: Any) -> Any:
    """Return a value that can be compared and written: arrays as lists, NaN and infinity as text."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _places(results: PhaseResults) -> dict[str, dict[str, int]]:
    """Return the places of the teams by leaderboard."""
    scheme = scheme_of(results.challenge, results.options)
    ranked = [one for one in select(results, scheme) if one.team not in results.ineligible]
    if not any(submission.values for submission in ranked):
        return {}
    boards = SchemeScores(results, scheme, ranked).places().boards
    return {
        name: {
            submission.team: place
            for position, submission in enumerate(ranked)
            if (place := board.place(position)) is not None
        }
        for name, board in boards.items()
    }


def _pairs(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Change]:
    names = dict.fromkeys((*before, *now))
    return {name: Change(before.get(name), now.get(name)) for name in names}
