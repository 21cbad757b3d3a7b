"""`phase.toml`: the configuration of a phase, checked key by key."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from evaluation.core.challenge import Challenge, Options, Task
from evaluation.core.fault import PhaseError
from evaluation.core.form import RunTime
from evaluation.phase.registry import challenge_named, select_tasks
from evaluation.platform.machine import MIN_MEMORY_MB

FILE_NAME = "phase.toml"


# Control characters cannot be stored in the platform's database and break its logs.
_Text = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Subgroup(_Strict):
    """Results by the values of a column of the case table.

    ``bins`` cuts a numeric column: [40, 60] gives "below 40", "40 to 60" and "60 and above". With
    ``compare = "positives"`` the positives of a subgroup are compared with all negatives (ADAM, Table 11).
    """

    column: str
    bins: tuple[Annotated[float, Field(allow_inf_nan=False)], ...] = Field(default=(), strict=False)
    compare: Literal["cases", "positives"] = "cases"

    @field_validator("bins")
    @classmethod
    def _ascending(cls, bins: tuple[float, ...]) -> tuple[float, ...]:
        if any(low >= high for low, high in pairwise(bins)):
            raise ValueError("bins must ascend")
        return bins


class Limits(_Strict):
    """Limits of a run: seconds for the whole run and for one case, and memory of one worker in MB.

    ``case_seconds`` defaults to budget × workers / cases, at least 30; ``worker_memory_mb`` to an even
    share of what the machine grants.
    """

    budget_seconds: Annotated[int, Field(gt=0)] = 3300
    case_seconds: Annotated[int, Field(gt=0)] | None = None
    worker_memory_mb: Annotated[int, Field(ge=MIN_MEMORY_MB)] | None = None


class RunTimeConfig(_Strict):
    """Scores the run time of algorithms as a task of its own, ``run_time``; see `core.form.RunTime`.

    ``limit_seconds`` is the time limit of algorithms on the platform; the target and the price of each second
    beyond it are optional.
    """

    limit_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    target_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    penalty_per_second: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0

    @model_validator(mode="after")
    def _consistent(self) -> RunTimeConfig:
        if self.target_seconds is None and self.penalty_per_second:
            raise ValueError("penalty_per_second needs target_seconds")
        if self.target_seconds is not None and self.target_seconds >= self.limit_seconds:
            raise ValueError("target_seconds must be below limit_seconds")
        return self


class PhaseConfig(_Strict):
    """The keys of `phase.toml`.

    ``score`` and ``columns`` name the metrics that the platform's leaderboard shows and ranks by,
    ``unranked_columns`` those that it only shows; ``titles`` renames them there.
    ``input_socket`` names the input that identifies the case of a job, or several of which each job has one.

    Intervals need ``interval_minimum`` cases in every stratum; ``interval_maximum`` replaces the number of
    cases above which metrics whose resampling is slow have none.
    """

    challenge: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64)]
    title: _Text
    version: _Text = "1"
    submission: Literal["archive", "algorithm"]
    tasks: tuple[str, ...] | None = Field(default=None, strict=False)
    missing: Literal["reject", "worst"] | None = None
    on_deadline: Literal["fail", "worst"] = "fail"
    seed: Annotated[int, Field(ge=0)] = 0
    resamples: Annotated[int, Field(ge=0, le=100_000)] = 1000
    score: str | None = None
    columns: tuple[str, ...] | None = Field(default=None, strict=False)
    unranked_columns: tuple[str, ...] = Field(default=(), strict=False)
    titles: dict[str, _Text] = {}
    public_detail: Literal["standard", "full"] = "standard"
    publish_cases: bool = False
    digits: dict[str, Annotated[int, Field(ge=0, le=12)]] = {}
    subgroups: tuple[Subgroup, ...] = Field(default=(), strict=False)
    interval_minimum: Annotated[int, Field(ge=2)] = 10
    interval_maximum: Annotated[int, Field(ge=2)] | None = None
    subgroup_minimum: Annotated[int, Field(ge=1)] = 10
    sockets: dict[str, str] = {}
    input_socket: str | Annotated[tuple[str, ...], Field(strict=False)] = ()
    run_time: RunTimeConfig | None = None
    options: dict[str, Any] = {}
    limits: Limits = Limits()

    @property
    def input_sockets(self) -> tuple[str, ...]:
        """The sockets of ``input_socket``; empty if any image or file may identify the case of a job."""
        return (self.input_socket,) if isinstance(self.input_socket, str) else self.input_socket

    @property
    def scored_run_time(self) -> RunTime | None:
        """How the run time of algorithms is scored, None if it is not."""
        return None if self.run_time is None else RunTime(**self.run_time.model_dump())

    @model_validator(mode="after")
    def _run_time_of_algorithms(self) -> PhaseConfig:
        if self.run_time is not None and self.submission != "algorithm":
            raise ValueError("run_time needs submission = 'algorithm', found 'archive'")
        return self

    @field_validator("subgroups")
    @classmethod
    def _each_column_once(cls, subgroups: tuple[Subgroup, ...]) -> tuple[Subgroup, ...]:
        columns = [subgroup.column for subgroup in subgroups]
        if duplicates := sorted({column for column in columns if columns.count(column) > 1}):
            raise ValueError(f"duplicate column {', '.join(map(repr, duplicates))}")
        return subgroups


def read_config(folder: Path) -> PhaseConfig:
    """Return the configuration of a phase folder. Raises `PhaseError` listing every fault."""
    path = folder / FILE_NAME
    try:
        return PhaseConfig.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise PhaseError(f"{FILE_NAME}: not found in {folder}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise PhaseError(f"{FILE_NAME}: cannot be read: {error}") from None
    except ValidationError as error:
        raise PhaseError(*describe_validation(FILE_NAME, error)) from None


def describe_validation(file: str, error: ValidationError, prefix: str = "") -> list[str]:
    """Return one line for every fault that pydantic found: file, key, what was expected and found."""
    problems = []
    for fault in error.errors():
        key = prefix + ".".join(map(str, fault["loc"]))
        if fault["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            problems.append(f"{file}: unknown key {key}")
        elif fault["type"] == "missing":
            problems.append(f"{file}: {key} is missing")
        else:
            message = fault["msg"].removeprefix("Value error, ")
            message = message[0].lower() + message[1:]
            problems.append(f"{file}: {key}: {message} (got {fault['input']!r})")
    return problems


@dataclass(frozen=True)
class Configuration:
    """The configuration of a phase folder: keys, challenge, options, and the tasks that have fields."""

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
    tasks = select_tasks(challenge, options, config.tasks, config.scored_run_time)
    return Configuration(config, challenge, options, tuple(task for task in tasks if task.fields))
