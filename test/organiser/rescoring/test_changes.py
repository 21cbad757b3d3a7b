"""What has changed between two folders of results: values, places and cases."""

import json
import shutil

import numpy as np
import pytest

from evaluation.io.kinds.volume import Volume
from evaluation.organiser.rescoring.changes import (
    Change,
    changes_between,
    changes_json,
    lines_of,
)
from evaluation.organiser.rescoring.run import score_all
from test.eyes import Eye, justraigs_phase, justraigs_submission
from test.phases import refuge_phase, refuge_submission

from .teams import CASES, Here, tasks_of


def worse_disc(count):
    """Return a change that takes a row from the disc of the first cases."""

    def change(case, values):
        if case.number > count:
            return values
        mask = np.array(values["segmentation"].values[0])
        rows = np.flatnonzero((mask == 128).any(axis=1))
        mask[rows[-1]] = 255
        return {**values, "segmentation": Volume.of_image(mask)}

    return change


@pytest.fixture
def folders(tmp_path):
    """Two teams, the first of which has two worse masks in the second run; a third team joins them."""
    submissions = tmp_path / "submissions"
    refuge_submission(submissions / "first", CASES, change=worse_disc(1))
    refuge_submission(submissions / "second", CASES, change=worse_disc(2))
    old = refuge_phase(tmp_path / "old", CASES)
    list(score_all(tasks_of(old, submissions), tmp_path / "before", Here()))
    shutil.rmtree(submissions / "first")
    refuge_submission(submissions / "first", CASES, change=worse_disc(3))
    refuge_submission(submissions / "third", CASES)
    list(score_all(tasks_of(old, submissions), tmp_path / "now", Here()))
    return tmp_path


def test_values_places_and_cases_before_and_now(folders):
    changes = changes_between(folders / "before", folders / "now")
    first, _second, third = changes.submissions
    assert [submission.is_one for submission in changes.submissions] == [True, False, True]
    values = [
        json.loads((folders / name / "first" / "metrics.json").read_bytes())["aggregates"]["segmentation"]
        for name in ("before", "now")
    ]
    dice = first.values["segmentation.dice_disc"]
    assert [dice.before, dice.now] == [figures["dice_disc"]["value"] for figures in values]
    assert dice.now < dice.before
    # One row less in three cases instead of one: these two have moved.
    assert list(first.cases) == ["segmentation"]
    assert [case.case for case in first.cases["segmentation"]] == ["V0002", "V0003"]
    disc = first.cases["segmentation"][0].columns["dice_disc"]
    assert (disc.before, disc.now < 1.0) == (1.0, True)
    assert third.absence == Change("no submission", None)
    segmentation = changes.places["segmentation"]
    assert segmentation == {
        "first": Change(1, 3),
        "second": Change(2, 2),
        "third": Change(None, 1),
    }


def test_the_lines_tell_what_has_changed_alone(folders):
    changes = changes_between(folders / "before", folders / "now")
    head, first, third = lines_of(changes)
    assert head == "refuge-tiny: 2 of 3 submissions have changed, 2 cases moved"
    assert first.startswith(f"first: place {changes.places['overall']['first'].before} → ")
    assert "; Dice of the disc 0.9848 → 0.9545; " in first
    assert "AUC" not in first
    assert first.endswith("; 2 cases moved")
    assert third.startswith("third: no submission → scored; place – → ")


def test_columns_that_hold_arrays_are_compared_and_written(tmp_path):
    """Of two eyes, the graders of one now agree on all ten features; all ten are submitted for both."""
    features = {"before": "1111100000", "now": "1111111111"}
    for name, corrected in features.items():
        eyes = [
            Eye("E1", "RG", 0.9, True, features="1111100000", predicted=[True] * 10),
            Eye("E2", "RG", 0.8, True, features=corrected, predicted=[True] * 10),
            Eye("E3", "NRG", 0.1, False),
        ]
        if name == "before":
            justraigs_submission(tmp_path / "teams" / "team", eyes)
        justraigs_phase(tmp_path / f"phase-{name}", eyes)
        tasks = tasks_of(tmp_path / f"phase-{name}", tmp_path / "teams")
        list(score_all(tasks, tmp_path / name, Here()))
    changes = changes_between(tmp_path / "before", tmp_path / "now")
    (moved,) = changes.submissions[0].cases["justification"]
    assert (moved.case, changes.relabelled) == ("E2", ("E2",))
    assert moved.columns["agreed"] == Change([1] * 5 + [0] * 5, [1] * 10)
    assert moved.columns["distance"] == Change(0.5, 0.0)
    (phase,) = json.loads(changes_json([changes]))["phases"]
    assert phase["submissions"][0]["cases"]["justification"][0]["columns"]["agreed"]["now"] == [1] * 10
