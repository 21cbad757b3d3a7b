"""The settings of a phase on the platform, held against a real metrics.json."""

import dataclasses
import json
from functools import reduce
from pathlib import Path

import pytest

from evaluation.core.fault import PhaseError
from evaluation.evaluate import Result, evaluate
from evaluation.organiser.settings import (
    metrics_of_empty_submission,
    notes_of,
    platform_settings,
    public_paths,
    settings_file,
    submission_notes,
    warnings_of,
)
from evaluation.phase.manifest import scan
from evaluation.phase.phase import Phase, load_phase
from evaluation.platform.result_file import render
from test.phases import loaded_phase
from test.repository import OF_EACH_CHALLENGE, REPOSITORY

PHASES = sorted(REPOSITORY.glob("ground-truth/*/phase.toml"))

# What the platform's own schema of the further columns allows.
COLUMN_KEYS = {"title", "path", "order", "error_path", "exclude_from_ranking"}

# The platform's defaults: closed, and a period of one day. Only an empty field has no period.
LIMIT, PERIOD = "submissions_limit_per_user_per_period", "submission_limit_period"
PLATFORM_DEFAULTS = {LIMIT: 0, PERIOD: 1}


def metrics_of(phase: Phase, submission: Path) -> dict:
    result = evaluate(phase, submission, 0)
    assert isinstance(result, Result)
    return json.loads(render(dataclasses.asdict(result.metrics)))


def looked_up(metrics: dict, path: str) -> object:
    """Look a dotted path up as the platform does."""
    return reduce(lambda value, key: value[key], path.split("."), metrics)


def remaining_submissions(settings: dict, days_ago: tuple[float, ...]) -> int:
    """Return how many submissions a person has left after the settings were entered on the platform.

    days_ago: the age of each submission whose evaluation did not fail. grand-challenge.org
    (`Phase.get_next_submission`): those within the period count; without a period, all of them.
    """
    entered = {key: settings.get(key, default) for key, default in PLATFORM_DEFAULTS.items()}
    limit, period = entered[LIMIT], entered[PERIOD]
    # A positive integer, and a small one that may be empty.
    assert type(limit) is int
    assert 0 <= limit <= 2147483647
    assert period is None or (type(period) is int and 1 <= period <= 32767)
    return max(0, limit - sum(period is None or age <= period for age in days_ago))


@pytest.mark.parametrize("name", OF_EACH_CHALLENGE)
def test_every_path_is_a_number_in_a_real_result(name):
    folder = REPOSITORY / "ground-truth" / name
    phase = load_phase(folder, scan(folder))
    settings = platform_settings(phase, metrics_of_empty_submission(phase, 0))
    metrics = metrics_of(phase, REPOSITORY / "test" / "input" / name)
    columns = settings["extra_results_columns"]
    paths = [settings["score_jsonpath"], *(column["path"] for column in columns)]
    errors = [settings["score_error_jsonpath"], *(column.get("error_path", "") for column in columns)]
    assert len(set(paths)) == len(paths)
    for found in [*paths, *filter(None, errors)]:
        assert type(looked_up(metrics, found)) in (int, float), found
    for value, error in zip(paths, errors, strict=True):
        figure = looked_up(metrics, value.removesuffix(".value"))
        # A composite is a plain number, without an interval.
        assert bool(error) <= (isinstance(figure, dict) and "confidence_interval" in figure)
    assert set(public_paths(metrics_of_empty_submission(phase, 0))) <= set(public_paths(metrics))


@pytest.mark.parametrize("path", PHASES, ids=lambda path: path.parent.name)
def test_values_that_the_platform_accepts(path):
    phase = load_phase(path.parent, scan(path.parent))
    settings = platform_settings(phase, metrics_of_empty_submission(phase, 0))
    limits = {
        "refuge-onsite": 2,
        "refuge-offline": 2,
        "adam-online": 2,
        "adam-onsite": 2,
        "edd2020": 1,
        "justraigs-phase1": 2,
        "justraigs-phase2": 1,
    }
    limit = limits.get(path.parent.name, 0)
    assert remaining_submissions(settings, ()) == limit
    # These phases have one limit for all time: an old submission counts as well.
    assert remaining_submissions(settings, (1000.0,)) == max(0, limit - 1)
    assert (LIMIT in settings, PERIOD in settings) == ((limit > 0),) * 2
    settings = {key: value for key, value in settings.items() if key not in PLATFORM_DEFAULTS}
    assert set(settings) == {
        "score_title",
        "score_jsonpath",
        "score_error_jsonpath",
        "score_default_sort",
        "score_decimal_places",
        "extra_results_columns",
        "scoring_method_choice",
        "result_display_choice",
        "display_all_metrics",
    }
    assert 0 < len(settings["score_title"]) <= 64
    assert max(len(settings["score_jsonpath"]), len(settings["score_error_jsonpath"])) <= 255
    assert settings["score_default_sort"] in ("asc", "desc")
    assert settings["scoring_method_choice"] in ("abs", "avg", "med")
    assert settings["result_display_choice"] in ("all", "rec", "bst")
    titles = [settings["score_title"]]
    for column in settings["extra_results_columns"]:
        assert {"title", "path", "order"} <= set(column) <= COLUMN_KEYS
        assert column["order"] in ("asc", "desc")
        assert 0 < len(column["title"]) <= 64
        assert max(len(column["path"]), len(column.get("error_path", ""))) <= 255
        titles.append(column["title"])
    assert len(set(titles)) == len(titles)


def test_when_and_how_often_submissions_are_accepted(tmp_path):
    tables = (
        "[submissions]\nlimit = 2\nperiod_days = 7\nopens_at = 2024-01-15T00:00:00Z\n"
        "closes_at = 2024-03-15T23:59:00+01:00\n"
    )
    phase = loaded_phase(tmp_path / "phase", 24, tables=tables)
    settings = platform_settings(phase, metrics_of_empty_submission(phase, 0))
    # The names of the fields are those of the platform's form of a phase.
    assert {key: value for key, value in settings.items() if key.startswith("submission")} == {
        "submissions_limit_per_user_per_period": 2,
        "submission_limit_period": 7,
        "submissions_open_at": "2024-01-15T00:00:00+00:00",
        "submissions_close_at": "2024-03-15T23:59:00+01:00",
    }


@pytest.mark.parametrize(
    ("tables", "remaining", "note"),
    [
        ("", 0, "participants cannot submit until"),
        ("[submissions]\nlimit = 0", 0, "the limit of 0 closes the phase"),
        ("[submissions]\nlimit = 3", 0, "the limit of 3 is for all time: empty the field"),
        ("[submissions]\nlimit = 3\nperiod_days = 1", 2, None),
        ("[submissions]\nlimit = 3\nperiod_days = 7", 1, None),
    ],
)
def test_the_platform_takes_as_many_submissions_as_the_phase_states(tmp_path, tables, remaining, note):
    phase = loaded_phase(tmp_path / "phase", tables=tables)
    settings = json.loads(settings_file(platform_settings(phase, metrics_of_empty_submission(phase, 0))))
    assert remaining_submissions(settings, (0.5, 3.0, 400.0)) == remaining
    assert [text.startswith(note) for text in submission_notes(phase)] == ([True] if note else [])
    assert set(submission_notes(phase)) <= set(notes_of(phase, settings))


def test_refuge(tmp_path):
    # 24 cases, half of them glaucomatous: enough of each class for an interval.
    phase = loaded_phase(tmp_path / "phase", 24)
    settings = platform_settings(phase, metrics_of_empty_submission(phase, 0))
    assert settings["score_title"] == "AUC"
    assert settings["score_jsonpath"] == "aggregates.classification.auc.value"
    assert settings["score_error_jsonpath"] == (
        "aggregates.classification.auc.confidence_interval.half_width"
    )
    assert settings["score_default_sort"] == "desc"
    orders = {column["path"]: column["order"] for column in settings["extra_results_columns"]}
    assert orders == {
        "aggregates.segmentation.dice_cup.value": "desc",
        "aggregates.segmentation.dice_disc.value": "desc",
        "aggregates.segmentation.vertical_cup_to_disc_ratio_error.value": "asc",
    }


def test_what_the_phase_asks_for(tmp_path):
    keys = {"score": "fovea.distance", "columns": ["segmentation.dice_cup"]}
    phase = loaded_phase(tmp_path / "phase", keys=keys, tables='[digits]\n"fovea.distance" = 1')
    settings = platform_settings(phase, metrics_of_empty_submission(phase, 0))
    assert settings["score_jsonpath"] == "aggregates.fovea.distance.value"
    assert settings["score_default_sort"] == "asc"
    assert settings["score_decimal_places"] == 1
    # Four cases are too few for an interval.
    assert settings["score_error_jsonpath"] == ""
    (column,) = settings["extra_results_columns"]
    assert column == {
        "title": "Dice of the cup",
        "path": "aggregates.segmentation.dice_cup.value",
        "order": "desc",
    }


def test_columns_that_are_shown_and_not_ranked(tmp_path):
    keys = {"columns": ["segmentation.dice_disc"], "unranked_columns": ["fovea.distance"]}
    phase = loaded_phase(tmp_path / "phase", keys=keys, tables='[titles]\n"fovea.distance" = "Fovea [px]"')
    settings = platform_settings(phase, metrics_of_empty_submission(phase, 0))
    assert settings["extra_results_columns"] == [
        {"title": "Dice of the disc", "path": "aggregates.segmentation.dice_disc.value", "order": "desc"},
        {
            "title": "Fovea [px]",
            "path": "aggregates.fovea.distance.value",
            "order": "asc",
            "exclude_from_ranking": True,
        },
    ]
    # The platform ranks a submission without a column that is not ranked.
    assert phase.form.optional_tasks == ("fovea",)


@pytest.mark.parametrize(
    ("title", "problem"),
    [
        (
            '"classification.auc" = "' + "x" * 65 + '"',
            "score_title: string should have at most 64 char",
        ),
        ('"segmentation.dice_cup" = ""', "columns.0.title: string should have at least 1 character"),
        (
            '"segmentation.dice_cup" = "' + "x" * 65 + '"',
            "columns.0.title: string should have at most 64 characters",
        ),
    ],
)
def test_titles_that_the_platform_does_not_take(tmp_path, title, problem):
    phase = loaded_phase(tmp_path / "phase", tables=f"[titles]\n{title}")
    with pytest.raises(PhaseError) as raised:
        platform_settings(phase, metrics_of_empty_submission(phase, 0))
    assert problem in raised.value.problems[0]
    assert raised.value.problems[-1] == "[titles] in phase.toml renames a metric"


@pytest.mark.parametrize(
    ("tables", "shown"),
    [
        ('value_digits = 6\n[digits]\n"classification.auc" = 4', 4),
        ("", None),
        ('[digits]\n"classification.auc" = 3\n"segmentation.dice_cup" = 3', None),
        ('[digits]\n"classification.auc" = 2\n"segmentation.dice_cup" = 3', 2),
        (  # the tasks' titles tell them apart
            '[digits]\n"classification.auc" = 3\n"segmentation.dice_cup" = 3\n'
            '[titles]\n"segmentation.dice_cup" = "AUC"',
            None,
        ),
    ],
)
def test_figures_that_look_the_same_and_take_different_ranks_are_told(tmp_path, tables, shown):
    phase = loaded_phase(tmp_path / "phase", keys={"columns": ["segmentation.dice_cup"]}, tables=tables)
    told = warnings_of(phase, platform_settings(phase, metrics_of_empty_submission(phase, 0)))
    assert len(told) == (shown is not None)
    for warning in told:
        assert warning.startswith(f"the page shows {shown} decimals of every figure: ")
        assert ", in segmentation.dice_cup (" in warning
