"""`phase.toml`: the configuration of a phase, checked key by key."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from evaluation.core.fault import PhaseError
from evaluation.core.form import RunTime
from evaluation.core.keys import Check, KeyTable, Listed, key, numbers, option, texts
from evaluation.core.metric import IntervalMethod
from evaluation.phase.config_tables import Limits, RunTimeConfig, Subgroup, Submissions
from evaluation.phase.declaration import moved_declaration
from evaluation.phase.validation import InvalidTableError, read_table

FILE_NAME = "phase.toml"


# Control characters cannot be stored in the platform's database and break its logs.
_Text = Annotated[str, texts(r"[^\x00-\x1f\x7f]*")]

_Digits = Annotated[int, numbers(at_least=0, at_most=12)]

ChartName = Literal["metrics", "subgroups", "roc"]


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

    challenge: Annotated[str, texts(r"[a-z][a-z0-9_]*")] = key(
        "The challenge whose rules apply: the name of a module or folder in `evaluation/challenges/`."
    )
    name: Annotated[str, texts(r"[a-z0-9][a-z0-9-]*", longest=64)] = key(
        "Short name of the phase, for file names, image tags and messages. "
        "Lower-case letters, digits and hyphens."
    )
    title: _Text = key("Title for people, in one line.")
    version: _Text = option(
        "1",
        "Version of the reference, written to `metrics.json`. Change it whenever a label is corrected.",
    )
    submission: Literal["archive", "algorithm"] = key(
        "`archive`: participants upload a zip file of predictions. `algorithm`: they submit a "
        "container, and the platform hands over the outputs of its jobs."
    )
    tasks: Listed[str] | None = option(
        None,
        "Names of the challenge's tasks to score. Default: all of them.",
    )
    missing: Literal["reject", "worst"] | None = option(
        None,
        "What happens if a case has no prediction. `reject`: the submission is rejected. "
        "`worst`: the case takes the worst value of every metric. Default: the challenge's own rule.",
    )
    on_deadline: Literal["fail", "worst"] = option(
        "fail",
        "What happens if the time of `limits.budget_seconds` is over. `fail`: the evaluation "
        "fails and writes no result. `worst`: the cases that are left take their worst values.",
    )
    seed: Annotated[int, numbers(at_least=0)] = option(
        0,
        "Seed of the resampling behind all intervals. The same seed gives the same intervals.",
    )
    resamples: Annotated[int, numbers(at_least=0, at_most=100_000)] = option(
        1000, "Number of bootstrap resamples of an interval. 0: no resampled intervals."
    )
    score: str | None = option(
        None,
        "The metric or composite that is the score on the platform's leaderboard, as "
        '`"task.metric"`. Default: the challenge\'s own score, else the first metric of its ranking.',
    )
    columns: Listed[str] | None = option(
        None,
        "Metrics in further columns of the leaderboard, which are ranked too. "
        "Default: the metrics of the challenge's ranking.",
    )
    unranked_columns: Listed[str] | None = option(
        None,
        "Metrics and composites that the leaderboard shows without ranking by them: the "
        "platform's `exclude_from_ranking`. `settings` and the platform's schemes of `rank` obey it. The "
        "score is always ranked. Default: the challenge's composites that are not ranked.",
    )
    scoring_method: Literal["absolute", "mean", "median"] | None = option(
        None,
        "How the platform ranks. `absolute`: by the score alone. `mean`, `median`: by the mean "
        "or median of the ranks in the score and all ranked columns. Default: the challenge's own ranking "
        "if the platform has it, else `absolute`.",
    )
    counts: Literal["best", "last"] | None = option(
        None,
        "Which of a team's submissions is ranked. Default: the challenge's own rule.",
    )
    optional_tasks: Literal["all"] | Listed[str] | None = option(
        None,
        "Tasks that a submission may leave out as a whole; it must take part in at least one. "
        "What is left out is absent from the results and has no rank. The platform's leaderboard drops "
        "submissions without a metric that it ranks. Default: the challenge's optional tasks of which the "
        "leaderboard ranks no metric.",
    )
    titles: dict[str, _Text] = option(
        {},
        'Titles of leaderboard columns by `"task.metric"`, in place of the metrics\' own. At '
        "most 32 characters for the score and 64 for other columns.",
    )
    public_detail: Literal["standard", "full"] = option(
        "standard",
        "How much `metrics.json` tells about each metric. `standard`: value, interval and "
        "standard deviation. `full`: also median and quartiles over the cases.",
    )
    publish_cases: bool = option(
        False,
        "Whether `metrics.json` holds the figures of every single case. They tell much about "
        "the labels: run `audit` on the phase before you turn this on.",
    )
    charts: Annotated[Listed[ChartName], Check(_each_chart_once)] = option(
        (),
        "Charts that are written beside `metrics.json`, as `chart-metrics.json`, "
        "`chart-subgroups.json` and `chart-roc.json` (Vega-Lite v5). The platform draws them, for everyone "
        "who may see an evaluation, where an output socket of kind Chart has that path. `metrics` and "
        "`subgroups` show published numbers alone, `roc` nine more for each curve: run `audit`.",
    )
    value_digits: _Digits = option(
        4,
        "Decimal places of the values in `metrics.json`; the organiser's file has all digits.",
    )
    spread_digits: _Digits = option(
        3, "Decimal places of intervals, standard deviations and quartiles there."
    )
    digits: dict[str, _Digits] = option(
        {},
        'Decimal places of single metrics by `"task.metric"`, in place of `value_digits`; their '
        "intervals and spreads have no more. Fewer digits tell less about the labels.",
    )
    subgroups: Annotated[Listed[Subgroup], Check(_each_column_once)] = option(
        (),
        "Results by the values of a column of `cases.csv`, one `[[subgroups]]` for each column.",
    )
    publish_label_subgroups: Listed[str] = option(
        (),
        "Columns of public subgroups that follow from a label. `seal` refuses such a subgroup "
        "unless it is named here, since its figures give the labels away.",
    )
    interval_minimum: Annotated[int, numbers(at_least=2)] = option(
        10, "Smallest number of cases in every stratum for which an interval is computed."
    )
    interval_maximum: Annotated[int, numbers(at_least=2)] | None = option(
        None,
        "Largest number of cases for which a metric that is slow to resample has an interval. "
        "Default: each metric's own limit.",
    )
    interval_methods: dict[str, IntervalMethod] = option(
        {},
        'How the intervals of single metrics are computed, by `"task.metric"`. Default: the '
        "method that covers best in simulation, see `docs/intervals.md`.",
    )
    subgroup_minimum: Annotated[int, numbers(at_least=1)] = option(
        10,
        "Smallest number of cases (for an AUC, of each class) of a public subgroup.",
    )
    sockets: dict[str, str] = option(
        {},
        "For algorithms: the platform's output socket of a field by the field's name, where "
        "it is not the challenge's own.",
    )
    input_socket: str | Listed[str] = option(
        (),
        "For algorithms: the input socket whose image or file is named like the case; "
        "several where jobs have different inputs. Default: the one input that is named like a case.",
    )
    provided: Listed[_Text] | None = option(
        None,
        "What is provided with each image beside the image itself, in words, for example "
        '`["the age of the person, in years"]`. `form --words` lists it. Default: what the challenge\'s own '
        "rules provide.",
    )
    run_time: RunTimeConfig | None = option(
        None, "For algorithms: scores the run time as a task of its own, `run_time`."
    )
    submissions: Submissions = option(
        Submissions(),
        "How many submissions the platform accepts, and when; no metric depends on it.",
    )
    options: dict[str, Any] = option(
        {}, "Options of the challenge. Each challenge has its own, listed below."
    )
    limits: Limits = option(Limits(), "Limits on the time and memory of one evaluation.")

    @property
    def input_sockets(self) -> tuple[str, ...]:
        """The sockets of ``input_socket``; empty if any image or file may identify the case of a job."""
        return (self.input_socket,) if isinstance(self.input_socket, str) else self.input_socket

    @property
    def scored_run_time(self) -> RunTime | None:
        """How the run time of algorithms is scored, None if it is not."""
        return None if self.run_time is None else RunTime(**vars(self.run_time))

    def smallest_subgroup(self, subgroup: Subgroup) -> int:
        """Return the smallest number of cases of a subgroup, or of each of its classes, that is reported."""
        return self.subgroup_minimum if subgroup.audience == "public" else subgroup.minimum or 1

    def __post_init__(self) -> None:
        if self.run_time is not None and self.submission != "algorithm":
            raise ValueError("run_time needs submission = 'algorithm', found 'archive'")
        if self.score in (self.unranked_columns or ()):
            raise ValueError(f"unranked_columns: the score, {self.score!r}, is always ranked")
        public = [subgroup.column for subgroup in self.subgroups if subgroup.audience == "public"]
        if unknown := [column for column in self.publish_label_subgroups if column not in public]:
            raise ValueError(f"publish_label_subgroups: {', '.join(unknown)} is not a public subgroup")


def read_config(folder: Path, file: str = FILE_NAME) -> PhaseConfig:
    """Return the configuration of a phase folder. Raises `PhaseError` listing every fault."""
    path = folder / file
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        return read_table(PhaseConfig, moved_declaration(content, file))
    except FileNotFoundError:
        raise PhaseError(f"{file}: not found in {folder}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise PhaseError(f"{file}: cannot be read: {error}") from None
    except InvalidTableError as error:
        raise PhaseError(*error.problems(file)) from None
