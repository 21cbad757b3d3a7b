"""Every attack recovers the labels that it claims, from what is published alone, and no bound is above it."""

import shutil
from pathlib import Path

import pytest

from evaluation.organiser.attack import attack, labels_from_detections
from evaluation.organiser.attack_tools import Oracle
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import declared_phase
from test.phases import loaded_phase, tiny_cases
from test.repository import REPOSITORY


def bundled(folder: Path, name: str, keys: str = "resamples = 0", *, public: bool = False):
    """Return a bundled phase, by default without the intervals, which no attack reads."""
    phase = Path(shutil.copytree(REPOSITORY / "ground-truth" / name, folder / name))
    text = (phase / "phase.toml").read_text().replace("seed", f"{keys}\nseed", 1)
    if public:
        text = text.replace('audience = "organiser"\n', "")
    (phase / "phase.toml").write_text(text)
    return load_phase(phase, scan(phase))


def attacked(phase, allowed=200):
    results = attack(phase, 0, allowed)
    for found in results:
        assert found.recovered == found.correct, found
        assert found.submissions <= allowed
        if found.recovered == found.cases:
            assert found.bound <= found.bound_of_used <= found.submissions, found
    return {(found.labels, found.method.split(":")[0]): found for found in results}


def test_labels_of_refuge_from_its_auc(tmp_path):
    """12 of 40 by an AUC of 673 values: at least 4 submissions."""
    results = attacked(bundled(tmp_path, "refuge-onsite", ""))
    (found,) = results.values()
    assert (found.labels, found.recovered, found.bound_of_used) == ("classification.glaucoma", 40, 4)
    assert found.submissions <= 10


@pytest.mark.parametrize("digits", [2, 12])
def test_fewer_digits_take_more_submissions(tmp_path, digits):
    phase = bundled(tmp_path, "refuge-onsite", f"value_digits = {digits}\nresamples = 0")
    (found,) = attacked(phase).values()
    assert found.recovered == 40
    assert (found.submissions > 6) == (digits == 2)


def test_an_attack_stops_where_no_submission_is_left(tmp_path):
    (found,) = attacked(bundled(tmp_path, "refuge-onsite"), allowed=4).values()
    assert found.submissions == 4
    assert 0 < found.recovered < 40


def test_labels_of_a_task_with_several_fields(tmp_path):
    tables = """
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
    cases = {
        "name": [f"eye{number:02d}" for number in range(30)],
        "class": ["glaucoma" if number % 3 == 0 else "healthy" for number in range(30)],
        "grade": ["mild" if number % 4 == 0 else "none" for number in range(30)],
    }
    folder = declared_phase(tmp_path / "phase", tables, cases, keys="resamples = 0")
    (found,) = attacked(load_phase(folder, scan(folder))).values()
    assert (found.labels, found.recovered) == ("screening.likelihood_class", 30)


def test_labels_where_some_cases_have_none(tmp_path):
    results = attacked(bundled(tmp_path, "justraigs-phase1"))
    found = results["referral.referable", "referral.auc"]
    assert found.recovered == found.cases == 61


def test_structures_of_adam_from_the_f1_of_their_detection(tmp_path):
    results = attacked(bundled(tmp_path, "adam-onsite"))
    structures = ("disc.", "lesions.drusen_", "lesions.exudate_", "lesions.scar_", "lesions.other_")
    for prefix in structures:
        found = results[f"{prefix}present", f"{prefix}f1"]
        assert found.recovered == found.cases == 45


PUBLISHED = 'publish_label_subgroups = ["glaucoma"]\nvalue_digits = {digits}\nresamples = 0'


def test_all_labels_from_the_difference_of_one_subgroup_mean(tmp_path):
    """With all digits three submissions tell all labels: cups as large as discs, then smaller unequally."""
    results = attacked(bundled(tmp_path, "refuge-onsite", PUBLISHED.format(digits=12), public=True))
    ratio = "segmentation.vertical_cup_to_disc_ratio_error"
    for value in "01":
        found = results[f"glaucoma = {value}", ratio]
        assert (found.submissions, found.recovered) == (3, 40)
    found = results["glaucoma = 1", "segmentation.dice_disc"]
    assert found.recovered > 20
    # A distance is known to a skilled participant to a pixel or two: it takes some more.
    found = results["glaucoma = 1", "fovea.distance"]
    assert found.recovered == 40
    assert 2 < found.submissions < 41


def test_four_digits_of_a_subgroup_mean_take_more(tmp_path):
    results = attacked(bundled(tmp_path, "refuge-onsite", PUBLISHED.format(digits=4), public=True))
    found = results["glaucoma = 1", "segmentation.vertical_cup_to_disc_ratio_error"]
    assert found.recovered == 40
    assert found.submissions > 3


def test_a_phase_without_labels_of_cases(tmp_path):
    keys = {"tasks": ["fovea"], "score": "fovea.distance"}
    assert attacked(loaded_phase(tmp_path / "phase", tiny_cases(12), keys=keys)) == {}


def test_full_masks_are_not_held(tmp_path):
    """Those of 400 photographs of ADAM would take many gigabytes."""

    class Listening(Oracle):
        full = 0

        def submit(self, predictions):
            for case in self.cases:
                for name, value in predictions[case.name].items():
                    if value.values.size == case.width * case.height:
                        assert predictions[case.name][name] is not value
                        assert value.values.base is None
                        self.full += 1
            return super().submit(predictions)

    phase = bundled(tmp_path, "adam-onsite")
    (task,) = (task for task in phase.tasks if task.name == "disc")
    oracle = Listening(phase, task, 1)
    labels_from_detections(task, {"f1": 3}, oracle, {"f1": 0.5e-4})
    assert oracle.full > 0
