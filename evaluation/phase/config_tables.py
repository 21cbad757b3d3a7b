"""The tables inside `phase.toml`: subgroups, run time and limits."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from evaluation.platform.machine import MIN_MEMORY_MB


class StrictTable(BaseModel):
    """A table whose unknown keys are errors, and whose values are not converted from other types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Subgroup(StrictTable):
    """Results by the values of a column of the case table."""

    column: str = Field(
        description="Name of the column in `cases.csv`, or of one that the challenge derives from labels. "
        "JustRAIGS has `agreed` and a label, such as `agreed disc hemorrhages`, with the values `present`, "
        "`absent` and `not agreed` in referable eyes; results by it need "
        '`audience = "organiser"`.'
    )
    bins: tuple[Annotated[float, Field(allow_inf_nan=False)], ...] = Field(
        default=(),
        strict=False,
        description="Ascending bounds that cut a column of numbers: `[40, 60]` gives the subgroups "
        '"below 40", "40 to 60" and "60 and above". Default: each value of the column is a subgroup.',
    )
    compare: Literal["cases", "positives"] = Field(
        default="cases",
        description="`cases`: a subgroup is scored on its own cases. `positives`: the positive cases of "
        "the subgroup are compared with the negative cases of the whole phase, for metrics such as the "
        "AUC.",
    )
    audience: Literal["public", "organiser"] = Field(
        default="public",
        description="`organiser`: the figures go into the organiser's own file and not into `metrics.json`.",
    )
    minimum: Annotated[int, Field(ge=1)] = Field(
        default=1,
        description="Smallest number of cases (for an AUC, of each class) of a subgroup in the organiser's "
        'own file. Only with `audience = "organiser"`: public subgroups have `subgroup_minimum`.',
    )

    @field_validator("bins")
    @classmethod
    def _ascending(cls, bins: tuple[float, ...]) -> tuple[float, ...]:
        if any(low >= high for low, high in pairwise(bins)):
            raise ValueError("bins must ascend")
        return bins

    @model_validator(mode="after")
    def _minimum_of_the_organiser(self) -> Subgroup:
        if self.audience == "public" and "minimum" in self.model_fields_set:
            raise ValueError("minimum needs audience = 'organiser', else set subgroup_minimum")
        return self


class Limits(StrictTable):
    """Limits on the time and memory of one evaluation."""

    budget_seconds: Annotated[int, Field(gt=0)] = Field(
        default=3300,
        description="Seconds for the whole evaluation. Keep it below the phase's time limit on the "
        "platform, so that the evaluation ends by itself and with a message.",
    )
    case_seconds: Annotated[int, Field(gt=0)] | None = Field(
        default=None,
        description="Seconds for one case. Default: `budget_seconds` × workers / cases, at least 30.",
    )
    worker_memory_mb: Annotated[int, Field(ge=MIN_MEMORY_MB)] | None = Field(
        default=None,
        description="Memory of one worker process in MB. Default: an even share of the machine's memory.",
    )


class RunTimeConfig(StrictTable):
    """Scores the run time of algorithms as a task of its own, see `core.form.RunTime`."""

    limit_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        description="Time limit of the algorithms on the platform. A case without a result counts this much."
    )
    target_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="Reports the share of cases that took longer than this. Below `limit_seconds`.",
    )
    penalty_per_second: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0.0,
        description="Reports the mean penalty: this much for every second beyond `target_seconds`.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> RunTimeConfig:
        if self.target_seconds is None and self.penalty_per_second:
            raise ValueError("penalty_per_second needs target_seconds")
        if self.target_seconds is not None and self.target_seconds >= self.limit_seconds:
            raise ValueError("target_seconds must be below limit_seconds")
        return self
