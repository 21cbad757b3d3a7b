"""Which metrics of a phase the platform shows and ranks by."""

from __future__ import annotations

from evaluation.phase.phase import Phase


def platform_metrics(phase: Phase) -> tuple[str, ...]:
    """Return the metrics that the phase's leaderboard needs, the score first.

    What `phase.toml` names, else the components of the challenge's ranking in the phase's tasks.
    """
    tasks = {task.name for task in phase.tasks} - set(phase.challenge.optional_tasks)
    components = [name for name in phase.challenge.components if name.partition(".")[0] in tasks]
    if not components:
        components = [f"{task.name}.{task.metrics[0].name}" for task in phase.tasks]
    score = phase.config.score or components[0]
    columns = phase.config.columns if phase.config.columns is not None else components
    return (score, *(name for name in columns if name != score))
