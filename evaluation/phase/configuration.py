"""A configuration with the challenge that it chooses or declares, its options and its tasks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evaluation.core.challenge import Challenge, Options, Task
from evaluation.core.fault import PhaseError
from evaluation.phase.config import FILE_NAME, PhaseConfig, read_config
from evaluation.phase.registry import Rules, challenge_named, load_home, rules_of
from evaluation.phase.validation import InvalidTableError


@dataclass(frozen=True)
class Configuration:
    """The configuration of a phase folder: keys, challenge, options, and the tasks that have fields."""

    config: PhaseConfig
    challenge: Challenge
    options: Options
    tasks: tuple[Task, ...]


def read_configuration(folder: Path, only: str | None = None, file: str = FILE_NAME) -> Configuration:
    """Return the configuration in a folder. Raises `PhaseError`, also for a challenge other than ``only``."""
    config = read_config(folder, file)
    if only is not None and config.challenge != only:
        raise PhaseError(f"{file}: challenge: expected {only!r}, found {config.challenge!r}")
    rules = chosen_rules(config, folder, file)
    tasks = rules.select_tasks(config.tasks, config.scored_run_time)
    return Configuration(config, rules.challenge, rules.options, tuple(task for task in tasks if task.fields))


def chosen_rules(config: PhaseConfig, folder: Path, file: str = FILE_NAME) -> Rules:
    """Return the rules that a configuration chooses or declares. Raises `PhaseError` with every fault.

    ``folder`` is the phase folder, beside which a challenge may be programmed.
    """
    load_home(folder, config.challenge, file)
    try:
        return rules_of(config.challenge, config.options)
    except InvalidTableError as error:
        raise PhaseError(
            *error.problems(file, challenge_named(config.challenge).options.key_prefix)
        ) from None
    except PhaseError as error:
        raise PhaseError(*(f"{file}: {problem}" for problem in error.problems)) from None
