"""The example of CURVAS 2024 from its folders alone, against an independent computation."""

import numpy as np
import pytest
import SimpleITK
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.metrics import f1_score

import evaluation
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.examples.samples import write_sample
from test.oracles import BY_HAND, checked

ORGANS = {1: "pancreas", 2: "kidney", 3: "liver"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_sample(tmp_path_factory.mktemp("curvas"), "curvas2024")
    evaluation.seal(folder / "phase")
    return folder


def array(path):
    return SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path)))


def calibration_error(shares, true):
    """Return the error in 50 bins, of which the last holds probabilities of 1 as in torchmetrics."""
    confidence, right = shares.max(axis=0).ravel(), (shares.argmax(axis=0) == true).ravel()
    edges = [*np.linspace(0, 1, 51), 2]
    sums = [np.histogram(confidence, edges, weights=of)[0] for of in (confidence, right * 1.0)]
    return np.abs(sums[0] - sums[1]).sum() / right.size


def crps(volume, volumes):
    mean, deviation = np.mean(volumes), np.std(volumes)
    ends = mean - 3 * deviation, mean + 3 * deviation
    step = np.clip(volume, *ends)
    below = quad(lambda at: norm.cdf(at, mean, deviation) ** 2, ends[0], step)[0]
    return below + quad(lambda at: norm.sf(at, mean, deviation) ** 2, step, ends[1])[0]


def figures_of(scan, folder):
    references = [array(folder / f"phase/organs/reader_{number}/{scan}") for number in (1, 2, 3)]
    prediction = array(folder / "submission/organs" / scan)
    shares = np.array([array(folder / "submission" / name / scan) for name in ORGANS.values()], float)
    figures = {}
    for label, name in ORGANS.items():
        votes = sum((reference == label).astype(int) for reference in references)
        agreed, of_organ = (votes == 0) | (votes == 3), shares[label - 1]
        figures["dice", name] = f1_score(votes[agreed] == 3, prediction[agreed] == label)
        means = of_organ[votes == 0].mean(), of_organ[votes == 3].mean()
        figures["consensus_confidence", name] = (1 - means[0] + means[1]) / 2
        volumes = [(reference == label).sum() * 0.012 for reference in references]
        figures["volume_crps", name] = crps(of_organ.sum() * 0.012, volumes)
    whole = {
        of: np.mean([value for (metric, _), value in figures.items() if metric == of]) for of, _ in figures
    }
    background = np.maximum(1 - shares.sum(axis=0, keepdims=True), 0)
    errors = [calibration_error(np.concatenate([background, shares]), true) for true in references]
    single = {f"{of}_{name}": value for (of, name), value in figures.items()}
    return {**whole, **single, "voxel_calibration_error": np.mean(errors)}


@checked(
    dice="sklearn.metrics.f1_score",
    volume_crps="scipy.integrate.quad",
    voxel_calibration_error="numpy.histogram",
    consensus_confidence=BY_HAND,
)
def test_the_figures_are_those_of_an_independent_computation(folder):
    result = evaluation.evaluate(folder / "phase", folder / "submission", workers=0).to_dict()
    rows = [figures_of(path.name, folder) for path in sorted((folder / "submission/organs").iterdir())]
    expected = {key: np.mean([row[key] for row in rows]) for key in rows[0]}
    found = {key: entry["value"] for key, entry in result["aggregates"]["organs"].items()}
    assert found == pytest.approx(expected, abs=5e-5)
    assert 0.01 < expected["voxel_calibration_error"] < 0.2


def test_the_phase_can_be_rehearsed_and_checked(folder):
    assert rehearse(load_phase(folder / "phase")).problems == ()
    assert evaluation.check(folder / "phase", folder / "submission", workers=0).passed
