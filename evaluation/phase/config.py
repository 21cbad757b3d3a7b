"""`phase.toml`: what an organiser writes about a phase, checked key by key."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from evaluation.core.challenge import Challenge, Options, Task
from evaluation.core.fault import PhaseError
from evaluation.phase.registry import challenge_named, select_tasks
from evaluation.platform.machine import MIN_MEMORY_MB

FILE_NAME = "phase.toml"


# What a database or a log cannot hold: control characters.
_Text = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]*$")]

_Digits = Annotated[int, Field(ge=0, le=12)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Subgroup(_Strict):
    """Results by the values of a column of the case table.

    ``bins`` cuts a numeric column: [40, 60] gives "below 40", "40 to 60" and "60 and above". With
    ``compare = "positives"`` the positives of a subgroup are set against all negatives (ADAM, Table 11). Those for
    the ``audience`` "organiser" are left out of metrics.json.
    """

    column: str
    bins: tuple[Annotated[float, Field(allow_inf_nan=False)], ...] = Field(default=(), strict=False)
    compare: Literal["cases", "positives"] = "cases"
    audience: Literal["public", "organiser"] = "public"

    @field_validator("bins")
    @classmethod
    def _ascending(cls, bins: tuple[float, ...]) -> tuple[float, ...]:
        if any(low >= high for low, high in pairwise(bins)):
            raise ValueError("bins must ascend")
        return bins


class Limits(_Strict):
    """Bounds of a run: seconds for the whole and for one case, and memory of one worker in MB.

    ``case_seconds`` defaults to budget × workers / cases, at least 30; ``worker_memory_mb`` to an even
    share of what the machine grants.
    """

    budget_seconds: Annotated[int, Field(gt=0)] = 3300
    case_seconds: Annotated[int, Field(gt=0)] | None = None
    worker_memory_mb: Annotated[int, Field(ge=MIN_MEMORY_MB)] | None = None


class RunTimeConfig(_Strict):
    """How long algorithms ran becomes a task of its own, ``run_time``; see `core.form.RunTime`.

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
    ``input_socket`` names the input, or several of which every job has one, that tells a job's case.

    Public values have ``value_digits`` decimals, intervals and spreads ``spread_digits``; ``digits`` replaces
    the first for single metrics, and bounds the second. ``publish_label_subgroups`` names the columns of
    subgroups that are public although they give labels away; without it a phase with such is not sealed.

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
    value_digits: _Digits = 4
    spread_digits: _Digits = 3
    digits: dict[str, _Digits] = {}
    subgroups: tuple[Subgroup, ...] = Field(default=(), strict=False)
    publish_label_subgroups: tuple[str, ...] = Field(default=(), strict=False)
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
        """The sockets of ``input_socket``, none where any image or file tells a job's case."""
        return (self.input_socket,) if isinstance(self.input_socket, str) else self.input_socket

    @model_validator(mode="after")
    def _of_algorithms(self) -> PhaseConfig:
        if self.run_time is not None and self.submission != "algorithm":
            raise ValueError("run_time: only algorithms have one, and submission is 'archive'")
        return self

    @model_validator(mode="after")
    def _published_subgroups_exist(self) -> PhaseConfig:
        public = [subgroup.column for subgroup in self.subgroups if subgroup.audience == "public"]
        if unknown := [column for column in self.publish_label_subgroups if column not in public]:
            raise ValueError(f"publish_label_subgroups: {', '.join(unknown)} is not a public subgroup")
        return self

    @field_validator("subgroups")
    @classmethod
    def _each_column_once(cls, subgroups: tuple[Subgroup, ...]) -> tuple[Subgroup, ...]:
        columns = [subgroup.column for subgroup in subgroups]
        if twice := sorted({column for column in columns if columns.count(column) > 1}):
            raise ValueError(f"column {', '.join(twice)} stands more than once")
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
