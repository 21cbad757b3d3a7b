"""The run time of algorithms as a task of its own, for phases that score it."""

from __future__ import annotations

from math import inf

from evaluation.core.challenge import Task
from evaluation.core.form import RunTime
from evaluation.core.metric import Metric, mean_metric, proportion_of

RUN_TIME = "run_time"
"""Name of the task."""
RUN_SECONDS = "run_seconds"
"""Name of the value that the task scores."""


def run_time_task(run_time: RunTime) -> Task:
    """Return the task that scores the run time.

    Metrics: the mean in seconds per case; with a target, the share of cases beyond it; with a penalty per
    second beyond the target, the mean penalty.
    """
    target = run_time.limit_seconds if run_time.target_seconds is None else run_time.target_seconds

    def row(seconds: float) -> dict[str, float]:
        seconds = min(seconds, run_time.limit_seconds)
        penalty = run_time.penalty_per_second * max(0.0, seconds - target)
        return {"seconds": seconds, "slow": float(seconds > target), "penalty": penalty}

    metrics = [mean_metric("seconds", "Run time in seconds", best=0, worst=inf, unit="s")]
    if run_time.target_seconds is not None:
        title = f"Share of cases with more than {target:g} s"
        metrics.append(Metric("slow", title, proportion_of("slow"), best=0, worst=1))
    if run_time.penalty_per_second:
        metrics.append(mean_metric("penalty", "Run time penalty", best=0, worst=inf))
    return Task(
        name=RUN_TIME,
        title="Run time",
        fields=(),
        score=lambda values, reference: row(values[RUN_SECONDS]),
        worst=lambda case, reference: row(inf),
        metrics=tuple(metrics),
    )
