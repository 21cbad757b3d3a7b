"""The results of one submission as a report needs them, from an evaluation or from its files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from evaluation.core.aggregation import Estimates
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.fault import PhaseError
from evaluation.core.resampling import Resampling
from evaluation.phase.phase import Phase
from evaluation.phase.scores import read_case_records
from evaluation.platform.result_file import FILE_NAME, MetricsFile
from evaluation.results import CASES_FILE
from evaluation.summary import Subgroups


@dataclass(frozen=True)
class CaseRecord:
    """Facts on a case beside its values: cells of `cases.csv`, failures, run time in seconds.

    ``worst`` names the tasks in which the case takes worst values.
    """

    name: str
    cells: Mapping[str, str]
    worst: tuple[str, ...]
    failure: str | None
    run_seconds: float | None


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


def results_of(phase: Phase, metrics: Mapping[str, Any], records: Mapping[str, Any]) -> SubmissionResults:
    """Return the results from the contents of `metrics.json` and `cases.json`.

    Raises `PhaseError` where they are results of another phase or no results at all.
    """
    try:
        content = TypeAdapter(MetricsFile).validate_python(metrics)
        recorded = read_case_records(records, phase.tasks)
        estimates = TypeAdapter(Estimates).validate_python(records["figures"]["aggregates"])
        subgroups = TypeAdapter(Subgroups).validate_python(records["figures"]["subgroups"])
        cases = tuple(_case(case) for case in records["cases"])
        digests = {FILE_NAME: content.phase.manifest, CASES_FILE: records["manifest"]}
    except (ValidationError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise PhaseError(f"{FILE_NAME}, {CASES_FILE}: are not results of this package ({error})") from None
    if other := [name for name, digest in digests.items() if digest != phase.manifest.digest]:
        raise PhaseError(
            *(
                f"{name}: expected the seal {phase.manifest.digest[:12]}… of {phase.config.name}, "
                f"found the seal {digests[name][:12]}…"
                for name in other
            )
        )
    tasks = tuple(task for task in phase.tasks if task.name in recorded.tables)
    return SubmissionResults(
        phase, content, tasks, recorded.tables, cases, estimates, subgroups, recorded.resampling
    )


def read_results(phase: Phase, folder: Path) -> SubmissionResults:
    """Return the results in a folder: `metrics.json` and the organiser's `cases.json`.

    Raises `PhaseError` listing every problem.
    """
    contents, problems = [], []
    for name in (FILE_NAME, CASES_FILE):
        try:
            contents.append(json.loads((folder / name).read_bytes()))
        except FileNotFoundError:
            hint = "" if name == FILE_NAME else f"; `evaluate --cases {folder / CASES_FILE}` writes it"
            problems.append(f"{folder / name}: is missing{hint}")
        except ValueError as error:
            problems.append(f"{folder / name}: cannot be read: {error}")
    if problems:
        raise PhaseError(*problems)
    return results_of(phase, contents[0], contents[1])


def _case(record: Mapping[str, Any]) -> CaseRecord:
    worst: Sequence[str] = record["worst"]
    return CaseRecord(
        record["name"], record["table"], tuple(worst), record.get("failure"), record.get("run_seconds")
    )
