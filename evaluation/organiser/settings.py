"""The settings of a phase on the platform, derived from its configuration and its `metrics.json`."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from evaluation.codabench import columns_of
from evaluation.core.challenge import Composite, metrics_of
from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric
from evaluation.evaluate import scores_of_nothing
from evaluation.organiser.ranking import platform_ranking
from evaluation.phase.config import Submissions
from evaluation.phase.leaderboard import digits_of
from evaluation.phase.phase import Phase
from evaluation.phase.places import PLATFORM_METHODS, PlatformMethod, scheme_of
from evaluation.phase.validation import InvalidTableError, read_table
from evaluation.platform.facts import (
    LIMIT_OF_SUBMISSIONS,
    LIMIT_PERIOD_DAYS,
    MAX_PATH_LENGTH,
    MAX_TITLE_LENGTH,
)
from evaluation.platform.result_file import render
from evaluation.summary import summarise

# The platform's pattern allows a single line.
_Title = Annotated[str, Field(min_length=1, max_length=MAX_TITLE_LENGTH, pattern=r"^[^\r\n]*$")]
_Path = Annotated[str, Field(min_length=1, max_length=MAX_PATH_LENGTH)]
_OptionalPath = Annotated[str, Field(max_length=MAX_PATH_LENGTH)]
_Order = Literal["asc", "desc"]


class ResultsColumn(BaseModel, extra="forbid", frozen=True):
    """One entry of ``extra_results_columns``; a column without an error has no ``error_path``."""

    title: _Title
    path: _Path
    order: _Order
    error_path: _OptionalPath = ""
    exclude_from_ranking: bool = False


class PhaseSettings(BaseModel, extra="forbid", frozen=True):
    """The settings that go with a phase's `metrics.json`, by the platform's names, with its defaults.

    ``score_decimal_places`` applies to every column and error that is shown. The times are in ISO 8601.
    """

    score_title: _Title
    score_jsonpath: _Path
    score_error_jsonpath: _OptionalPath
    score_default_sort: _Order
    score_decimal_places: Annotated[int, Field(ge=0, le=32767)]
    extra_results_columns: list[ResultsColumn]
    scoring_method_choice: Literal["abs", "avg", "med"]
    result_display_choice: Literal["all", "rec", "bst"]
    display_all_metrics: bool
    submissions_limit_per_user_per_period: int = LIMIT_OF_SUBMISSIONS
    submission_limit_period: int | None = LIMIT_PERIOD_DAYS
    submissions_open_at: str | None = None
    submissions_close_at: str | None = None


# --- The settings of a phase on the platform, derived from its configuration and its `metrics.json` ---

_ORDER = {"higher": "desc", "lower": "asc"}
_METHOD = {"absolute": "abs", "mean": "avg", "median": "med"}
_SHOWN = {"best": "bst", "last": "rec"}


def metrics_of_empty_submission(phase: Phase, workers: int) -> dict[str, Any]:
    """Return the `metrics.json` of an empty submission, whose keys every submission to these tasks has.

    The tasks are the required ones, or all if none is required. Only the reference decides which figures and
    intervals exist. Raises `PhaseError` if it cannot be read.
    """
    compulsory = tuple(task for task in phase.tasks if task.name not in phase.form.optional_tasks)
    metrics = summarise(scores_of_nothing(phase, compulsory or phase.tasks, workers))
    content: dict[str, Any] = json.loads(render(metrics))
    return content


def platform_settings(phase: Phase, least: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings by the platform's names; ``least``: from `metrics_of_empty_submission`.

    A limit or a time that the phase does not state is absent; a limit without a period has the period None.
    Raises `PhaseError` for values that the platform would reject.
    """
    known = _columns(phase, least)
    score, *others = [known[name] for name in columns_of(phase)]
    unranked = phase.board.unranked
    titles = Counter(column.figure.title for column in (score, *others))
    try:
        settings = read_table(
            PhaseSettings,
            {
                "score_title": score.titled(titles),
                "score_jsonpath": score.path,
                "score_error_jsonpath": score.error_path,
                "score_default_sort": _ORDER[score.figure.better],
                "score_decimal_places": digits_of(phase.config, score.name).value,
                "extra_results_columns": [
                    {
                        "title": column.titled(titles),
                        "path": column.path,
                        "order": _ORDER[column.figure.better],
                        **({"error_path": column.error_path} if column.error_path else {}),
                        **({"exclude_from_ranking": True} if column.name in unranked else {}),
                    }
                    for column in others
                ],
                "scoring_method_choice": _METHOD[_scoring_method(phase)],
                "result_display_choice": _SHOWN[phase.config.platform.counts or phase.challenge.counts],
                "display_all_metrics": True,
                **_submission_settings(phase.config.submissions),
            },
        )
    except InvalidTableError as error:
        remedy = "[titles] in phase.toml renames a metric"
        raise PhaseError(*error.problems("settings"), remedy) from None
    return settings.model_dump(exclude_unset=True)


def _submission_settings(submissions: Submissions) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if submissions.limit is not None:
        settings["submissions_limit_per_user_per_period"] = submissions.limit
        settings["submission_limit_period"] = submissions.period_days
    times = {"submissions_open_at": submissions.opens_at, "submissions_close_at": submissions.closes_at}
    return settings | {key: time.isoformat() for key, time in times.items() if time is not None}


def settings_file(settings: Mapping[str, Any]) -> bytes:
    """Return settings as the JSON of `settings.json`; titles are not escaped, since organisers copy them."""
    return json.dumps(settings, indent=1, ensure_ascii=False).encode("utf-8") + b"\n"


def notes_of(phase: Phase, settings: Mapping[str, Any]) -> list[str]:
    """Return notes on the settings, to be read before they are entered, in sentences."""
    notes = notes_of_export(phase, settings)
    own = compared_with_platform(phase, settings, _scoring_method(phase))
    if own.reasons:
        note = f"the platform ranks by {own.by}, but {'; '.join(own.reasons)}: `rank` gives these places"
        notes.append(f"{note}. Example: {own.example}" if own.example else note)
    return notes


def notes_of_export(phase: Phase, settings: Mapping[str, Any]) -> list[str]:
    """Return the notes without the one on places, which a table tells there."""
    return [*warnings_of(phase, settings), *submission_notes(phase), *ranking_notes(phase, settings)]


def warnings_of(phase: Phase, settings: Mapping[str, Any]) -> list[str]:
    """Return warnings about settings that the platform accepts."""
    places = settings["score_decimal_places"]
    names = columns_of(phase)
    finer = [name for name in names if digits_of(phase.config, name).value > places]
    warnings = []
    if finer:
        warnings.append(
            f"the page shows {places} decimals of every figure: submissions that differ beyond look the same "
            f"and still take different ranks, in {'every column' if finer == names else ', '.join(finer)} "
            "([digits] in phase.toml rounds a figure)"
        )
    columns = settings["extra_results_columns"]
    titles = Counter([settings["score_title"], *(column["title"] for column in columns)])
    warnings += [f"{count} columns are called {title!r}" for title, count in titles.items() if count > 1]
    return warnings


def submission_notes(phase: Phase) -> list[str]:
    """Return a note where the phase is closed on the platform, or where a field must be emptied there."""
    submissions = phase.config.submissions
    if submissions.limit is None:
        return [
            "participants cannot submit until submissions_limit_per_user_per_period is set on the platform, "
            f"whose default of {LIMIT_OF_SUBMISSIONS} means closed (limit in [submissions] of phase.toml)"
        ]
    if submissions.limit == 0:
        return ["the limit of 0 closes the phase: participants cannot submit"]
    if submissions.period_days is None:
        return [
            f"the limit of {submissions.limit} is for all time: empty the field submission_limit_period on "
            f"the platform, whose default of {LIMIT_PERIOD_DAYS} day takes {submissions.limit} every day"
        ]
    return []


def compared_with_platform(
    phase: Phase, settings: Mapping[str, Any], method: PlatformMethod
) -> platform_ranking.PlatformComparison:
    """Return how the places by a method of the platform compare with the challenge's."""
    ranked = phase.board.ranked
    figures = phase.challenge.figures_of(phase.tasks)
    known = {name: figure.title for name, figure in figures.items()}
    return platform_ranking.compared_with(
        scheme_of(phase.challenge, phase.options),
        platform_ranking.PlatformRanking(method, ranked),
        figures,
        known | dict(zip(ranked, _ranked_titles(settings), strict=True)),
        phase.form.optional_tasks,
    )


def ranking_table(phase: Phase, settings: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return the platform's ways to rank, and whether each has the places of the challenge's ranking.

    Empty for a ranking by the value of a single figure. The columns: the setting, what it ranks by, "the
    same" or why places differ, and an example of three teams.
    """
    chosen = _scoring_method(phase)
    # Of two ranks, the median is the mean.
    columns = len(phase.board.ranked)
    methods = dict.fromkeys([*PLATFORM_METHODS[:columns], chosen])
    compared = {method: compared_with_platform(phase, settings, method) for method in methods}
    several = len(scheme_of(phase.challenge, phase.options).metrics) > 1
    if not several and not compared[chosen].reasons:
        return []
    return [
        (
            f"{_METHOD[method]} (chosen)" if method == chosen else _METHOD[method],
            one.by,
            "; ".join(one.reasons) or "the same",
            one.example,
        )
        for method, one in compared.items()
    ]


def _ranked_titles(settings: Mapping[str, Any]) -> list[str]:
    columns = settings["extra_results_columns"]
    ranked = [column["title"] for column in columns if not column.get("exclude_from_ranking")]
    return [settings["score_title"], *ranked]


def ranking_notes(phase: Phase, settings: Mapping[str, Any]) -> list[str]:
    """Return what the platform's leaderboard lacks, in sentences."""
    titles = _ranked_titles(settings)
    ranked = phase.board.ranked
    metrics = metrics_of(phase.tasks)
    notes = []
    if scheme_of(phase.challenge, phase.options).phases:
        notes.append(
            "the platform has one leaderboard for each phase and none over several: `rank` makes that of the "
            "challenge from the results of its phases"
        )
    both = zip(ranked, titles, strict=True)
    unordered = [title for name, title in both if name in metrics and not metrics[name].ordered]
    if unordered:
        notes.append(f"useless submissions can have the best value of {', '.join(map(repr, unordered))}")
    needed = {name.partition(".")[0] for name in phase.board.needed}
    notes += [
        f"the platform's leaderboard drops submissions without the optional task {task}; `rank` places them "
        "on the leaderboards of their own tasks"
        for task in phase.form.optional_tasks
        if task in needed
    ]
    return notes


def _scoring_method(phase: Phase) -> PlatformMethod:
    if phase.config.platform.scoring_method is not None:
        return phase.config.platform.scoring_method
    closest = platform_ranking.closest_ranking(scheme_of(phase.challenge, phase.options))
    ranked = phase.board.ranked
    return closest.method if closest and set(closest.columns) == set(ranked) else "absolute"


def public_paths(metrics: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the dotted path of every value that `display_all_metrics` shows to the public."""
    for key, value in metrics.items():
        if isinstance(value, Mapping):
            yield from public_paths(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


@dataclass(frozen=True)
class _LeaderboardColumn:
    """A metric or composite as a column of the leaderboard; no ``error_path`` without an interval."""

    name: str
    task: str
    figure: Metric | Composite
    path: str
    error_path: str

    def titled(self, titles: Mapping[str, int]) -> str:
        """Return the title, with the task's title where several columns have the same one."""
        title = self.figure.title
        return f"{self.task}: {title}" if self.task and titles[title] > 1 else title


def _columns(phase: Phase, least: Mapping[str, Any]) -> dict[str, _LeaderboardColumn]:
    columns = {}
    titles = {task.name: task.title for task in phase.tasks}
    for name, figure in phase.challenge.figures_of(phase.tasks).items():
        path = f"aggregates.{name}" if isinstance(figure, Metric) else f"ranking.composites.{name}"
        estimate: Any = least
        for key in path.split("."):
            estimate = estimate.get(key, {})
        # Half the width of the interval, unless a submission may have none.
        error = f"{path}.confidence_interval.half_width" if "confidence_interval" in estimate else ""
        task = titles[name.partition(".")[0]] if isinstance(figure, Metric) else ""
        columns[name] = _LeaderboardColumn(name, task, figure, f"{path}.value", error)
    return columns
