"""Every attack recovers the labels that it claims, from what is published alone, and no bound is above it."""

import shutil
import weakref
from pathlib import Path

import pytest

from evaluation.organiser.attacks.attack import (
    AttackOnMeans,
    Split,
    attack,
    labels_from_detections,
    print_attacks,
)
from evaluation.organiser.attacks.attack_on_classes import Search
from evaluation.organiser.attacks.attack_tools import Oracle, spoilers
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import declared_phase
from test.phases import loaded_phase, tiny_cases
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


CLASSIFICATION = '\ntasks = ["classification"]\nscore = "classification.auc"\n'


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
reference = "class"
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
    keys = VALUES.format(digits=4) + '\ntasks = ["lesions"]\nscore = "lesions.drusen_f1"\n'
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


def test_full_masks_are_not_held(tmp_path):
    """Those of 400 photographs of ADAM would take many gigabytes."""

    class Listening(Oracle):
        full = 0

        def submit(self, predictions):
            return super().submit(self.listened(predictions))

        def listened(self, predictions):
            held = []
            for case, values in zip(self.cases, predictions, strict=True):
                assert sum(one() is not None for one in held) <= 1
                for value in values.values():
                    if value.values.size == case.width * case.height:
                        assert value.values.base is None
                        held.append(weakref.ref(value.values))
                        self.full += 1
                yield values

    phase = bundled(tmp_path, "adam-onsite", "resamples = 0")
    (task,) = (task for task in phase.tasks if task.name == "disc")
    oracle = Listening(phase, [task], 1)
    labels_from_detections(task, {"f1": 3}, oracle)
    assert oracle.full > 0
