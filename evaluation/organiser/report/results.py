"""The results of one submission as a report needs them, from an evaluation or from its files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError

from evaluation.charts.published import MetricRow, metric_rows
from evaluation.core.aggregation import Estimates
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.fault import PhaseError
from evaluation.core.resampling import Resampling, units_of
from evaluation.io.json_files import read_json
from evaluation.library import CASES_FILE
from evaluation.phase.phase import Phase
from evaluation.phase.scores import read_case_records
from evaluation.platform.result_file import FILE_NAME, MetricsFile
from evaluation.stats.bootstrap import bootstrap_of
from evaluation.summary import Subgroups


@dataclass(frozen=True)
class CaseRecord:
    """Facts on a case beside its values: cells of `cases.csv`, failures, run time in seconds.

    ``worst`` names the tasks in which the case takes worst values.
    """

    name: str
    cells: Annotated[Mapping[str, str], Field(validation_alias="table")]
    worst: tuple[str, ...]
    failure: str | None = None
    run_seconds: float | None = None


@dataclass(frozen=True)
class SubmissionResults:
    """The results of a submission: the published ``metrics`` and the organiser's files.

    ``estimates`` and ``subgroups`` have all digits; ``tables`` hold labels.
    """

    phase: Phase
    metrics: MetricsFile
    tasks: tuple[Task, ...]
    tables: Mapping[str, CaseTable]
    cases: tuple[CaseRecord, ...]
    estimates: Estimates
    subgroups: Subgroups
    resampling: Resampling

    @property
    def metric_rows(self) -> list[MetricRow]:
        """The published metrics of all tasks in the order of `metrics.json`."""
        return metric_rows(self.phase.config, self.tasks, self.metrics)


def results_of(phase: Phase, metrics: Mapping[str, Any], records: Mapping[str, Any]) -> SubmissionResults:
    """Return the results from the contents of `metrics.json` and `cases.json`.

    Raises `PhaseError` where they are results of another phase or no results at all.
    """
    try:
        content = TypeAdapter(MetricsFile).validate_python(metrics)
        recorded = read_case_records(records, phase.tasks)
        estimates = TypeAdapter(Estimates).validate_python(records["figures"]["aggregates"])
        subgroups = TypeAdapter(Subgroups).validate_python(records["figures"]["subgroups"])
        cases = TypeAdapter(tuple[CaseRecord, ...]).validate_python(records["cases"])
        digests = {FILE_NAME: content.phase.manifest, CASES_FILE: records["manifest"]}
    except (ValidationError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise PhaseError(f"{FILE_NAME}, {CASES_FILE}: are not results of this package ({error})") from None
    expected = f"expected the seal {phase.manifest.digest[:12]}… of {phase.config.name}"
    PhaseError.raise_all(
        [
            f"{name}: {expected}, found the seal {digest[:12]}…"
            for name, digest in digests.items()
            if digest != phase.manifest.digest
        ]
    )
    tasks = tuple(task for task in phase.tasks if task.name in recorded.tables)
    return SubmissionResults(
        phase, content, tasks, recorded.tables, cases, estimates, subgroups, recorded.resampling
    )


def read_submission_results(phase: Phase, folder: Path) -> SubmissionResults:
    """Return the results in a folder: `metrics.json` and the organiser's `cases.json`.

    Raises `PhaseError` listing every problem.
    """
    contents, problems = [], []
    for name in (FILE_NAME, CASES_FILE):
        try:
            contents.append(read_json(folder / name))
        except FileNotFoundError:
            hint = "" if name == FILE_NAME else f"; `evaluate --cases {folder / CASES_FILE}` writes it"
            problems.append(f"{folder / name}: is missing{hint}")
        except PhaseError as error:
            problems += error.problems
    PhaseError.raise_all(problems)
    return results_of(phase, contents[0], contents[1])


# --- The case weights of the band around a curve, as in the phase's intervals ---

_LARGEST_BAND = 20_000_000
"""Resamples times points above which a curve has no band."""


def curve_weights(
    resampling: Resampling, names: Sequence[str], strata: NDArray[np.int64], points: int | None = None
) -> list[NDArray[np.float64]]:
    """Return the blocks of weights of the cases, shape (rows, cases), as the phase's intervals draw them.

    strata: of every case, −1 where it does not enter. points: of the curve, where there are more than cases.
    Empty where the phase draws none, or for a curve that would take too long.
    """
    most = max(len(names), points or 0)
    if not resampling.resamples or not most or resampling.resamples * most > _LARGEST_BAND:
        return []
    units = units_of(resampling.clusters, names)
    return list(bootstrap_of(strata, units, resampling.seed, resampling.resamples).case_weights())
