"""The metrics of a phase that the platform's leaderboard shows and ranks by."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.core.challenge import Challenge, Task
from evaluation.phase.config import PhaseConfig


def platform_metrics(config: PhaseConfig, challenge: Challenge, tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the metrics ("task.metric") and composites that the leaderboard ranks, the score first.

    These are the metrics that `phase.toml` names, or else the challenge's score and the components of its
    ranking in these tasks. Metrics that are shown without a rank are left out.
    """
    compulsory = [task for task in tasks if not task.optional]
    known = {f"{task.name}.{metric.name}" for task in compulsory for metric in task.metrics}
    components = [name for name in challenge.components if name in known]
    if not components:
        components = [f"{task.name}.{task.metrics[0].name}" for task in tasks]
    known |= {composite.name for composite in challenge.composites_of(compulsory)}
    default = challenge.score if challenge.score in known else components[0]
    columns = components if config.columns is None else config.columns
    ranked = dict.fromkeys(name for name in columns if name not in (config.unranked_columns or ()))
    return tuple(dict.fromkeys((config.score or default, *ranked)))


def needed_metrics(config: PhaseConfig, challenge: Challenge, tasks: Sequence[Task]) -> set[str]:
    """Return the metrics without which the leaderboard drops a submission, also the parts of composites."""
    composites = {composite.name: composite.metrics for composite in challenge.composites}
    wanted = platform_metrics(config, challenge, tasks)
    return {metric for name in wanted for metric in composites.get(name, (name,))}


def unranked_metrics(config: PhaseConfig, challenge: Challenge, tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the metrics and composites that the leaderboard shows without ranking by them."""
    ranked = platform_metrics(config, challenge, tasks)
    shown = config.unranked_columns
    if shown is None:
        shown = tuple(composite.name for composite in challenge.composites_of(tasks))
    return tuple(name for name in shown if name not in ranked)


def optional_tasks(config: PhaseConfig, challenge: Challenge, tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the tasks that a submission may leave out.

    These are the tasks that the phase names. By default, a task is optional if the challenge says so and the
    leaderboard needs none of its metrics: the platform drops a submission that lacks one of them.
    """
    if config.optional_tasks is not None:
        return tuple(
            task.name
            for task in tasks
            if config.optional_tasks == "all" or task.name in config.optional_tasks
        )
    needed = {name.partition(".")[0] for name in needed_metrics(config, challenge, tasks)}
    return tuple(task.name for task in tasks if task.optional and task.name not in needed)
