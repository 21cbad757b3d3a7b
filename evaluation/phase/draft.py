"""The `phase.toml` of a phase that is still to be built."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from evaluation.core.challenge import Challenge, Options, Task
from evaluation.core.fault import PhaseError
from evaluation.phase.config import FILE_NAME, PhaseConfig, describe_validation, read_config
from evaluation.phase.registry import challenge_named, select_tasks


@dataclass(frozen=True)
class Configuration:
    """What a phase is to be: its keys, its challenge with options, and its tasks."""

    config: PhaseConfig
    challenge: Challenge
    options: Options
    tasks: tuple[Task, ...]


def read_configuration(folder: Path, only: str | None = None) -> Configuration:
    """Return the configuration in a folder. Raises `PhaseError`, also for a challenge other than ``only``."""
    config = read_config(folder)
    if only is not None and config.challenge != only:
        raise PhaseError(f"{FILE_NAME}: challenge: expected {only!r}, found {config.challenge!r}")
    challenge = challenge_named(config.challenge)
    try:
        options = challenge.options.model_validate(config.options)
    except ValidationError as error:
        raise PhaseError(*describe_validation(FILE_NAME, error, "options.")) from None
    return Configuration(config, challenge, options, select_tasks(challenge, options, config.tasks))
