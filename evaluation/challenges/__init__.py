"""The rules of challenges: one module each, found by its name.

The environment variable EVALUATION_CHALLENGES may name a further folder of such modules.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterable

from evaluation.model.challenge import Challenge, Task
from evaluation.model.fault import PhaseError

if folder := os.environ.get("EVALUATION_CHALLENGES"):
    __path__.append(folder)


def known_challenges() -> tuple[str, ...]:
    """Return the names of all challenges, sorted."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def challenge_named(name: str) -> Challenge:
    """Return the challenge of a module of this package. Raises `PhaseError` for an unknown name."""
    if name not in known_challenges():
        raise PhaseError(f"challenge {name!r} is unknown; known are {', '.join(known_challenges())}")
    challenge: Challenge = importlib.import_module(f"{__name__}.{name}").CHALLENGE
    return challenge


def select_tasks(challenge: Challenge, options: object, names: Iterable[str] | None) -> tuple[Task, ...]:
    """Return the tasks of a challenge, all or those named. Raises `PhaseError` for an unknown name."""
    tasks = {task.name: task for task in challenge.tasks(options)}
    chosen = list(tasks if names is None else names)
    unknown = [name for name in chosen if name not in tasks]
    if unknown or not chosen:
        raise PhaseError(f"tasks {chosen} are not some of {', '.join(tasks)}")
    return tuple(task for name, task in tasks.items() if name in chosen)
