"""Combine several submissions of one phase into one, and report the gain over its members."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as fields_of_class
from pathlib import Path
from typing import Any, Literal

import numpy as np

from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task, fields_of, metrics_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field, Files
from evaluation.core.form import STACK_NAME, Form
from evaluation.core.metric import Metric
from evaluation.core.outcome import Progress, no_progress
from evaluation.core.views import Numbers
from evaluation.evaluate import Rejection, evaluate
from evaluation.io.json_files import read_json
from evaluation.metrics.agreement import AgreementFigure
from evaluation.organiser.annotators.agreement import (
    CaseDisagreement,
    FieldAgreement,
    write_agreement_table,
    write_disagreement_table,
)
from evaluation.organiser.annotators.annotations import OpenSubmission, open_submissions
from evaluation.organiser.annotators.combine import CombinationRules, combine, is_combinable, normalised
from evaluation.organiser.output import whole_folder, write_rows
from evaluation.organiser.ranking.comparisons import compare
from evaluation.organiser.ranking.difficulty import measure_per_case, value_per_case
from evaluation.organiser.ranking.pair_tests import TestChoice
from evaluation.organiser.ranking.pairwise import holm
from evaluation.organiser.ranking.rank_statistics import spearman
from evaluation.organiser.ranking.resampling import TeamCases
from evaluation.organiser.submission_writer import AlgorithmWriter, ArchiveWriter, algorithm_writer
from evaluation.phase.cases import OrganiserTable, organiser_table
from evaluation.phase.leaderboard import ELIGIBLE, TEAM, is_yes
from evaluation.phase.phase import Phase
from evaluation.summary import resampling_of

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
        return algorithm_writer(folder, form, fields)
    extensions = {}
    for field in fields:
        sources = (of_case.get(field.name) for of_case in submission.index.sources)
        first = next((source for source in sources if source), None)
        if first is not None and isinstance(field.archive, Files):
            known, path = field.archive.extensions, first.file.casefold()
            extensions[field.name] = next(extension for extension in known if path.endswith(extension))
    return ArchiveWriter(folder, fields, extensions)


# --- The gain of an ensemble over its members, and whether it grows with disagreement (REFUGE, 5.1.3) ---

_THIRDS = 3
_FEWEST = 6


@dataclass(frozen=True)
class Gain:
    """The ensemble against one member in one metric; ``gain`` is positive where the ensemble is better.

    ``p_holm`` is corrected for the members. ``favours``: the one that the test finds better.
    """

    metric: str
    member: str
    ensemble_value: float
    member_value: float
    gain: float
    method: str | None
    p_value: float | None
    p_holm: float | None
    favours: str | None
    note: str | None


@dataclass(frozen=True)
class CaseGain:
    """The gain over the members' mean in one case.

    ``measure`` names the values of a case, see `CaseDifficulty`; for an area under a curve it is the share of
    other cases that are ordered wrongly against this one.
    """

    metric: str
    measure: str
    case: str
    ensemble_value: float
    members_mean: float
    gain: float


@dataclass(frozen=True)
class GainByDisagreement:
    """Spearman's correlation of a case's gain with the members' disagreement, and the mean gain by thirds."""

    metric: str
    field: str
    disagreement: str
    cases: int
    spearman: float
    lowest_third: float
    middle_third: float
    highest_third: float


@dataclass(frozen=True)
class EnsembleGain:
    """All gains of an ensemble, and how its members were chosen."""

    gains: tuple[Gain, ...]
    cases: tuple[CaseGain, ...]
    by_disagreement: tuple[GainByDisagreement, ...]
    members: "MembersChosen" = "not known"


MembersChosen = Literal["on these cases", "on other cases", "by hand", "not known"]
MEMBERS = "members_chosen"
IN_WORDS: dict[MembersChosen, str] = {
    "on these cases": "Its members were chosen by results on these cases: it looks better than it is, "
    "and no test allows for that.",
    "on other cases": "Its members were chosen by results on other cases.",
    "by hand": "Its members were named by hand; if by results on these cases, it looks better than it is.",
    "not known": "How its members were chosen is not known; if by results on these cases, it looks better "
    "than it is.",
}
"""What the choice of the members means. Source: REFUGE, section 5.1.3."""

GAIN_FILES = {"gains": "gain.csv", "cases": "gain-cases.csv", "by_disagreement": "gain-disagreement.csv"}
"""The file of each part of an `EnsembleGain`."""


def ensemble_gain(
    phase: Phase,
    ensemble: tuple[str, Path],
    members: Mapping[str, Path],
    disagreement: Sequence[CaseDisagreement],
    workers: int,
    choice: TestChoice,
    chosen: MembersChosen = "not known",
) -> EnsembleGain:
    """Score the ensemble and its members, given by name, against the phase's reference, and compare them.

    disagreement: of all cases, also of those without any. Raises `PhaseError` where a submission is rejected,
    and for a fault of the phase.
    """
    name, folder = ensemble
    tables = {one: _scored(phase, one, path, workers) for one, path in {name: folder, **members}.items()}
    metrics = metrics_of(phase.tasks)
    cases: list[CaseGain] = []
    for metric_name, metric in metrics.items():
        task = _task(metric_name)
        of_task = {one: found[task] for one, found in tables.items() if task in found}
        if name in of_task and len(of_task) > 1:
            cases += _case_gains(metric_name, metric, name, of_task)
    return EnsembleGain(
        tuple(_gains(phase, metrics, name, tables, choice)),
        tuple(cases),
        tuple(_by_disagreement(phase.tasks, cases, disagreement)),
        chosen,
    )


def write_gain(folder: Path, gain: EnsembleGain) -> None:
    """Write `gain.csv`, and `gain-cases.csv` and `gain-disagreement.csv`, which reveal labels.

    Every row says how the members were chosen.
    """
    for (part, file), kind in zip(GAIN_FILES.items(), (Gain, CaseGain, GainByDisagreement), strict=True):
        columns, rows = [field.name for field in fields_of_class(kind)], getattr(gain, part)
        cells = ([*(getattr(row, column) for column in columns), gain.members] for row in rows)
        write_rows(folder / file, [*columns, MEMBERS], cells)


def _scored(phase: Phase, name: str, folder: Path, workers: int) -> Mapping[str, CaseTable]:
    result = evaluate(phase, folder, workers)
    if isinstance(result, Rejection):
        raise PhaseError(*(f"{name}: {fault}" for fault in result.faults))
    return result.tables


def _task(metric: str) -> str:
    return metric.partition(".")[0]


def _gains(
    phase: Phase,
    metrics: Mapping[str, Metric],
    ensemble: str,
    tables: Mapping[str, Mapping[str, CaseTable]],
    choice: TestChoice,
) -> Iterator[Gain]:
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for one, found in tables.items():
        for task in phase.tasks:
            if task.name in found:
                for metric, value in metric_values(task.metrics, found[task.name]).items():
                    if not math.isnan(value):
                        values[f"{task.name}.{metric}"][one] = value
    cases = TeamCases(tuple(tables), tuple(tables.values()), resampling_of(phase).clusters)
    for name, of_all in values.items():
        if ensemble not in of_all:
            continue
        upwards = 1 if metrics[name].better == "higher" else -1
        pairs = {
            pair.second if pair.first == ensemble else pair.first: pair
            for pair in compare(name, metrics[name], of_all, cases, {}, choice).pairs
            if ensemble in (pair.first, pair.second)
        }
        adjusted = dict(zip(pairs, holm([pair.p_value for pair in pairs.values()]), strict=True))
        for member in tables:
            if member in pairs:
                pair = pairs[member]
                difference = of_all[ensemble] - of_all[member]
                yield Gain(
                    metric=name,
                    member=member,
                    ensemble_value=of_all[ensemble],
                    member_value=of_all[member],
                    gain=upwards * difference + 0.0,
                    method=pair.method,
                    p_value=pair.p_value,
                    p_holm=adjusted[member],
                    favours=pair.favours,
                    note=pair.note,
                )


def _case_gains(
    name: str, metric: Metric, ensemble: str, tables: Mapping[str, CaseTable]
) -> Iterator[CaseGain]:
    estimator = metric.estimator
    is_column = estimator.case_column
    if not (is_column or estimator.decision or (estimator.curve and estimator.curve.is_area)):
        return
    measure, hardest_first = measure_per_case(metric)
    own = value_per_case(estimator, tables[ensemble])
    members = np.stack([value_per_case(estimator, table) for one, table in tables.items() if one != ensemble])
    means = members.mean(axis=0)
    for case, value, mean in zip(tables[ensemble].names, own.tolist(), means.tolist(), strict=True):
        if math.isfinite(value) and math.isfinite(mean):
            yield CaseGain(name, measure, case, value, mean, hardest_first * (value - mean) + 0.0)


def _by_disagreement(
    tasks: Sequence[Task], gains: Sequence[CaseGain], disagreement: Sequence[CaseDisagreement]
) -> Iterator[GainByDisagreement]:
    of_case: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for one in disagreement:
        of_case[one.field, one.measure][one.case] = one.mean
    of_metric: dict[str, dict[str, float]] = defaultdict(dict)
    for gain in gains:
        of_metric[gain.metric][gain.case] = gain.gain
    fields = {task.name: {field.name for field in task.fields} for task in tasks}
    for metric, gain_of in of_metric.items():
        for (field, measure), distance_of in of_case.items():
            shared = [case for case in gain_of if case in distance_of]
            if field not in fields[_task(metric)] or len(shared) < _FEWEST:
                continue
            gain_values = np.array([gain_of[case] for case in shared])
            distances = np.array([distance_of[case] for case in shared])
            correlation = spearman(distances, gain_values, len(shared)).value
            if correlation is None:
                continue
            order = np.argsort(distances, kind="stable")
            thirds = [float(gain_values[part].mean()) for part in np.array_split(order, _THIRDS)]
            yield GainByDisagreement(metric, field, measure, len(shared), correlation, *thirds)


# --- Members of an ensemble by a leaderboard: the first k teams of one of its boards ---

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
