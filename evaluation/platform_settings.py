"""The settings of a phase on the platform that go with its `metrics.json`, ready to be pasted."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.evaluate import Result, tables_of
from evaluation.model.fault import PhaseError
from evaluation.model.metric import Metric
from evaluation.model.outcome import CaseJob, OrganiserFault, Scored
from evaluation.phase.phase import Phase
from evaluation.phase.settings import platform_metrics
from evaluation.platform import machine
from evaluation.platform.result_file import render
from evaluation.summary import summarise
from evaluation.workers.case_runner import RunSetup
from evaluation.workers.pool import PoolSettings, run_cases

_CASE_SECONDS = 120.0
_DECIMAL_PLACES = 4


def least_metrics(phase: Phase, workers: int) -> dict[str, Any]:
    """Return the `metrics.json` of a submission that holds nothing: the keys that every submission's has.

    Which figures and intervals exist, the reference alone decides. Raises `PhaseError` where it cannot be
    read.
    """
    tasks = tuple(task for task in phase.tasks if task.name not in phase.form.optional_tasks)
    names = tuple(task.name for task in tasks)
    options = phase.options.model_dump(mode="json")
    memory = machine.worker_memory(workers, phase.config.limits.worker_memory_mb)
    setup = RunSetup(phase.form, names, str(phase.folder), options, phase.reference, memory)
    jobs = [
        CaseJob(case, {}, row, mode="worst") for case, row in zip(phase.cases.forms, phase.rows, strict=True)
    ]
    outcomes = run_cases(jobs, setup, PoolSettings(workers, _CASE_SECONDS))
    if problems := [line for o in outcomes if isinstance(o, OrganiserFault) for line in o.problems]:
        raise PhaseError(*problems)
    scored = tuple(outcome for outcome in outcomes if isinstance(outcome, Scored))
    if len(scored) < len(jobs):
        raise PhaseError("the reference of a case cannot be read; seal names it")
    result = Result(phase, tasks, tables_of(tasks, phase.cases.forms, scored), scored)
    content: dict[str, Any] = json.loads(render(dataclasses.asdict(summarise(result, "image"))))
    return content


def platform_settings(phase: Phase, least: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings by the platform's names; ``least`` is what `least_metrics` returns.

    Ranked is by the score alone: weighted ranks and ranks over several tasks do not exist on the platform.
    """
    known = {f"{task.name}.{metric.name}": metric for task in phase.tasks for metric in task.metrics}
    score, *columns = names = platform_metrics(phase.config, phase.challenge, phase.tasks)
    titles = _titles(phase, names)
    return {
        "score_title": titles[score],
        "score_jsonpath": _value_path(score),
        "score_error_jsonpath": _error_path(score, least) or "",
        "score_default_sort": _order(known[score]),
        "score_decimal_places": phase.config.digits.get(score, _DECIMAL_PLACES),
        "extra_results_columns": [
            {"title": titles[name], "path": _value_path(name), "order": _order(known[name])}
            | ({"error_path": error} if (error := _error_path(name, least)) else {})
            for name in columns
        ],
        "scoring_method_choice": "abs",
        "result_display_choice": "bst",
        "display_all_metrics": True,
    }


def public_paths(metrics: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the dotted path of every value that `display_all_metrics` shows to the public."""
    for key, value in metrics.items():
        if isinstance(value, Mapping):
            yield from public_paths(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _titles(phase: Phase, names: tuple[str, ...]) -> dict[str, str]:
    """Return the title of every metric, with its task's where two would be the same."""
    metrics = {
        f"{task.name}.{metric.name}": (task.title, metric.title)
        for task in phase.tasks
        for metric in task.metrics
    }
    count = Counter(metrics[name][1] for name in names)
    return {
        name: f"{task}: {title}" if count[title] > 1 else title
        for name in names
        for task, title in [metrics[name]]
    }


def _order(metric: Metric) -> str:
    return "desc" if metric.better == "higher" else "asc"


def _value_path(name: str) -> str:
    return f"aggregates.{name}.value"


def _error_path(name: str, least: Mapping[str, Any]) -> str | None:
    """Return the path of half the width of the interval, if every submission has one."""
    task, metric = name.split(".")
    if "confidence_interval" not in least["aggregates"].get(task, {}).get(metric, {}):
        return None
    return f"aggregates.{name}.confidence_interval.half_width"
