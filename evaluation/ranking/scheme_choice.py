"""The scheme of a ranking by its name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

from evaluation.core.scheme import MethodName, Scheme
from evaluation.phase.config import PhaseConfig, read_config
from evaluation.phase.leaderboard_metrics import platform_metrics
from evaluation.ranking.results import PhaseResults, RankingError
from evaluation.ranking.scheme_file import qualified, read_scheme
from evaluation.ranking.schemes import PLATFORM_METHODS, platform_scheme, scheme_of


def scheme_named(name: str, results: PhaseResults, phase_folder: Path | None = None) -> Scheme:
    """Return a scheme: "challenge", a method of ranking, one of the platform's, or else a TOML file.

    ``phase_folder`` tells the score and columns for the platform's schemes. Raises `RankingError`.
    """
    if name == "challenge":
        return scheme_of(results.challenge, results.options)
    if name in get_args(MethodName):
        own = scheme_of(results.challenge, results.options)
        return replace(
            own,
            method=replace(own.method, name=next(known for known in get_args(MethodName) if known == name)),
        )
    if name not in PLATFORM_METHODS:
        return qualified(read_scheme(Path(name)), [task.name for task in results.tasks])
    if phase_folder is not None:
        config = read_config(phase_folder)
        if config.name != results.phase:
            raise RankingError(f"{phase_folder}: is {config.name}, the results are of {results.phase}")
    else:
        config = PhaseConfig(
            challenge=results.challenge.name, name=results.phase, title="", submission="archive"
        )
    return platform_scheme(name, platform_metrics(config, results.challenge, results.tasks))
