"""The gain of an ensemble over its members, and whether it grows with disagreement (REFUGE, 5.1.3)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.annotators.disagreement import CaseDisagreement
from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task, metrics_of
from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric
from evaluation.core.resampling import CLUSTER_COLUMN
from evaluation.evaluate import Rejection, evaluate
from evaluation.phase.output import write_rows
from evaluation.phase.phase import Phase
from evaluation.ranking.comparisons import compare
from evaluation.ranking.difficulty import measure_per_case, value_per_case
from evaluation.ranking.methods.tied_ranks import mid_ranks
from evaluation.ranking.pair_tests import TestChoice
from evaluation.ranking.resampling import TeamCases
from evaluation.ranking.statistics.pairwise import holm

FloatArray = NDArray[np.float64]
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
    """All gains of an ensemble."""

    gains: tuple[Gain, ...]
    cases: tuple[CaseGain, ...]
    by_disagreement: tuple[GainByDisagreement, ...]


def ensemble_gain(
    phase: Phase,
    ensemble: tuple[str, Path],
    members: Mapping[str, Path],
    disagreement: Sequence[CaseDisagreement],
    workers: int,
    choice: TestChoice,
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
    )


def write_gain(folder: Path, gain: EnsembleGain) -> None:
    """Write `gain.csv`, and `gain-cases.csv` and `gain-disagreement.csv`, which reveal labels."""
    for file, rows, kind in (
        ("gain.csv", gain.gains, Gain),
        ("gain-cases.csv", gain.cases, CaseGain),
        ("gain-disagreement.csv", gain.by_disagreement, GainByDisagreement),
    ):
        columns = tuple(kind.__dataclass_fields__)
        write_rows(folder / file, columns, ([getattr(row, column) for column in columns] for row in rows))


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
    cases = TeamCases(tuple(tables), tuple(tables.values()), _clusters(phase))
    for name, of_all in values.items():
        if ensemble not in of_all:
            continue
        upwards = 1 if metrics[name].better == "higher" else -1
        pairs = {
            pair.second if pair.first == ensemble else pair.first: pair
            for pair in compare(name, metrics[name], of_all, cases, None, choice).pairs
            if ensemble in (pair.first, pair.second)
        }
        adjusted = dict(zip(pairs, holm([pair.p_value for pair in pairs.values()]), strict=True))
        for member in tables:
            if member in pairs:
                pair = pairs[member]
                difference = of_all[ensemble] - of_all[member]
                yield Gain(
                    name,
                    member,
                    of_all[ensemble],
                    of_all[member],
                    upwards * difference + 0.0,
                    pair.method,
                    pair.p_value,
                    adjusted[member],
                    pair.favours,
                    pair.note,
                )


def _clusters(phase: Phase) -> dict[str, str] | None:
    """Return the cluster of every case by name, None where cases are independent."""
    if CLUSTER_COLUMN not in phase.cases.columns:
        return None
    rows = zip(phase.cases.forms, phase.rows, strict=True)
    return {case.name: row.cells[CLUSTER_COLUMN] for case, row in rows}


def _case_gains(
    name: str, metric: Metric, ensemble: str, tables: Mapping[str, CaseTable]
) -> Iterator[CaseGain]:
    aggregate = metric.aggregate
    is_column = aggregate.spread_column or aggregate.share_column
    if not (is_column or aggregate.decision or (aggregate.curve and aggregate.curve.is_area)):
        return
    measure, hardest_first = measure_per_case(metric)
    own = value_per_case(aggregate, tables[ensemble])
    members = np.stack([value_per_case(aggregate, table) for one, table in tables.items() if one != ensemble])
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
            correlation = spearman(distances, gain_values)
            if correlation is None:
                continue
            order = np.argsort(distances, kind="stable")
            thirds = [float(gain_values[part].mean()) for part in np.array_split(order, _THIRDS)]
            yield GainByDisagreement(metric, field, measure, len(shared), correlation, *thirds)


def spearman(first: FloatArray, second: FloatArray) -> float | None:
    """Return Spearman's rank correlation in [−1, 1], ties by mid-ranks; None where one of them is constant.

    first, second: finite, shape (cases,). Source: Spearman 1904, Am. J. Psychol. 15:72.
    """
    ranks = mid_ranks(np.stack([first, second]))
    if (ranks == ranks[:, :1]).all(axis=1).any():
        return None
    correlations: FloatArray = np.asarray(np.corrcoef(ranks))
    return float(correlations[0, 1])
