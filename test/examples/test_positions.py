"""Examples of points from their folders alone, against the plain rules of each."""

import csv
import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_curve

from test.challenges.declared.phases import write_table
from test.examples.samples import scored_sample, scores_of
from test.oracles import checked

RATES = [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8]


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def position(row):
    return [float(row[f"coord{axis}"]) for axis in "XYZ"]


def radius(row):
    diameter = float(row["diameter_mm"])
    return (10.0 if diameter < 0 else diameter) / 2


def sensitivities(scans, nodules, excluded, candidates):
    """Return the sensitivity at every rate: each candidate's fate is decided by itself."""
    truth, scores, missed, false = [], [], 0, 0
    for scan in scans:
        found = [row for row in candidates if row["seriesuid"] == scan]
        of_scan = [row for row in nodules if row["seriesuid"] == scan]
        others = [row for row in excluded if row["seriesuid"] == scan]

        def hits(candidate, finding):
            return math.dist(position(candidate), position(finding)) < radius(finding)

        for nodule in of_scan:
            near = [float(row["probability"]) for row in found if hits(row, nodule)]
            missed += not near
            if near:
                truth.append(1)
                scores.append(max(near))
        for candidate in found:
            if not any(hits(candidate, finding) for finding in (*of_scan, *others)):
                truth.append(0)
                scores.append(float(candidate["probability"]))
                false += 1
    share_false, share_found, _ = roc_curve(truth, scores, drop_intermediate=False)
    detected = sum(truth)
    assert min(detected, missed, false) > 0
    return np.interp(RATES, share_false * false / len(scans), share_found * detected / (detected + missed))


@checked(
    froc="sklearn.metrics.roc_curve",
)
def test_the_figures_are_those_of_the_plain_rules(tmp_path):
    sample, found, _ = scored_sample(tmp_path, "luna16")
    scans = [row["name"] for row in rows(sample / "phase/cases.csv")]
    names = ("phase/annotations.csv", "phase/annotations_excluded.csv", "submission/predictions.csv")
    nodules, excluded, candidates = (rows(sample / name) for name in names)
    expected = sensitivities(scans, nodules, excluded, candidates)
    assert list(found.values()) == pytest.approx([expected.mean(), *expected], abs=5e-5)
    # The findings that are ignored matter.
    assert sensitivities(scans, nodules, [], candidates).mean() < expected.mean()


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return scored_sample(tmp_path_factory.mktemp("verse"), "verse")[0]


def centroids(path):
    """Return the centroids of every scan by name."""
    found = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            found.setdefault(row["case"], {})[row["name"]] = [float(row[axis]) for axis in "xyz"]
    return found


def expected_of(true, found):
    """Return the share of identified vertebrae of a scan, and the mean distance of those of both sides."""
    both = [name for name in true if name in found]
    apart = cdist([found[name] for name in both], [true[name] for name in both])
    own = np.diag(apart)
    identified = (own < 20) & (apart.argmin(axis=1) == np.arange(len(both)))
    return identified.sum() / len(true), own.mean()


def figures_of(phase, submission):
    figures = scores_of(phase, submission)["aggregates"]["labelling"]
    return {name: entry["value"] for name, entry in figures.items()}


@checked(identification_rate="scipy.spatial.distance.cdist", mean_radial_error="scipy.spatial.distance.cdist")
def test_the_figures_are_those_of_an_independent_computation(sample):
    found = figures_of(sample / "phase", sample / "submission")
    true, predicted = (
        centroids(sample / path) for path in ("phase/vertebrae.csv", "submission/predictions.csv")
    )
    rates, distances = zip(*(expected_of(true[scan], predicted[scan]) for scan in true), strict=True)
    assert 0.5 < np.mean(rates) < 0.9
    assert found["identification_rate"] == pytest.approx(np.mean(rates), abs=5e-5)
    assert found["mean_radial_error"] == pytest.approx(np.mean(distances), abs=5e-5)
    # A figure of one vertebra is over the scans that show it.
    shown = [scan for scan in true if "C2" in true[scan]]
    by_scan = [
        np.linalg.norm(np.subtract(true[scan]["C2"], predicted[scan].get("C2", np.inf))) for scan in shown
    ]
    by_scan = np.minimum(by_scan, 1000)
    assert 0 < len(by_scan) < len(true)
    assert found["mean_radial_error_C2"] == pytest.approx(np.mean(by_scan), abs=5e-5)


def test_a_scan_without_any_vertebra_of_the_reference_is_the_worst(sample, tmp_path):
    true = centroids(sample / "phase" / "vertebrae.csv")
    rows = [(scan, 0, 0, 0, "L6") for scan in true]  # a vertebra that no scan has
    columns = dict(zip(("case", "x", "y", "z", "name"), zip(*rows, strict=True), strict=True))
    write_table(tmp_path / "predictions.csv", columns)
    found = figures_of(sample / "phase", tmp_path)
    assert (found["identification_rate"], found["mean_radial_error"]) == (0, 1000)
