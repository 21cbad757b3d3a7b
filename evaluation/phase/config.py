"""`phase.toml`: the configuration of a phase, checked key by key."""

import tomllib
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, AwareDatetime, FiniteFloat, model_validator

from evaluation.core.fault import PhaseError
from evaluation.core.form import Interface, RunTime
from evaluation.core.keys import Key, KeyTable, Listed
from evaluation.core.metric import IntervalMethod
from evaluation.core.trouble import raise_trouble_of
from evaluation.phase.validation import InvalidTableError, read_table
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
        description="Seconds for one case. Default: `budget_seconds` × workers / cases, at least 60.",
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
        description="Number of submissions that one person may make in a period; the platform counts neither "
        "teams nor submissions whose evaluation failed. `0`: the phase is closed. Default: the platform's, "
        "which is 0.",
        ge=0,
        le=2**31 - 1,
    )
    period_days: int | None = Key(
        default=None,
        description="Length of the period in days: `1` is a limit per day. Default: all time, for which the "
        "platform's own field must be emptied, since its default is 1.",
        ge=1,
        le=2**15 - 1,
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


class InterfaceTable(KeyTable):
    """One set of inputs of the jobs of a phase, and the fields of their outputs.

    A phase with several interfaces names the interface of each case in the column `interface` of `cases.csv`.
    """

    inputs: Listed[str] = Key(
        description="All input sockets of such a job, by their slugs. No two interfaces have the same set.",
        min_length=1,
    )
    fields: Listed[str] | None = Key(
        default=None,
        description="The fields that such a job writes. The fields of one task belong to the same "
        "interfaces. Default: all of them.",
    )
    input_socket: str | None = Key(
        default=None,
        description="The input that identifies the case of a job. Default: the only input, else the one "
        "image or file that is named like a case.",
    )
    match: Literal["name", "value"] = Key(
        default="name",
        description="`name`: the image or file of that input is named like the case. `value`: the input is a "
        "value, such as the text of a report; it stands in the column `input_value` of `cases.csv`, and as a "
        "digest in the form. A JSON input that is stored as a file does neither, unless it was uploaded "
        "under a name of its own.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.input_socket is not None and self.input_socket not in self.inputs:
            raise ValueError(f"input_socket: {self.input_socket!r} is not among the inputs")
        if self.match == "value" and self.input_socket is None and len(self.inputs) > 1:
            raise ValueError("match = 'value' needs input_socket")
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


DECLARED = "declared"
"""The name of the challenge whose options declare the challenge itself."""

# The options of that challenge, written without the table ``[options]`` around them.
TABLES = ("fields", "tasks", "ranking", "composites")


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

ChartName = Literal["metrics", "subgroups", "roc"]
CHART_FILES = tuple(f"chart-{name}.json" for name in get_args(ChartName))
"""The files of the charts beside `metrics.json`, the paths of their output sockets."""


OutputContent = Literal["chart-metrics", "chart-subgroups", "chart-roc", "metrics", "pdf"]


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


def _each_chart_once(charts: tuple[ChartName, ...]) -> tuple[ChartName, ...]:
    if len(set(charts)) < len(charts):
        raise ValueError("expected every chart once")
    return charts


def _each_column_once(subgroups: tuple[Subgroup, ...]) -> tuple[Subgroup, ...]:
    columns = [subgroup.column for subgroup in subgroups]
    if duplicates := sorted({column for column in columns if columns.count(column) > 1}):
        raise ValueError(f"duplicate column {', '.join(map(repr, duplicates))}")
    return subgroups


class PhaseConfig(KeyTable):
    """The keys of `phase.toml`; their descriptions generate `docs/phase.md`."""

    challenge: str = Key(
        description="The challenge whose rules apply: the name of a module or folder in "
        "`evaluation/challenges/`.",
        pattern=r"^[a-z][a-z0-9_]*$",
    )
    name: str = Key(
        description="Short name of the phase, for file names, image tags and messages. Lower-case letters, "
        "digits and hyphens.",
        pattern=r"^[a-z0-9][a-z0-9-]*$",
        max_length=64,
    )
    title: _Text = Key(description="Title for people, in one line.")
    version: _Text = Key(
        default="1",
        description="Version of the reference, written to `metrics.json`. Change it whenever a label is "
        "corrected.",
    )
    submission: Literal["archive", "algorithm"] = Key(
        description="`archive`: participants upload a zip file of predictions. `algorithm`: they submit a "
        "container, and the platform hands over the outputs of its jobs."
    )
    tasks: Listed[str] | None = Key(
        default=None, description="Names of the challenge's tasks to score. Default: all of them."
    )
    missing: Literal["reject", "worst"] | None = Key(
        default=None,
        description="What happens if a case has no prediction. `reject`: the submission is rejected. "
        "`worst`: the case takes the worst value of every metric. Default: the challenge's own rule.",
    )
    on_deadline: Literal["fail", "worst"] = Key(
        default="fail",
        description="What happens if the time of `limits.budget_seconds` is over. `fail`: the evaluation "
        "fails and writes no result. `worst`: the cases that are left take their worst values.",
    )
    seed: int = Key(
        default=0,
        description="Seed of the resampling behind all intervals. The same seed gives the same intervals.",
        ge=0,
    )
    resamples: int = Key(
        default=1000,
        description="Number of bootstrap resamples of an interval. 0: no resampled intervals.",
        ge=0,
        le=100_000,
    )
    score: str | None = Key(
        default=None,
        description="The metric or composite that is the score on the platform's leaderboard, as "
        '`"task.metric"`. Default: the challenge\'s own score, else the first metric of its ranking.',
    )
    columns: Listed[str] | None = Key(
        default=None,
        description="Metrics in further columns of the leaderboard, which are ranked too. Default: the "
        "metrics of the challenge's ranking.",
    )
    unranked_columns: Listed[str] | None = Key(
        default=None,
        description="Metrics and composites that the leaderboard shows without ranking by them: the "
        "platform's `exclude_from_ranking`. `settings` and the platform's schemes of `rank` obey it. The "
        "score is always ranked. Default: the challenge's composites, and the metrics of its ranking in "
        "optional tasks, as far as they are not ranked.",
    )
    scoring_method: Literal["absolute", "mean", "median"] | None = Key(
        default=None,
        description="How the platform ranks. `absolute`: by the score alone. `mean`, `median`: by the mean "
        "or median of the ranks in the score and all ranked columns. Default: the challenge's own ranking if "
        "the platform has it, else `absolute`.",
    )
    counts: Literal["best", "last"] | None = Key(
        default=None,
        description="Which of a team's submissions is ranked. Default: the challenge's own rule.",
    )
    optional_tasks: Literal["all"] | Listed[str] | None = Key(
        default=None,
        description="Tasks that a submission may leave out as a whole; it must take part in at least one. "
        "What is left out is absent from the results and has no rank. The platform's leaderboard drops "
        "submissions without a metric that it ranks. Default: the challenge's optional tasks of which "
        "neither `score` nor `columns` names a metric.",
    )
    titles: dict[str, _Text] = Key(
        default={},
        description='Titles of leaderboard columns by `"task.metric"`, in place of the metrics\' own. At '
        "most 32 characters for the score and 64 for other columns.",
    )
    public_detail: Literal["value", "standard", "full"] = Key(
        default="standard",
        description="How much `metrics.json` tells about each metric. `value`: its value alone. `standard`: "
        "also interval, standard deviation, and values of subgroups. `full`: also median and quartiles over "
        "the cases. The organiser's file has all.",
    )
    metric_detail: dict[str, Literal["none", "value"]] = Key(
        default={},
        description='Less detail of single metrics by `"task.metric"`, in place of `public_detail`: `value` '
        "is the value alone, `none` nothing, which no metric of the leaderboard may have. `*` stands for any "
        "text; where several names fit, `none` counts. Less detail tells less about the labels.",
    )
    publish_cases: bool = Key(
        default=False,
        description="Whether `metrics.json` holds the figures of every single case. They tell much about the "
        "labels: run `audit` on the phase before you turn this on.",
    )
    charts: Annotated[Listed[ChartName], AfterValidator(_each_chart_once)] = Key(
        default=(),
        description="Charts that are written beside `metrics.json`, as `chart-metrics.json`, "
        "`chart-subgroups.json` and `chart-roc.json` (Vega-Lite v5). The platform draws them, for everyone "
        "who may see an evaluation, where an output socket of kind Chart has that path. `metrics` and "
        "`subgroups` show published numbers alone, `roc` nine more for each curve: run `audit`.",
    )
    outputs: dict[Annotated[str, AfterValidator(_path_of_output)], OutputContent] = Key(
        default={},
        description="Further files that are written beside `metrics.json`, by the path of the platform's "
        "output socket, such as `performance.json`: `metrics` is the content of `metrics.json` (Anything), "
        "`chart-metrics`, `chart-subgroups` and `chart-roc` are those of `charts` (Chart), `pdf` is a page "
        "with the published metrics (PDF). The platform fails every evaluation that lacks an output.",
    )
    value_digits: _Digits = Key(
        default=4,
        description="Decimal places of the values in `metrics.json`; the organiser's file has all digits.",
    )
    spread_digits: _Digits = Key(
        default=3, description="Decimal places of intervals, standard deviations and quartiles there."
    )
    digits: dict[str, _Digits] = Key(
        default={},
        description='Decimal places of single metrics by `"task.metric"`, in place of `value_digits`; their '
        "intervals and spreads have no more. Fewer digits tell less about the labels.",
    )
    learnable_labels: Listed[str] = Key(
        default=(),
        description="Labels, as `audit` names them, that results may tell within the limit of submissions: "
        "`seal` does not warn of them. `*` stands for any text.",
    )
    subgroups: Annotated[Listed[Subgroup], AfterValidator(_each_column_once)] = Key(
        default=(),
        description="Results by the values of a column of `cases.csv`, one `[[subgroups]]` for each column.",
    )
    publish_label_subgroups: Listed[str] = Key(
        default=(),
        description="Columns of public subgroups that follow from a label. `seal` refuses such a subgroup "
        "unless it is named here, since its figures give the labels away.",
    )
    interval_minimum: int = Key(
        default=10,
        description="Smallest number of cases in every stratum for which an interval is computed.",
        ge=2,
    )
    interval_maximum: int | None = Key(
        default=None,
        description="Largest number of cases for which a metric that is slow to resample has an interval. "
        "Default: each metric's own limit.",
        ge=2,
    )
    interval_methods: dict[str, IntervalMethod] = Key(
        default={},
        description='How the intervals of single metrics are computed, by `"task.metric"`. Default: the '
        "method that covers best in simulation, see `docs/intervals.md`.",
    )
    subgroup_minimum: int = Key(
        default=10,
        description="Smallest number of cases (for an AUC, of each class) of a public subgroup.",
        ge=1,
    )
    sockets: dict[str, str] = Key(
        default={},
        description="For algorithms: the platform's output socket of a field by the field's name, where it "
        "is not the challenge's own.",
    )
    input_socket: str | Listed[str] = Key(
        default=(),
        description="For algorithms: the input socket whose image or file is named like the case; several "
        "where jobs have different inputs. Default: the one input that is named like a case.",
    )
    interfaces: dict[Annotated[str, Key(pattern=r"^[a-z0-9][a-z0-9_-]*$")], InterfaceTable] = Key(
        default={},
        description="For algorithms whose jobs differ in inputs and outputs: a table `[interfaces.<name>]` "
        "for each set, in place of `input_socket`.",
    )
    provided: Listed[_Text] | None = Key(
        default=None,
        description='What is provided with each image beside the image itself, in words, for example `["the '
        "age of the person, in years\"]`. `form --words` lists it. Default: what the challenge's own rules "
        "provide.",
    )
    run_time: RunTimeConfig | None = Key(
        default=None, description="For algorithms: scores the run time as a task of its own, `run_time`."
    )
    submissions: Submissions = Key(
        default=Submissions(),
        description="How many submissions the platform accepts, and when; no metric depends on it.",
    )
    options: dict[str, Any] = Key(
        default={}, description="Options of the challenge. Each challenge has its own, listed below."
    )
    limits: Limits = Key(default=Limits(), description="Limits on the time and memory of one evaluation.")

    @property
    def input_sockets(self) -> tuple[str, ...]:
        """The sockets of ``input_socket``; empty if any image or file may identify the case of a job."""
        return (self.input_socket,) if isinstance(self.input_socket, str) else self.input_socket

    @property
    def chart_outputs(self) -> dict[str, OutputContent]:
        """The content of the charts beside `metrics.json` by file name."""
        contents: tuple[OutputContent, ...] = get_args(OutputContent)
        return {f"chart-{name}.json": contents[get_args(ChartName).index(name)] for name in self.charts}

    @property
    def all_outputs(self) -> dict[str, OutputContent]:
        """The content of every file beside `metrics.json` by path."""
        return {**self.chart_outputs, **self.outputs}

    def interfaces_of(self, fields: Iterable[str]) -> tuple[Interface, ...]:
        """Return the interfaces of a phase with the named fields."""
        known = tuple(fields)
        return tuple(
            Interface(
                name=name,
                inputs=table.inputs,
                fields=known if table.fields is None else table.fields,
                input_socket=table.input_socket or (table.inputs[0] if len(table.inputs) == 1 else ""),
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
        if self.score in (self.unranked_columns or ()):
            raise ValueError(f"unranked_columns: the score, {self.score!r}, is always ranked")
        public = [subgroup.column for subgroup in self.subgroups if subgroup.audience == "public"]
        if unknown := [column for column in self.publish_label_subgroups if column not in public]:
            raise ValueError(f"publish_label_subgroups: {', '.join(unknown)} is not a public subgroup")
        return self


def read_config(folder: Path, file: str = FILE_NAME) -> PhaseConfig:
    """Return the configuration of a phase folder. Raises `PhaseError` listing every fault."""
    path = folder / file
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        return read_table(PhaseConfig, moved_declaration(content, file))
    except FileNotFoundError:
        raise PhaseError(f"{file}: not found in {folder}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, OSError) as error:
        raise_trouble_of(error, "read", path)
        raise PhaseError(f"{file}: cannot be read: {error}") from None
    except InvalidTableError as error:
        raise PhaseError(*error.problems(file)) from None
