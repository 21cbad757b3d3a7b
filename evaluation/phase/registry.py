"""Challenges by name, bundled or programmed at home, and the tasks of a phase.

`evaluation.challenges` is above this package, so a challenge is imported by name when it is needed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.core.challenge import Challenge, Options, Task
from evaluation.core.fault import PhaseError
from evaluation.core.form import Form, RunTime
from evaluation.phase import home
from evaluation.phase.run_time import RUN_TIME, run_time_task
from evaluation.phase.validation import read_table

_ROOMS = "evaluation.challenges"


def known_challenges() -> tuple[str, ...]:
    """Return the names of all bundled challenges, sorted."""
    rooms = importlib.import_module(_ROOMS)
    return tuple(sorted(module.name for module in pkgutil.iter_modules(rooms.__path__)))


def challenge_named(name: str) -> Challenge:
    """Return a challenge by name, bundled or loaded. Raises `PhaseError` for an unknown name."""
    if name not in known_challenges():
        if (at_home := home.loaded(name)) is not None:
            return at_home
        raise PhaseError(
            f"challenge {name!r} is unknown; known are {', '.join(known_challenges())}, and your own is "
            f"defined by a {home.FILE_NAME} beside the phase"
        )
    challenge: Challenge = importlib.import_module(f"{_ROOMS}.{name}").CHALLENGE
    return challenge


def load_home(folder: Path, name: str, file_name: str) -> None:
    """Load the challenge that is programmed beside a phase folder, unless the phase's is a bundled one.

    Raises `PhaseError` if it cannot be loaded or its name differs from ``name``, given in ``file_name``.
    """
    file = home.find_file(folder)
    if file is None or name in known_challenges():
        return
    challenge = home.load(file)
    if challenge.name != name:
        if challenge.name in known_challenges():
            raise PhaseError(f"{file}: name: expected none of a bundled challenge, found {challenge.name!r}")
        raise PhaseError(f"{file_name}: challenge: expected {challenge.name!r} as in {file}, found {name!r}")


@dataclass(frozen=True)
class Rules:
    """The challenge of a phase and the options that the phase chose."""

    challenge: Challenge
    options: Options

    def select_tasks(self, names: Iterable[str] | None, run_time: RunTime | None) -> tuple[Task, ...]:
        """Return the tasks of a phase, see `select_tasks`."""
        return select_tasks(self.challenge, self.options, names, run_time)


def rules_of(name: str, options: Mapping[str, Any]) -> Rules:
    """Return the rules of a named challenge, or of the one that the options declare.

    Raises `PhaseError` for an unknown name and a faulty declaration, `InvalidTableError` for faulty options.
    """
    challenge = challenge_named(name)
    chosen = read_table(challenge.options, options)
    return Rules(challenge.declare(chosen) if challenge.declare else challenge, chosen)


def select_tasks(
    challenge: Challenge, options: object, names: Iterable[str] | None, run_time: RunTime | None
) -> tuple[Task, ...]:
    """Return the tasks of a phase: all of the challenge, or those named, and the run time if it is scored.

    Raises `PhaseError` for an unknown name and for an empty selection.
    """
    tasks = {task.name: task for task in challenge.tasks(options)}
    wanted = list(tasks if names is None else names)
    if run_time is not None:
        wanted = [name for name in wanted if name != RUN_TIME]
    if unknown := [name for name in wanted if name not in tasks]:
        raise PhaseError(f"tasks: unknown {', '.join(map(repr, unknown))} (known are {', '.join(tasks)})")
    if not wanted:
        raise PhaseError(f"tasks: expected at least one of {', '.join(tasks)}, found none")
    selected = tuple(task for name, task in tasks.items() if name in wanted)
    return selected if run_time is None else (*selected, run_time_task(run_time))


def tasks_of_form(form: Form) -> tuple[Task, ...]:
    """Return the tasks of a form. Raises `PhaseError` for an unknown name."""
    return rules_of(form.challenge, form.options).select_tasks(form.tasks, form.run_time)
