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
    ranking_notes,
    ranking_table,
    settings_file,
    submission_notes,
    warnings_of,
)
from evaluation.phase.manifest import scan
from evaluation.phase.phase import Phase, load_phase
from evaluation.platform.result_file import render
from test.phases import loaded_phase
from test.repository import OF_EACH_CHALLENGE, REPOSITORY


def metrics_of(phase: Phase, submission: Path) -> dict:
    result = evaluate(phase, submission, 0)
    assert isinstance(result, Result)
    return json.loads(render(dataclasses.asdict(result.metrics)))


def looked_up(metrics: dict, path: str) -> object:
    """Look a dotted path up as the platform does."""
    return reduce(lambda value, key: value[key], path.split("."), metrics)


def settings_of(phase: Phase) -> dict:
    return platform_settings(phase, metrics_of_empty_submission(phase, 0))


@pytest.mark.parametrize("name", OF_EACH_CHALLENGE)
def test_every_path_is_a_number_in_a_real_result(name):
    phase = bundled(name)
    settings = settings_of(phase)
    metrics = metrics_of(phase, REPOSITORY / "test" / "input" / name)
    columns = settings["extra_results_columns"]
    paths = [settings["score_jsonpath"], *(column["path"] for column in columns)]
    errors = [settings["score_error_jsonpath"], *(column.get("error_path", "") for column in columns)]
    assert len(set(paths)) == len(paths)
    for found in [*paths, *filter(None, errors)]:
        assert type(looked_up(metrics, found)) in (int, float), found
    for value, error in zip(paths, errors, strict=True):
        figure = looked_up(metrics, value.removesuffix(".value"))
        assert bool(error) == ("confidence_interval" in figure)
    assert set(public_paths(metrics_of_empty_submission(phase, 0))) <= set(public_paths(metrics))


LIMIT, PERIOD = "submissions_limit_per_user_per_period", "submission_limit_period"


@pytest.mark.parametrize(
    ("tables", "expected", "note"),
    [
        # The platform's own default is closed.
        ("", {}, "participants cannot submit until"),
        ("[submissions]\nlimit = 0", {LIMIT: 0, PERIOD: None}, "the limit of 0 closes the phase"),
        (
            "[submissions]\nlimit = 3",
            {LIMIT: 3, PERIOD: None},
            "the limit of 3 is for all time: empty the field",
        ),
        ("[submissions]\nlimit = 3\nperiod_days = 1", {LIMIT: 3, PERIOD: 1}, None),
        (
            "[submissions]\nlimit = 2\nperiod_days = 7\nopens_at = 2024-01-15T00:00:00Z\n"
            "closes_at = 2024-03-15T23:59:00+01:00\n",
            {
                LIMIT: 2,
                PERIOD: 7,
                "submissions_open_at": "2024-01-15T00:00:00+00:00",
                "submissions_close_at": "2024-03-15T23:59:00+01:00",
            },
            None,
        ),
    ],
)
def test_when_and_how_often_submissions_are_accepted(tmp_path, tables, expected, note):
    """The names of the fields are those of the platform's form of a phase."""
    phase = loaded_phase(tmp_path / "phase", tables=tables)
    settings = json.loads(settings_file(settings_of(phase)))
    assert {key: value for key, value in settings.items() if key.startswith("submission")} == expected
    assert [text.startswith(note) for text in submission_notes(phase)] == ([True] if note else [])
    assert set(submission_notes(phase)) <= set(notes_of(phase, settings))


def test_columns_by_default(tmp_path):
    # 24 cases, half of them glaucomatous: enough of each class for an interval.
    settings = settings_of(loaded_phase(tmp_path / "phase", 24))
    auc = "aggregates.classification.auc"
    assert {key: value for key, value in settings.items() if key.startswith("score")} == {
        "score_title": "AUC",
        "score_jsonpath": f"{auc}.value",
        "score_error_jsonpath": f"{auc}.confidence_interval.half_width",
        "score_default_sort": "desc",
        "score_decimal_places": 4,
    }
    assert {column["path"]: column["order"] for column in settings["extra_results_columns"]} == {
        "aggregates.segmentation.dice_cup.value": "desc",
        "aggregates.segmentation.dice_disc.value": "desc",
        "aggregates.segmentation.vertical_cup_to_disc_ratio_error.value": "asc",
    }


def test_what_the_phase_asks_for(tmp_path):
    keys = {"score": "fovea.distance", "columns": ["segmentation.dice_cup"]}
    keys["unranked_columns"] = ["classification.auc"]
    tables = '[digits]\n"fovea.distance" = 1\n[titles]\n"classification.auc" = "Area"'
    phase = loaded_phase(tmp_path / "phase", keys=keys, tables=tables)
    settings = settings_of(phase)
    assert settings["score_jsonpath"] == "aggregates.fovea.distance.value"
    assert settings["score_default_sort"] == "asc"
    assert settings["score_decimal_places"] == 1
    # Four cases are too few for an interval.
    assert settings["score_error_jsonpath"] == ""
    assert settings["extra_results_columns"] == [
        {"title": "Dice of the cup", "path": "aggregates.segmentation.dice_cup.value", "order": "desc"},
        {
            "title": "Area",
            "path": "aggregates.classification.auc.value",
            "order": "desc",
            "exclude_from_ranking": True,
        },
    ]
    # The platform ranks a submission without a column that is not ranked.
    other = loaded_phase(tmp_path / "other", keys={"unranked_columns": ["fovea.distance"]})
    assert other.form.optional_tasks == ("fovea",)


@pytest.mark.parametrize(
    ("title", "problem"),
    [
        (
            '"classification.auc" = "' + "x" * 65 + '"',
            "score_title: string should have at most 64 char",
        ),
        ('"segmentation.dice_cup" = ""', "columns.0.title: string should have at least 1 character"),
    ],
)
def test_titles_that_the_platform_does_not_take(tmp_path, title, problem):
    phase = loaded_phase(tmp_path / "phase", tables=f"[titles]\n{title}")
    with pytest.raises(PhaseError) as raised:
        settings_of(phase)
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
    told = warnings_of(phase, settings_of(phase))
    assert len(told) == (shown is not None)
    for warning in told:
        assert warning.startswith(f"the page shows {shown} decimals of every figure: ")
        assert ", in segmentation.dice_cup (" in warning


# --- The ranking by the platform's own rules, or notes that it differs ---


def bundled(name: str) -> Phase:
    folder = REPOSITORY / "ground-truth" / name
    return load_phase(folder, scan(folder))


def test_justraigs_is_ranked_by_the_sum_of_two_ranks():
    """grand-challenge.org ranks by the mean of the ranks in the score and in each column not excluded."""
    phase = bundled("justraigs-phase1")
    settings = settings_of(phase)
    assert settings["scoring_method_choice"] == "avg"
    sensitivity = "aggregates.referral.sensitivity_at_95_specificity.value"
    assert (settings["score_jsonpath"], settings["score_default_sort"]) == (sensitivity, "desc")
    distance, composite = settings["extra_results_columns"]
    assert distance["path"] == "aggregates.justification.hamming_distance.value"
    assert distance["order"] == "asc"
    assert not distance.get("exclude_from_ranking")
    assert composite["path"] == "ranking.composites.referral_and_justification_error.value"
    assert composite["exclude_from_ranking"]
    assert ranking_notes(phase, settings) == []
    table = {setting: same for setting, _, same, _ in ranking_table(phase, settings)}
    assert table["avg (chosen)"] == "the same"
    assert "other columns" in table["abs"]
    assert set(table) == {"abs", "avg (chosen)"}


@pytest.mark.parametrize(
    ("name", "method", "shown", "difference"),
    [
        ("refuge-onsite", "abs", "rec", "weights ranks"),
        ("adam-onsite", "abs", "bst", "breaks ties"),
        ("edd2020", "abs", "bst", "several leaderboards"),
        ("cysts", "abs", "bst", "breaks ties"),
    ],
)
def test_what_the_platform_cannot_do_is_said(name, method, shown, difference):
    phase = bundled(name)
    settings = settings_of(phase)
    assert settings["scoring_method_choice"] == method
    assert settings["result_display_choice"] == shown
    notes = notes_of(phase, settings)
    assert any(difference in note and "`rank`" in note and "Example: A, B, C" in note for note in notes)
    rows = ranking_table(phase, settings)
    assert [difference in same for setting, _, same, _ in rows if setting == f"{method} (chosen)"] == [True]
    assert all(example.startswith("A, B, C with") for *_, example in rows)
    assert not any("combined" in note for note in notes)
    useless = [note for note in notes if note.startswith("useless submissions")]
    assert ["'|mAP in sample − mAP out of sample|'" in note for note in useless] == [True] * (
        name == "edd2020"
    )
    assert not any("'mAP out of sample, mean over the thresholds'" in note for note in useless)


def test_how_the_phase_ranks(tmp_path):
    keys = {"scoring_method": "median", "counts": "best", "optional_tasks": "all"}
    phase = loaded_phase(tmp_path / "phase", 24, keys=keys)
    settings = settings_of(phase)
    assert settings["scoring_method_choice"] == "med"
    assert settings["result_display_choice"] == "bst"
    said = " ".join(ranking_notes(phase, settings))
    assert "the optional task classification;" in said
    assert "the optional task segmentation;" in said
