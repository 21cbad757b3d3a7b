"""Overlap and volumes of labels through a phase, against scikit-learn and NumPy."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, jaccard_score, precision_score, recall_score

from evaluation.core.fault import PhaseError
from evaluation.core.field import Variant
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.challenges.declared.images import figures_of, volume_phase
from test.oracles import BY_HAND, checked

LABELS = {1: "liver", 2: "spleen", 5: "aorta"}
FIELD = """\
[fields.map]
kind = "label_map"
labels = { 1 = "liver", 2 = "spleen", 5 = "aorta" }
"""
TABLES = f"""{FIELD}
[tasks.scans]
metrics = ["dice", "jaccard", "voxel_sensitivity", "voxel_precision", "volume_difference"]
"""
VOXEL_MM3 = 0.25
RANDOM = np.random.default_rng(11)


def scans(count=4):
    return {
        f"scan{number}": RANDOM.choice(np.array([0, 0, 0, *LABELS], np.uint8), (3, 4, 5))
        for number in range(count)
    }


REFERENCES, PREDICTIONS = scans(), scans()


def mean_of_labels(function):
    """Return what a function of two flat masks gives for each label and as mean, averaged over scans."""
    values = {
        name: np.mean(
            [
                function(REFERENCES[scan].ravel() == label, PREDICTIONS[scan].ravel() == label)
                for scan in REFERENCES
            ]
        )
        for label, name in LABELS.items()
    }
    return {"": np.mean(list(values.values())), **{f"_{name}": value for name, value in values.items()}}


ORACLES = {
    "dice": f1_score,
    "jaccard": jaccard_score,
    "voxel_sensitivity": recall_score,
    "voxel_precision": precision_score,
    "volume_difference": lambda true, found: abs(int(found.sum()) - int(true.sum())) * VOXEL_MM3,
}


@pytest.mark.parametrize("signed", ["false", "true"])
def test_a_phase_is_rehearsed(tmp_path, signed):
    tables = f"{TABLES}\n[tasks.signed.metrics.volume_difference]\nsigned = {signed}\n"
    rehearsal = rehearse(load_phase(volume_phase(tmp_path, tables, REFERENCES)))
    assert rehearsal.problems == ()
    assert set(rehearsal.figures["scans.volume_difference"]) > set(Variant)


@checked(
    dice="sklearn.metrics.f1_score",
    jaccard="sklearn.metrics.jaccard_score",
    voxel_sensitivity="sklearn.metrics.recall_score",
    voxel_precision="sklearn.metrics.precision_score",
    volume_difference=BY_HAND,
)
def test_figures_of_all_labels(tmp_path):
    phase = volume_phase(tmp_path, TABLES, REFERENCES)
    found = figures_of(phase, tmp_path, PREDICTIONS)
    expected = {
        f"{metric}{suffix}": value
        for metric, oracle in ORACLES.items()
        for suffix, value in mean_of_labels(oracle).items()
    }
    assert found == pytest.approx(expected, abs=5e-5)


def one_scan(*labels):
    values = np.zeros((2, 2, 5), np.uint8)
    values.reshape(-1)[: len(labels)] = labels
    return {"scan": values}


@pytest.mark.parametrize(
    ("absent", "reference", "predicted", "expected"),
    [
        # Neither has the aorta; only the prediction has a spleen.
        (
            "score",
            [1, 1, 0],
            [1, 2, 0],
            {"": (2 / 3 + 0 + 1) / 3, "_liver": 2 / 3, "_spleen": 0, "_aorta": 1},
        ),
        ("leave_out", [1, 1, 0], [1, 2, 0], {"": 2 / 3, "_liver": 2 / 3}),
        ("score", [0], [0], {"": 1, "_liver": 1, "_spleen": 1, "_aorta": 1}),
    ],
)
def test_labels_that_a_reference_does_not_have(tmp_path, absent, reference, predicted, expected):
    tables = f'{FIELD}\n[tasks.scans.metrics.dice]\nabsent = "{absent}"\n'
    phase = volume_phase(tmp_path, tables, one_scan(*reference))
    found = figures_of(phase, tmp_path, one_scan(*predicted))
    defined = {f"dice{suffix}": value for suffix, value in expected.items()}
    assert {name: value for name, value in found.items() if value is not None} == pytest.approx(
        defined, abs=5e-5
    )


@pytest.mark.parametrize(
    ("options", "expected", "missing"),
    [
        # Twenty voxels of ¼ mm³; liver 1 → 3 voxels, spleen 2 → 1, aorta 0 → 1.
        ("", {"liver": 0.5, "spleen": 0.25, "aorta": 0.25}, 5.0),
        ("signed = true", {"liver": 0.5, "spleen": -0.25, "aorta": 0.25}, 5.0),
        ("worst = 0.3", {"liver": 0.3, "spleen": 0.25, "aorta": 0.25}, 0.3),
        ("relative = true\nworst = 4", {"liver": 2, "spleen": 0.5, "aorta": 4}, 4),
        ("relative = true\nsigned = true\nworst = 4", {"liver": 2, "spleen": -0.5, "aorta": 4}, 4),
    ],
)
def test_differences_of_volumes(tmp_path, options, expected, missing):
    tables = f"{FIELD}\n[tasks.scans.metrics.volume_difference]\n{options}\n"
    tables += '\n[tasks.scans.metrics.dice]\n[ranking]\nmetrics = ["scans.dice"]\n'
    phase = volume_phase(tmp_path, tables, one_scan(1, 2, 2), keys='missing = "worst"')
    found = figures_of(phase, tmp_path, one_scan(1, 1, 1, 2, 5))
    for label, value in expected.items():
        assert found[f"volume_difference_{label}"] == pytest.approx(value)
    assert found["volume_difference"] == pytest.approx(np.mean(list(expected.values())), abs=5e-5)
    without = figures_of(phase, tmp_path / "missing", {})
    assert without["volume_difference"] == without["volume_difference_aorta"] == pytest.approx(missing)


@pytest.mark.parametrize("metric", ["dice", "jaccard", "voxel_sensitivity", "voxel_precision"])
def test_a_scan_without_a_result_counts_as_0(tmp_path, metric):
    tables = f'{FIELD}\n[tasks.scans.metrics.{metric}]\nlabels = ["liver"]\n'
    phase = volume_phase(
        tmp_path, tables, {**one_scan(1), "other": one_scan(2)["scan"]}, keys='missing = "worst"'
    )
    assert figures_of(phase, tmp_path, one_scan(1)) == {metric: 0.5}


FAULTS = {
    "an unknown label": ('labels = ["livr"]', "labels: expected some of liver, spleen, aorta, found livr"),
    "a relative difference without a worst": ("relative = true", "worst: expected the difference of a case"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_options(tmp_path, name):
    option, expected = FAULTS[name]
    with pytest.raises(PhaseError) as error:
        volume_phase(tmp_path, f"{FIELD}\n[tasks.scans.metrics.volume_difference]\n{option}\n", one_scan(1))
    assert str(error.value).startswith(f"phase.toml: tasks.scans.metrics.volume_difference: {expected}")
