"""The settings of a phase on the platform, within the limits of its database and schema."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_SCORE_TITLE_LENGTH = 32
MAX_COLUMN_TITLE_LENGTH = 64

# The platform's pattern allows a single line.
_ColumnTitle = Annotated[str, Field(min_length=1, max_length=MAX_COLUMN_TITLE_LENGTH, pattern=r"^[^\r\n]*$")]
_ScoreTitle = Annotated[str, Field(min_length=1, max_length=MAX_SCORE_TITLE_LENGTH, pattern=r"^[^\r\n]*$")]
_Path = Annotated[str, Field(min_length=1, max_length=255)]
_OptionalPath = Annotated[str, Field(max_length=255)]
_Order = Literal["asc", "desc"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ResultsColumn(_Strict):
    """One entry of ``extra_results_columns``; a column without an error has no ``error_path``."""

    title: _ColumnTitle
    path: _Path
    order: _Order
    error_path: _Path | None = None
    exclude_from_ranking: Literal[True] | None = None


class PhaseSettings(_Strict):
    """The settings that go with a phase's `metrics.json`, by the platform's names.

    ``score_decimal_places`` applies to every column and error that is shown. A limit of submissions counts
    within ``submission_limit_period`` days, without it in the whole phase; the times are in ISO 8601.
    """

    score_title: _ScoreTitle
    score_jsonpath: _Path
    score_error_jsonpath: _OptionalPath
    score_default_sort: _Order
    score_decimal_places: Annotated[int, Field(ge=0, le=32767)]
    extra_results_columns: list[ResultsColumn]
    scoring_method_choice: Literal["abs", "avg", "med"]
    result_display_choice: Literal["all", "rec", "bst"]
    display_all_metrics: bool
    submissions_limit_per_user_per_period: Annotated[int, Field(ge=0, le=32767)] | None = None
    submission_limit_period: Annotated[int, Field(ge=1, le=32767)] | None = None
    submissions_open_at: str | None = None
    submissions_close_at: str | None = None
