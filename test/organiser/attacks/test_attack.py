"""Every attack recovers the labels that it claims, from what is published alone, and no bound is above it."""

import itertools
import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.evaluate import evaluate
from evaluation.organiser.attacks.attack import (
    AttackOnMeans,
    Split,
    attack,
    print_attacks,
)
from evaluation.organiser.attacks.attack_on_classes import Search
from evaluation.organiser.attacks.attack_tools import (
    Oracle,
    OutOfSubmissionsError,
    spoilers,
    subsets_of_sum,
    value_of,
)
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from evaluation.platform.result_file import render
from test.challenges.declared.phases import declared_phase
from test.phases import loaded_phase, refuge_submission, tiny_cases
from test.repository import REPOSITORY

OPEN = """
resamples = 200
value_digits = 4
spread_digits = 3
"""
VALUES = """
resamples = 0
value_digits = {digits}
"""


def bundled(folder: Path, name: str, keys: str, subgroups: str = ""):
    """Return the reference of a bundled phase, with other keys: the phase itself publishes less."""
    phase = Path(shutil.copytree(REPOSITORY / "ground-truth" / name, folder / name))
    given = (phase / "phase.toml").read_text()
    kept = ("challenge", "name", "title", "submission", "input_socket", "seed")
    lines = [line for line in given.splitlines() if line.split(" = ")[0] in kept]
    (phase / "leaderboard.csv").unlink(missing_ok=True)
    (phase / "phase.toml").write_text("\n".join(lines) + f"\n{keys}\n{subgroups}")
    return load_phase(phase, scan(phase))


def attacked(phase, allowed=200, **options):
    results = attack(phase, 0, allowed, **options)
    for found in results:
        assert found.recovered == found.correct, found
        assert found.submissions <= allowed
        if found.recovered == found.cases:
            assert found.bound <= found.bound_of_used <= found.submissions, found
    return {(found.labels, found.method.split(":")[0]): found for found in results}


CLASSIFICATION = '\ntasks = ["classification"]\nplatform.score = "classification.auc"\n'


def test_labels_of_refuge_from_two_orders(tmp_path):
    """12 of 40 by values and intervals of the AUC and of the sensitivity."""
    phase = bundled(tmp_path, "refuge-onsite", OPEN + CLASSIFICATION)
    (found,) = attacked(phase).values()
    assert (found.labels, found.recovered) == ("classification.glaucoma", 40)
    assert found.submissions <= 2


def test_labels_of_justraigs_from_five_submissions(tmp_path):
    """10 of 61 are referable and one has no label; rates of decisions count the chosen eyes of a class."""
    phase = bundled(tmp_path, "justraigs-phase1", OPEN)
    found = attacked(phase)["referral.referable", "referral.auc"]
    assert (found.recovered, found.cases) == (61, 61)
    assert found.submissions <= 5


def test_labels_where_many_cases_could_have_none(tmp_path):
    """As with six ungradable eyes of 600: their sets are too many to try, so that levels replace ranks."""
    phase = bundled(tmp_path, "justraigs-phase1", VALUES.format(digits=4))
    found = attacked(phase, search=Search(most_unlabelled_sets=0))["referral.referable", "referral.auc"]
    assert (found.recovered, found.cases) == (61, 61)


@pytest.mark.parametrize(("digits", "fewest", "most"), [(12, 4, 4), (2, 5, 12)])
def test_fewer_digits_take_more_submissions(tmp_path, digits, fewest, most):
    """Without intervals: 673 · 13 results of four digits, 101 · 13 of two."""
    phase = bundled(tmp_path, "refuge-onsite", VALUES.format(digits=digits) + CLASSIFICATION)
    (found,) = attacked(phase).values()
    assert found.recovered == 40
    assert fewest <= found.submissions <= most


def test_without_submissions_left_only_certain_labels_count(tmp_path):
    phase = bundled(tmp_path, "refuge-onsite", VALUES.format(digits=2) + CLASSIFICATION)
    found = {
        allowed: attacked(phase, allowed=allowed)["classification.glaucoma", "classification.auc"]
        for allowed in (1, 6)
    }
    assert {allowed: each.submissions for allowed, each in found.items()} == {1: 1, 6: 6}
    assert found[1].recovered == 0
    assert 0 < found[6].recovered < 40


TWO_FIELDS = """
[fields.likelihood]
kind = "number"
reference_column = "class"
positive = ["glaucoma"]
negative = ["healthy"]

[fields.grade]
kind = "class"
classes = ["none", "mild"]

[tasks.screening.metrics]
auc = { field = "likelihood" }
macro_f1 = { field = "grade" }
"""


@pytest.mark.parametrize("most", [64, 20])
def test_labels_of_a_task_with_several_fields(tmp_path, most):
    """By one search of all 30 cases, or group by group: known labels spread the ranks of the second."""
    number = 30
    cases = {
        "name": [f"eye{case:02d}" for case in range(number)],
        "class": ["glaucoma" if case % 3 == 0 else "healthy" for case in range(number)],
        "grade": ["mild" if case % 4 == 0 else "none" for case in range(number)],
    }
    folder = declared_phase(tmp_path / "phase", TWO_FIELDS, cases, keys="resamples = 0")
    search = Search(most_cases=most, large_group=min(most, 40))
    (found,) = attacked(load_phase(folder, scan(folder)), search=search).values()
    assert (found.labels, found.recovered) == ("screening.likelihood_class", number)


def test_structures_of_adam_from_the_f1_of_their_detection(tmp_path):
    keys = VALUES.format(digits=4) + '\ntasks = ["lesions"]\nplatform.score = "lesions.drusen_f1"\n'
    results = attacked(bundled(tmp_path, "adam-onsite", keys))
    for structure in ("drusen", "exudate", "scar", "other"):
        found = results[f"lesions.{structure}_present", f"lesions.{structure}_f1"]
        assert found.recovered == found.cases == 45


def test_images_with_a_class_from_the_numbers_of_images_with_false_pixels(tmp_path):
    """Full masks in some images of EDD2020: those with false pixels are counted."""
    keys = VALUES.format(digits=4) + '\ntasks = ["segmentation"]\n'
    phase = bundled(tmp_path, "edd2020", keys)
    results = attacked(phase)
    for name in ("BE", "suspicious", "HGD", "cancer", "polyp"):
        metric = f"segmentation.images_with_false_{name}"
        found = results[f"cases of {metric}", metric]
        assert found.recovered == found.cases == 30
    assert found.submissions < 30


SUBGROUP = '\n[[subgroups]]\ncolumn = "glaucoma"\n'
PUBLISHED = 'publish_label_subgroups = ["glaucoma"]\ntasks = ["classification", "{task}"]\n' + VALUES


@pytest.mark.parametrize(("digits", "fewest", "most"), [(12, 3, 3), (4, 4, 12)])
def test_labels_from_the_difference_of_one_subgroup_mean(tmp_path, digits, fewest, most):
    """With all digits three submissions tell all labels: cups as large as discs, then smaller unequally."""
    keys = PUBLISHED.format(task="segmentation", digits=digits)
    phase = bundled(tmp_path, "refuge-onsite", keys, SUBGROUP)
    task = next(task for task in phase.tasks if task.name == "segmentation")
    oracle = Oracle(phase, [task], 40)
    nested = next(spoilers(task, oracle))
    ratio = "vertical_cup_to_disc_ratio_error"
    found = AttackOnMeans(task, ratio, nested, Split("glaucoma", "1", 12), oracle).recovered()
    assert found.labels == {
        case.name: row.cells["glaucoma"] for case, row in zip(phase.cases.forms, phase.rows, strict=True)
    }
    assert fewest <= found.submissions <= most


def test_labels_from_distances(tmp_path):
    """A distance is known to a skilled participant to a pixel or two: it takes some more."""
    keys = PUBLISHED.format(task="fovea", digits=12)
    found = attacked(bundled(tmp_path, "refuge-onsite", keys, SUBGROUP))["glaucoma = 1", "fovea.distance"]
    assert found.recovered == 40
    assert 2 < found.submissions < 41


def test_that_nothing_applies_is_said(tmp_path, capsys):
    keys = {"tasks": ["fovea"], "score": "fovea.distance"}
    print_attacks(loaded_phase(tmp_path / "phase", tiny_cases(12), keys=keys), 40, solver=False)
    assert "none of the attacks applies" in capsys.readouterr().out


# --- What an attacker sees is the metrics.json that `evaluate` writes ---


def test_a_submission_gets_its_metrics_json(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 24, keys={"tasks": ["classification"]})

    def change(case, values):
        return values | {"glaucoma_risk": case.number % 7 / 7}

    folder = refuge_submission(tmp_path / "submission", 24, fields=["glaucoma_risk"], change=change)
    expected = json.loads(render(asdict(evaluate(phase, folder, 0).metrics)))
    oracle = Oracle(phase, phase.tasks, allowed=1)
    found = oracle.submit({"glaucoma_risk": int(case.name[1:]) % 7 / 7} for case in oracle.cases)
    assert found == expected
    assert (
        value_of(found, "classification", "auc") == expected["aggregates"]["classification"]["auc"]["value"]
    )
    assert value_of(found, "fovea", "distance") is None
    with pytest.raises(OutOfSubmissionsError):
        oracle.submit([])
    assert oracle.submissions == 1


# --- Labels from sums, against enumeration of all labels ---


def fitting(weights, lower, upper):
    """All labels whose weighted sums lie within the bounds."""
    rows = np.array(list(itertools.product((0, 1), repeat=weights.shape[1])))
    sums = rows @ weights.T
    return rows[((sums >= lower - 1e-9) & (sums <= upper + 1e-9)).all(axis=1)]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-20, 20), min_size=0, max_size=9), st.integers(-30, 30), st.integers(0, 5))
def test_subsets_against_enumeration(weights, lower, width):
    found = subsets_of_sum(weights, lower - 0.5, lower + width + 0.5, most=10_000)
    matrix = np.array([weights], dtype=np.float64).reshape(1, len(weights))
    expected = fitting(matrix, np.array([lower - 0.5]), np.array([lower + width + 0.5]))
    assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, expected.tolist()))


def test_many_weights_meet_in_the_middle():
    """2^32 subsets are too many to try; the one that was drawn is the only one of its sum."""
    random = np.random.default_rng(3)
    weights, truth = random.random(32), random.integers(0, 2, 32)
    total = float(weights @ truth)
    assert subsets_of_sum(weights.tolist(), total - 1e-12, total + 1e-12, most=10).tolist() == [
        truth.tolist()
    ]


@pytest.mark.parametrize("most", [0, 3])
def test_no_more_subsets_than_asked_for(most):
    assert len(subsets_of_sum([0.0] * 10, -1, 1, most)) == most + 1
