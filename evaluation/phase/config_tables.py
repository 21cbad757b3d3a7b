"""The tables inside `phase.toml`: subgroups, submissions, run time and limits."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, AwareDatetime, FiniteFloat, model_validator

from evaluation.core.keys import Key, KeyTable, Listed
from evaluation.platform.machine import MIN_MEMORY_MB


def _ascending(bins: tuple[float, ...]) -> tuple[float, ...]:
    if any(low >= high for low, high in pairwise(bins)):
        raise ValueError("bins must ascend")
    return bins


class Subgroup(KeyTable):
    """Results by the values of a column of the case table."""

    column: str = Key(
        description="Name of the column in `cases.csv`, or of one that the challenge derives from labels. "
        "JustRAIGS has `agreed` and a label, such as `agreed disc hemorrhages`, with the values `present`, "
        '`absent` and `not agreed` in referable eyes; results by it need `audience = "organiser"`.'
    )
    bins: Annotated[Listed[FiniteFloat], AfterValidator(_ascending)] = Key(
        default=(),
        description='Ascending bounds that cut a column of numbers: `[40, 60]` gives the subgroups "below '
        '40", "40 to 60" and "60 and above". Default: each value of the column is a subgroup.',
    )
    compare: Literal["cases", "positives"] = Key(
        default="cases",
        description="`cases`: a subgroup is scored on its own cases. `positives`: the positive cases of the "
        "subgroup are compared with the negative cases of the whole phase, for metrics such as the AUC.",
    )
    audience: Literal["public", "organiser"] = Key(
        default="public",
        description="`organiser`: the figures go into the organiser's own file and not into `metrics.json`.",
    )
    minimum: int | None = Key(
        default=None,
        description="Smallest number of cases (for an AUC, of each class) of a subgroup in the organiser's "
        'own file. Only with `audience = "organiser"`: public subgroups have `subgroup_minimum`. Default: 1.',
        ge=1,
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.audience == "public" and self.minimum is not None:
            raise ValueError("minimum needs audience = 'organiser', else set subgroup_minimum")
        return self


class Limits(KeyTable):
    """Limits on the time and memory of one evaluation."""

    budget_seconds: int = Key(
        default=3300,
        description="Seconds for the whole evaluation. Keep it below the phase's time limit on the platform, "
        "so that the evaluation ends by itself and with a message.",
        gt=0,
    )
    case_seconds: int | None = Key(
        default=None,
        description="Seconds for one case. Default: `budget_seconds` × workers / cases, at least 30.",
        gt=0,
    )
    worker_memory_mb: int | None = Key(
        default=None,
        description="Memory of one worker process in MB. Default: an even share of the machine's memory.",
        ge=MIN_MEMORY_MB,
    )


class Submissions(KeyTable):
    """How many submissions a phase takes, and when; the platform enforces it, see `settings`."""

    limit: int | None = Key(
        default=None,
        description="Number of submissions of a participant or team in a period. `0`: the phase is closed.",
        ge=0,
    )
    period_days: int | None = Key(
        default=None,
        description="Length of the period in days: `1` is a limit per day. Default: the whole phase.",
        ge=1,
    )
    opens_at: AwareDatetime | None = Key(
        default=None,
        description="Since when submissions are accepted, with its offset: `2024-01-15T00:00:00Z`.",
    )
    closes_at: AwareDatetime | None = Key(
        default=None, description="The deadline, with its offset: `2024-03-15T23:59:00+01:00`."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.period_days is not None and self.limit is None:
            raise ValueError("period_days needs limit")
        if self.opens_at and self.closes_at and self.opens_at >= self.closes_at:
            raise ValueError("opens_at must be before closes_at")
        return self


class RunTimeConfig(KeyTable):
    """Scores the run time of algorithms as a task of its own, see `core.form.RunTime`."""

    limit_seconds: FiniteFloat = Key(
        description="Time limit of the algorithms on the platform. A case without a result counts this much.",
        gt=0,
    )
    target_seconds: FiniteFloat | None = Key(
        default=None,
        description="Reports the share of cases that took longer than this. Below `limit_seconds`.",
        gt=0,
    )
    penalty_per_second: FiniteFloat = Key(
        default=0.0,
        description="Reports the mean penalty: this much for every second beyond `target_seconds`.",
        ge=0,
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.target_seconds is None and self.penalty_per_second:
            raise ValueError("penalty_per_second needs target_seconds")
        if self.target_seconds is not None and self.target_seconds >= self.limit_seconds:
            raise ValueError("target_seconds must be below limit_seconds")
        return self
