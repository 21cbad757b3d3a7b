"""Which metrics of a phase the platform shows and ranks by."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.model.challenge import Challenge, Task
from evaluation.phase.config import PhaseConfig


def platform_metrics(config: PhaseConfig, challenge: Challenge, tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the metrics that the phase's leaderboard needs, each once, the score first.

    What `phase.toml` names, else the components of the challenge's ranking in the phase's tasks.
    """
    compulsory = {task.name for task in tasks} - set(challenge.optional_tasks)
    components = [name for name in challenge.components if name.partition(".")[0] in compulsory]
    if not components:
        components = [f"{task.name}.{task.metrics[0].name}" for task in tasks]
    columns = components if config.columns is None else config.columns
    return tuple(dict.fromkeys((config.score or components[0], *columns)))


def optional_tasks(config: PhaseConfig, challenge: Challenge, tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the tasks that a submission may leave out.

    Those that the challenge calls optional, unless the leaderboard needs them: without the value of one of
    its metrics the platform would drop the submission from it.
    """
    needed = {name.partition(".")[0] for name in platform_metrics(config, challenge, tasks)}
    return tuple(
        task.name for task in tasks if task.name in challenge.optional_tasks and task.name not in needed
    )
