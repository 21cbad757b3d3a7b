"""`phase.toml`: the configuration of a phase, checked key by key.

`organiser/templates/phase-keys.toml` says in words what each key means.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, AwareDatetime, FiniteFloat, model_validator

from evaluation.core.fault import PhaseError
from evaluation.core.form import Interface, RunTime
from evaluation.core.keys import Key, KeyTable, Listed
from evaluation.core.trouble import raise_trouble_of
from evaluation.phase.validation import InvalidTableError, read_table
from evaluation.platform.machine import MIN_MEMORY_MB
from evaluation.stats.figure import IntervalChoice


def _ascending(bins: tuple[float, ...]) -> tuple[float, ...]:
    if any(low >= high for low, high in pairwise(bins)):
        raise ValueError("bins must ascend")
    return bins


class Subgroup(KeyTable):
    """Results by the values of a column of the case table."""

    column: str
    bins: Annotated[Listed[FiniteFloat], AfterValidator(_ascending)] = ()
    compare: Literal["cases", "positives"] = "cases"
    audience: Literal["public", "organiser"] = "public"
    minimum: int | None = Key(default=None, ge=1)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.audience == "public" and self.minimum is not None:
            raise ValueError("minimum needs audience = 'organiser', else set subgroup_minimum")
        return self


class Limits(KeyTable):
    """Limits on the time and memory of one evaluation."""

    budget_seconds: int = Key(default=3300, gt=0)
    case_seconds: int | None = Key(default=None, gt=0)
    worker_memory_mb: int | None = Key(default=None, ge=MIN_MEMORY_MB)


class Submissions(KeyTable):
    """How many submissions a phase takes, and when; the platform enforces it, see `settings`."""

    limit: int | None = Key(default=None, ge=0, le=2**31 - 1)
    period_days: int | None = Key(default=None, ge=1, le=2**15 - 1)
    opens_at: AwareDatetime | None = None
    closes_at: AwareDatetime | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.period_days is not None and self.limit is None:
            raise ValueError("period_days needs limit")
        if self.opens_at and self.closes_at and self.opens_at >= self.closes_at:
            raise ValueError("opens_at must be before closes_at")
        return self


class InterfaceTable(KeyTable):
    """One set of inputs of the jobs of a phase, and the fields of their outputs.

    A phase with several interfaces names the interface of each case in the column `interface` of `cases.csv`.
    """

    inputs: Listed[str] = Key(min_length=1)
    fields: Listed[str] | None = None
    input_socket: str | Listed[str] = ()
    match: Literal["name", "value"] = "name"

    @property
    def input_sockets(self) -> tuple[str, ...]:
        """The sockets of ``input_socket``."""
        return (self.input_socket,) if isinstance(self.input_socket, str) else self.input_socket

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if unknown := [socket for socket in self.input_sockets if socket not in self.inputs]:
            raise ValueError(f"input_socket: {', '.join(map(repr, unknown))} is not among the inputs")
        if self.match == "value" and not self.input_sockets and len(self.inputs) > 1:
            raise ValueError("match = 'value' needs input_socket")
        if self.match == "name" and len(self.input_sockets) > 1:
            raise ValueError("input_socket: several need match = 'value'")
        return self


class RunTimeConfig(KeyTable):
    """Scores the run time of algorithms as a task of its own, see `core.form.RunTime`."""

    limit_seconds: FiniteFloat = Key(gt=0)
    target_seconds: FiniteFloat | None = Key(default=None, gt=0)
    penalty_per_second: FiniteFloat = Key(default=0.0, ge=0)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.target_seconds is None and self.penalty_per_second:
            raise ValueError("penalty_per_second needs target_seconds")
        if self.target_seconds is not None and self.target_seconds >= self.limit_seconds:
            raise ValueError("target_seconds must be below limit_seconds")
        return self


DECLARED = "declared"
"""The name of the challenge whose options declare the challenge itself."""

# The options of that challenge, written without the table ``[options]`` around them.
TABLES = ("fields", "tasks", "ranking", "composites")
FUNCTIONS = "own_metrics"
"""The key of the description of `metrics.py`, which stands in no file: see `registry.functions_beside`."""


def moved_declaration(content: Mapping[str, Any], file: str) -> dict[str, Any]:
    """Return the content of a `phase.toml` with the tables of a declaration moved into its options.

    Raises `PhaseError` if they stand beside another challenge, or beside options.
    """
    challenge = content.get("challenge", DECLARED if "fields" in content else None)
    # Anything else than a table of tasks is meant as a selection of a challenge's own.
    tables = {key: content[key] for key in TABLES if key in content}
    if not isinstance(tables.get("tasks"), dict):
        tables.pop("tasks", None)
    if challenge == DECLARED and "options" in content:
        raise PhaseError(f"{file}: options: expected none, since a declared challenge has no others")
    if challenge != DECLARED and tables:
        keys = ", ".join(f"[{key}]" for key in tables)
        raise PhaseError(f"{file}: {keys}: expected only without 'challenge', found challenge {challenge!r}")
    if challenge != DECLARED:
        return dict(content)
    others = {key: value for key, value in content.items() if key not in tables}
    return {**others, "challenge": challenge, "options": tables}


# --- `phase.toml`: the configuration of a phase, checked key by key ---

FILE_NAME = "phase.toml"


# Control characters cannot be stored in the platform's database and break its logs.
_Text = Annotated[str, Key(pattern=r"^[^\x00-\x1f\x7f]*$")]

_Digits = Annotated[int, Key(ge=0, le=12)]

OutputContent = Literal[
    "chart-metrics", "chart-subgroups", "chart-roc", "metrics", "pdf", "score", "text", "csv"
]


RESULT_FILES = ("metrics.json", "cases.json", "rejected.txt")
"""Files of a result that no output of a phase may replace."""


def is_path_of_output(path: str) -> bool:
    """Return whether a path may be an output: relative, in the folder, no file of a result."""
    is_inside = "\\" not in path and not {"", ".", ".."} & {*path.split("/")}
    return path.isprintable() and is_inside and path not in RESULT_FILES


def _path_of_output(path: str) -> str:
    if not is_path_of_output(path):
        raise ValueError(f"expected a relative path other than {', '.join(RESULT_FILES)}, found {path!r}")
    return path


def _each_column_once(subgroups: tuple[Subgroup, ...]) -> tuple[Subgroup, ...]:
    columns = [subgroup.column for subgroup in subgroups]
    if duplicates := sorted({column for column in columns if columns.count(column) > 1}):
        raise ValueError(f"duplicate column {', '.join(map(repr, duplicates))}")
    return subgroups


class PlatformTable(KeyTable):
    """The leaderboard of the phase on the platform, and its output sockets."""

    score: str | None = None
    columns: Listed[str] | None = None
    unranked_columns: Listed[str] | None = None
    scoring_method: Literal["absolute", "mean", "median"] | None = None
    counts: Literal["best", "last"] | None = None
    sockets: dict[str, str] = Key(default={})

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.score in (self.unranked_columns or ()):
            raise ValueError(f"unranked_columns: the score, {self.score!r}, is always ranked")
        return self


def name_from(text: str) -> str:
    """Return a text, such as a folder's name, as the name of a phase; empty without letters and digits."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST_NAME]


_LONGEST_NAME = 64


class PhaseConfig(KeyTable):
    """The keys of `phase.toml`; their descriptions generate `docs/phase.md`."""

    challenge: str = Key(pattern=r"^[a-z][a-z0-9_]*$")
    name: str = Key(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=_LONGEST_NAME)
    title: _Text = ""
    version: _Text = "1"
    submission: Literal["archive", "algorithm"] = "archive"
    tasks: Listed[str] | None = None
    missing: Literal["reject", "worst"] | None = None
    on_deadline: Literal["fail", "worst"] = "fail"
    seed: int = Key(default=0, ge=0)
    resamples: int = Key(default=1000, ge=0, le=100_000)
    optional_tasks: Literal["all"] | Listed[str] | None = None
    titles: dict[str, _Text] = Key(default={})
    public_detail: Literal["value", "standard", "full"] = "standard"
    metric_detail: dict[str, Literal["none", "value"]] = Key(default={})
    publish_cases: bool = False
    outputs: dict[Annotated[str, AfterValidator(_path_of_output)], OutputContent] = Key(default={})
    value_digits: _Digits = 4
    spread_digits: _Digits = 3
    digits: dict[str, _Digits] = Key(default={})
    learnable_labels: Listed[str] = ()
    subgroups: Annotated[Listed[Subgroup], AfterValidator(_each_column_once)] = ()
    publish_label_subgroups: Listed[str] = ()
    interval_minimum: int = Key(default=10, ge=2)
    interval_maximum: int | None = Key(default=None, ge=2)
    interval: IntervalChoice = "field"
    subgroup_minimum: int = Key(default=10, ge=1)
    input_socket: str | Listed[str] = ()
    interfaces: dict[Annotated[str, Key(pattern=r"^[a-z0-9][a-z0-9_-]*$")], InterfaceTable] = Key(default={})
    provided: Listed[_Text] | None = None
    run_time: RunTimeConfig | None = None
    platform: PlatformTable = PlatformTable()
    submissions: Submissions = Submissions()
    options: dict[str, Any] = Key(default={})
    limits: Limits = Limits()

    @property
    def input_sockets(self) -> tuple[str, ...]:
        """The sockets of ``input_socket``; empty if any image or file may identify the case of a job."""
        return (self.input_socket,) if isinstance(self.input_socket, str) else self.input_socket

    def interfaces_of(self, fields: Iterable[str]) -> tuple[Interface, ...]:
        """Return the interfaces of a phase with the named fields."""
        known = tuple(fields)
        chosen = {
            name: table.input_sockets or table.inputs[: len(table.inputs) == 1]
            for name, table in self.interfaces.items()
        }
        return tuple(
            Interface(
                name=name,
                inputs=table.inputs,
                fields=known if table.fields is None else table.fields,
                input_socket=chosen[name][0] if len(chosen[name]) == 1 else chosen[name] or "",
                by_value=table.match == "value",
            )
            for name, table in self.interfaces.items()
        )

    @property
    def scored_run_time(self) -> RunTime | None:
        """How the run time of algorithms is scored, None if it is not."""
        return None if self.run_time is None else RunTime(**vars(self.run_time))

    def smallest_subgroup(self, subgroup: Subgroup) -> int:
        """Return the smallest number of cases of a subgroup, or of each of its classes, that is reported."""
        return self.subgroup_minimum if subgroup.audience == "public" else subgroup.minimum or 1

    @model_validator(mode="before")
    @classmethod
    def _titled(cls, content: Any) -> Any:
        if isinstance(content, dict) and "title" not in content and "name" in content:
            return {**content, "title": content["name"]}
        return content

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.run_time is not None and self.submission != "algorithm":
            raise ValueError("run_time needs submission = 'algorithm', found 'archive'")
        if self.interfaces and self.submission != "algorithm":
            raise ValueError("interfaces need submission = 'algorithm', found 'archive'")
        if self.interfaces and self.input_sockets:
            raise ValueError("input_socket: expected none beside interfaces, each of which has its own")
        inputs = [frozenset(table.inputs) for table in self.interfaces.values()]
        if len(set(inputs)) < len(inputs):
            raise ValueError("interfaces: expected a set of inputs of its own for each")
        public = [subgroup.column for subgroup in self.subgroups if subgroup.audience == "public"]
        if unknown := [column for column in self.publish_label_subgroups if column not in public]:
            raise ValueError(f"publish_label_subgroups: {', '.join(unknown)} is not a public subgroup")
        return self


def folders_with(file: str, folder: Path) -> list[str]:
    """Return the names of the folders in a folder that have a file, sorted."""
    return sorted(found.parent.name for found in folder.glob(f"*/{file}"))


def read_config(folder: Path, file: str = FILE_NAME) -> PhaseConfig:
    """Return the configuration of a phase folder. Raises `PhaseError` listing every fault."""
    path = folder / file
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        return read_table(PhaseConfig, moved_declaration(content, file))
    except FileNotFoundError:
        inner = ", ".join(f"{name}/" for name in folders_with(file, folder)[:3])
        raise PhaseError(f"{file}: not found in {folder}{inner and f'; found in {inner}'}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, OSError) as error:
        raise_trouble_of(error, "read", path)
        raise PhaseError(f"{file}: cannot be read: {error}") from None
    except InvalidTableError as error:
        raise PhaseError(*error.problems(file)) from None
