"""Combine several submissions of one phase into one."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field, Files
from evaluation.core.form import STACK_NAME, Form
from evaluation.core.outcome import Progress, no_progress
from evaluation.core.views import Numbers
from evaluation.io.json_files import read_json
from evaluation.organiser.annotators.agreement import (
    AgreementFigure,
    CaseDisagreement,
    FieldAgreement,
    write_agreement_table,
    write_disagreement_table,
)
from evaluation.organiser.annotators.annotations import OpenSubmission, open_submissions
from evaluation.organiser.annotators.combine import CombinationRules, combine, is_combinable, normalised
from evaluation.organiser.output import whole_folder
from evaluation.organiser.submission_writer import AlgorithmWriter, ArchiveWriter, writer_of
from evaluation.phase.cases import OrganiserTable, organiser_table
from evaluation.phase.leaderboard import ELIGIBLE, TEAM, is_yes
from evaluation.phase.phase import Phase

# --- Combine several submissions of one phase into one, in the submission's own format ---


@dataclass(frozen=True)
class Ensemble:
    """A written ensemble: submissions, tasks, and the number of cases with a value by field.

    ``agreement`` and ``disagreement`` are of the members; numbers are compared on their common scale.
    """

    submissions: tuple[str, ...]
    tasks: tuple[str, ...]
    cases: Mapping[str, int]
    agreement: tuple[AgreementFigure, ...]
    disagreement: tuple[CaseDisagreement, ...]


def write_ensemble(
    form: Form,
    tasks: Sequence[Task],
    submissions: Mapping[str, Path],
    output: Path,
    rules: CombinationRules,
    progress: Progress = no_progress,
) -> Ensemble:
    """Combine submissions, given by name, and write the result to a folder.

    Cases missing from a submission are combined from the others; a value missing from all is left out. Raises
    `PhaseError` with every fault of every submission, and for fields that cannot be combined.
    """
    if len(submissions) < 2:
        raise PhaseError(f"an ensemble needs at least two submissions, found {len(submissions)}")
    fields = fields_of(tasks)
    if problems := [
        f"task {task.name}: {field.title}: values of this kind cannot be combined; choose other tasks"
        for task in tasks
        for field in task.fields
        if not is_combinable(field.kind)
    ]:
        raise PhaseError(*problems)
    opened = open_submissions(submissions, form, tasks)
    # Grouped by stack: a stack is one file.
    order = sorted(range(len(form.cases)), key=lambda i: form.cases[i].columns.get(STACK_NAME, ""))
    faults: list[str] = []
    scaled: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    # Several numbers, such as probabilities, have one scale already.
    numbers = {field.name: field.kind.numbers for field in fields}
    single = {name: view for name, view in numbers.items() if view and len(view.names) == 1}
    for name, view in single.items():
        for one in opened:
            for position, number in _normalised(one, name, view, order, faults).items():
                scaled[one.name, position][name] = number
    others = [field.name for field in fields if field.name not in single]
    agreement = {field.name: FieldAgreement(field.name, field.kind) for field in fields}
    disagreement: list[CaseDisagreement] = []
    counts = dict.fromkeys(agreement, 0)
    with whole_folder(output) as folder:
        writer = _writer_for(folder, form, fields, opened[0])
        for done, position in enumerate(order, start=1):
            read = {
                one.name: one.read(position, others, faults) | scaled[one.name, position] for one in opened
            }
            if not faults:
                case, combined = form.cases[position], dict[str, Any]()
                for field in fields:
                    given = {
                        name: values[field.name] for name, values in read.items() if field.name in values
                    }
                    disagreement += agreement[field.name].add(case.name, given)
                    if given:
                        value = combine(field.kind, list(given.values()), case, rules)
                        combined[field.name] = field.kind.writable(value, case)
                        counts[field.name] += 1
                writer.add(case.name, combined)
            progress(done)
        PhaseError.raise_all(faults)
        writer.close()
    present = {name for one in opened for name in one.index.tasks}
    return Ensemble(
        tuple(one.name for one in opened),
        tuple(t.name for t in tasks if t.name in present),
        counts,
        tuple(found for of_field in agreement.values() for found in of_field.result()),
        tuple(disagreement),
    )


def write_agreement(folder: Path, written: Ensemble) -> None:
    """Write the members' agreement: `agreement.csv`, and by case `disagreement.csv`. No label is read."""
    write_agreement_table(folder / "agreement.csv", "submission", written.agreement)
    write_disagreement_table(folder / "disagreement.csv", "submission", written.disagreement)


def _normalised(
    submission: OpenSubmission, name: str, view: Numbers, order: Sequence[int], faults: list[str]
) -> dict[int, float]:
    """Return one submission's values of a field of one number by case position, on the common scale."""
    read = {position: submission.read(position, [name], faults) for position in order}
    found = {position: view.of(values[name])[0] for position, values in read.items() if values}
    scaled = normalised(view, list(found.values()))
    return {position: view.value((number,)) for position, number in zip(found, scaled, strict=True)}


def _writer_for(
    folder: Path, form: Form, fields: Sequence[Field], submission: OpenSubmission
) -> ArchiveWriter | AlgorithmWriter:
    """Return the writer of an ensemble, whose files have the extensions of those of a submission."""
    if form.submission == "algorithm":
        return writer_of(folder, form, fields)
    extensions = {}
    for field in fields:
        sources = (of_case.get(field.name) for of_case in submission.index.sources)
        first = next((source for source in sources if source), None)
        if first is not None and isinstance(field.archive, Files):
            known, path = field.archive.extensions, first.file.casefold()
            extensions[field.name] = next(extension for extension in known if path.endswith(extension))
    return ArchiveWriter(folder, fields, extensions)


# --- Members of an ensemble by a leaderboard: the first k teams of one of its boards ---

MembersChosen = Literal["on these cases", "on other cases", "by hand", "not known"]
IN_WORDS: dict[MembersChosen, str] = {
    "on these cases": "Its members were chosen by results on these cases: it looks better than it is, "
    "and no test allows for that.",
    "on other cases": "Its members were chosen by results on other cases.",
    "by hand": "Its members were named by hand; if by results on these cases, it looks better than it is.",
    "not known": "How its members were chosen is not known; if by results on these cases, it looks better "
    "than it is.",
}
"""What the choice of the members means. Source: REFUGE, section 5.1.3."""

FILE_NAME = "leaderboard.csv"
_PLACE, _SUBMISSION = "place", "submission"
_OVERALL = "overall"


@dataclass(frozen=True)
class Chosen:
    """The folders of the chosen teams by name, in the order of their places, and the column of places.

    ``phases``: the digests of the manifests of the phases behind these places, by name; empty if not known.
    """

    folders: Mapping[str, Path]
    column: str
    phases: Mapping[str, str]

    def members(self, phase: Phase) -> MembersChosen:
        """Return whether the places are of the cases of a phase: of its name or its seal."""
        if not self.phases:
            return "not known"
        here = phase.config.name in self.phases or phase.manifest.digest in self.phases.values()
        return "on these cases" if here else "on other cases"


def best_of_board(path: Path, folders: Mapping[str, Path], count: int, board: str | None = None) -> Chosen:
    """Return the first ``count`` teams of a leaderboard that `rank --output` wrote.

    path: `leaderboard.csv`, or the folder that holds it. folders: the candidates by the name of the team; a
    team with several submissions has the one that counts in a sub-folder. board: "<board> place" is the
    column of places; None: the overall one, or the only one. Teams that are not ranked are never chosen.
    Raises `PhaseError` for an unknown board, for fewer ranked teams, for a tie about the last place, and for
    chosen teams that are not among the candidates.
    """
    file = path / FILE_NAME if path.is_dir() else path
    with organiser_table(file, (TEAM,)) as table:
        column = _column(table, board)
        places: dict[str, float] = {}
        submissions: dict[str, str] = {}
        for row in table.rows:
            place = row.number(column)
            if is_yes(row, ELIGIBLE) and not math.isnan(place):
                places[row.cells[TEAM]] = place
                submissions[row.cells[TEAM]] = row.cells.get(_SUBMISSION, "")
    order = sorted(places, key=lambda team: (places[team], team))
    if len(order) < count:
        raise PhaseError(f"{file.name}, {column}: expected at least {count} ranked teams, found {len(order)}")
    chosen = order[:count]
    if len(order) > count and places[order[count]] == places[chosen[-1]]:
        tied = [team for team in order if places[team] == places[chosen[-1]]]
        raise PhaseError(
            f"{file.name}, {column}: {', '.join(tied)} share place {places[chosen[-1]]:g}; choose "
            f"{order.index(tied[0])} or {order.index(tied[0]) + len(tied)} teams"
        )
    if absent := [team for team in chosen if team not in folders]:
        raise PhaseError(
            *(f"{team}: is among the first {count}, but not among the submissions" for team in absent)
        )
    nested = {team: folders[team] / submissions[team] for team in chosen}
    of_teams = {team: place if place.is_dir() else folders[team] for team, place in nested.items()}
    return Chosen(of_teams, column, _phases(file, column))


def _phases(file: Path, column: str) -> dict[str, str]:
    """Return the digests by phase of the `leaderboard.json` beside a table: all, or that of one role."""
    path = file.with_name("leaderboard.json")
    if not path.is_file():
        return {}
    content: Any = read_json(path)
    try:
        phases = {one.get("role"): (one["phase"], one["manifest"]) for one in content["phases"]}
    except (KeyError, TypeError, AttributeError):
        raise PhaseError(f"{path}: is not a file of this package") from None
    places = (column, file.stem.replace("leaderboard-", "", 1) + f" {_PLACE}")
    own = [found for role, found in phases.items() if f"{role} {_PLACE}" in places]
    return dict(own or phases.values())


def _column(table: OrganiserTable, board: str | None) -> str:
    columns = [name for name in table.columns if name == _PLACE or name.endswith(f" {_PLACE}")]
    boards = ", ".join(name.removesuffix(_PLACE).strip() or _OVERALL for name in columns) or "none"
    for name in (f"{board or _OVERALL} {_PLACE}", *([_PLACE] if board in (None, _OVERALL) else [])):
        if name in columns:
            return name
    if board is None and len(columns) == 1:
        return columns[0]
    if board is None:
        raise PhaseError(f"{table.file}: has no overall board; choose one of {boards}")
    raise PhaseError(f"{table.file}: expected one of the boards {boards}, found {board!r}")
