"""Challenges found by their names, and the tasks of a phase.

A challenge stands on a higher floor than the phases that name it: it is imported when it is asked for.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable

from evaluation.core.challenge import Challenge, Task
from evaluation.core.fault import PhaseError
from evaluation.core.form import Form, RunTime
from evaluation.phase.run_time import RUN_TIME, run_time_task

_ROOMS = "evaluation.challenges"


def known_challenges() -> tuple[str, ...]:
    """Return the names of all challenges, sorted."""
    rooms = importlib.import_module(_ROOMS)
    return tuple(sorted(module.name for module in pkgutil.iter_modules(rooms.__path__)))


def challenge_named(name: str) -> Challenge:
    """Return the challenge of that name. Raises `PhaseError` for an unknown one."""
    if name not in known_challenges():
        raise PhaseError(f"challenge {name!r} is unknown; known are {', '.join(known_challenges())}")
    challenge: Challenge = importlib.import_module(f"{_ROOMS}.{name}").CHALLENGE
    return challenge


def select_tasks(challenge: Challenge, options: object, names: Iterable[str] | None) -> tuple[Task, ...]:
    """Return the tasks of a challenge, all or those named. Raises `PhaseError` for an unknown name."""
    tasks = {task.name: task for task in challenge.tasks(options)}
    chosen = list(tasks if names is None else names)
    unknown = [name for name in chosen if name not in tasks]
    if unknown or not chosen:
        raise PhaseError(f"tasks {chosen} are not some of {', '.join(tasks)}")
    return tuple(task for name, task in tasks.items() if name in chosen)


def tasks_of_form(form: Form) -> tuple[Task, ...]:
    """Return the tasks of a form. Raises `PhaseError` for unknown names."""
    challenge = challenge_named(form.challenge)
    options = challenge.options.model_validate(form.options)
    return phase_tasks(challenge, options, form.tasks, form.run_time)


def phase_tasks(
    challenge: Challenge, options: object, names: Iterable[str] | None, run_time: RunTime | None
) -> tuple[Task, ...]:
    """Return the tasks of a phase: the challenge's, all or those named, and the run time where it is scored.

    Raises `PhaseError` for an unknown name.
    """
    chosen = None if names is None else [name for name in names if run_time is None or name != RUN_TIME]
    tasks = select_tasks(challenge, options, chosen)
    return tasks if run_time is None else (*tasks, run_time_task(run_time))
