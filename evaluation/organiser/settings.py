"""The settings of a phase on the platform, derived from its configuration and its `metrics.json`."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from evaluation.core.challenge import metrics_of
from evaluation.core.fault import PhaseError
from evaluation.evaluate import scores_of_nothing
from evaluation.organiser.platform_ranking import notes_on_ranking, platform_ranking
from evaluation.phase.config_tables import Submissions
from evaluation.phase.leaderboard_metrics import needed_metrics, platform_metrics, unranked_metrics
from evaluation.phase.phase import Phase
from evaluation.phase.public_digits import digits_of
from evaluation.phase.validation import describe_validation
from evaluation.platform.phase_settings import PhaseSettings
from evaluation.platform.result_file import render
from evaluation.ranking.schemes import PlatformMethod, scheme_of
from evaluation.summary import summarise

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
    content: dict[str, Any] = json.loads(render(dataclasses.asdict(metrics)))
    return content


def platform_settings(phase: Phase, least: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings by the platform's names; ``least``: from `metrics_of_empty_submission`.

    Raises `PhaseError` for values that the platform would reject.
    """
    known = _columns(phase, least)
    score, *ranked = [known[name] for name in platform_metrics(phase.config, phase.challenge, phase.tasks)]
    unranked = [known[name] for name in unranked_metrics(phase.config, phase.challenge, phase.tasks)]
    titles = Counter(column.title for column in (score, *ranked, *unranked))
    try:
        settings = PhaseSettings.model_validate(
            {
                "score_title": score.titled(titles),
                "score_jsonpath": score.path,
                "score_error_jsonpath": score.error_path,
                "score_default_sort": _ORDER[score.better],
                "score_decimal_places": digits_of(phase.config, score.name).value,
                "extra_results_columns": [
                    {
                        "title": column.titled(titles),
                        "path": column.path,
                        "order": _ORDER[column.better],
                        "error_path": column.error_path or None,
                        "exclude_from_ranking": True if column in unranked else None,
                    }
                    for column in (*ranked, *unranked)
                ],
                "scoring_method_choice": _METHOD[_scoring_method(phase)],
                "result_display_choice": _SHOWN[phase.config.counts or phase.challenge.counts],
                "display_all_metrics": True,
                **_submissions(phase.config.submissions),
            }
        )
    except ValidationError as error:
        remedy = "[titles] in phase.toml renames a metric"
        raise PhaseError(*describe_validation("settings", error), remedy) from None
    return settings.model_dump(exclude_none=True)


def warnings_of(phase: Phase, settings: Mapping[str, Any]) -> list[str]:
    """Return warnings about settings that the platform accepts."""
    places = settings["score_decimal_places"]
    ranked = platform_metrics(phase.config, phase.challenge, phase.tasks)
    names = [*ranked, *unranked_metrics(phase.config, phase.challenge, phase.tasks)]
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


def ranking_notes(phase: Phase, settings: Mapping[str, Any]) -> list[str]:
    """Return how the platform's leaderboard will differ from the challenge's, in sentences."""
    columns = settings["extra_results_columns"]
    titles = [settings["score_title"]]
    titles += [column["title"] for column in columns if not column.get("exclude_from_ranking")]
    ranked = platform_metrics(phase.config, phase.challenge, phase.tasks)
    scheme = scheme_of(phase.challenge, phase.options)
    notes = notes_on_ranking(scheme, _scoring_method(phase), ranked, titles)
    metrics = metrics_of(phase.tasks)
    unordered = [
        title
        for name, title in zip(ranked, titles, strict=True)
        if name in metrics and not metrics[name].ordered
    ]
    if unordered:
        notes.append(f"useless submissions can have the best value of {', '.join(map(repr, unordered))}")
    needed = {name.partition(".")[0] for name in needed_metrics(phase.config, phase.challenge, phase.tasks)}
    notes += [
        f"the platform's leaderboard drops submissions without the optional task {task}; `rank` places them "
        "on the leaderboards of their own tasks"
        for task in phase.form.optional_tasks
        if task in needed
    ]
    return notes


def _submissions(given: Submissions) -> dict[str, Any]:
    """Return how many submissions are accepted, and when, as far as the phase says."""
    return {
        "submissions_limit_per_user_per_period": given.limit,
        "submission_limit_period": given.period_days,
        "submissions_open_at": given.opens_at and given.opens_at.isoformat(),
        "submissions_close_at": given.closes_at and given.closes_at.isoformat(),
    }


def _scoring_method(phase: Phase) -> PlatformMethod:
    if phase.config.scoring_method is not None:
        return phase.config.scoring_method
    closest = platform_ranking(scheme_of(phase.challenge, phase.options))
    ranked = platform_metrics(phase.config, phase.challenge, phase.tasks)
    return closest.method if set(closest.metrics) == set(ranked) else "absolute"


def public_paths(metrics: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the dotted path of every value that `display_all_metrics` shows to the public."""
    for key, value in metrics.items():
        if isinstance(value, Mapping):
            yield from public_paths(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


@dataclass(frozen=True)
class _Column:
    """A metric or composite as a column of the leaderboard; no ``error_path`` without an interval."""

    name: str
    task: str
    title: str
    path: str
    error_path: str
    better: Literal["higher", "lower"]

    def titled(self, titles: Mapping[str, int]) -> str:
        """Return the title, with the task's title where several columns have the same one."""
        return f"{self.task}: {self.title}" if self.task and titles[self.title] > 1 else self.title


def _columns(phase: Phase, least: Mapping[str, Any]) -> dict[str, _Column]:
    columns = {}
    for task in phase.tasks:
        for metric in task.metrics:
            name = f"{task.name}.{metric.name}"
            columns[name] = _Column(
                name,
                task.title,
                phase.config.titles.get(name, metric.title),
                f"aggregates.{name}.value",
                _error_path(task.name, metric.name, least),
                metric.better,
            )
    for composite in phase.challenge.composites_of(phase.tasks):
        title = phase.config.titles.get(composite.name, composite.title)
        path = f"ranking.composites.{composite.name}"
        columns[composite.name] = _Column(composite.name, "", title, path, "", composite.better)
    return columns


def _error_path(task: str, metric: str, least: Mapping[str, Any]) -> str:
    """Return the path of half the width of the interval, empty unless every submission has one."""
    if "confidence_interval" not in least["aggregates"].get(task, {}).get(metric, {}):
        return ""
    return f"aggregates.{task}.{metric}.confidence_interval.half_width"
