"""VerSe from its folder alone: its rules, vertebra by vertebra, with distances of SciPy."""

import csv

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import evaluation
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import write_table
from test.examples.samples import write_sample
from test.oracles import checked


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = write_sample(tmp_path_factory.mktemp("verse"), "verse")
    evaluation.seal(folder / "phase")
    return folder


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
    figures = evaluation.evaluate(phase, submission, workers=0).to_dict()["aggregates"]["labelling"]
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


def test_the_phase_can_be_rehearsed_and_checked(sample):
    assert rehearse(load_phase(sample / "phase")).problems == ()
    assert evaluation.check(sample / "phase", sample / "submission", workers=0).passed


def test_a_scan_without_any_vertebra_of_the_reference_is_the_worst(sample, tmp_path):
    true = centroids(sample / "phase" / "vertebrae.csv")
    rows = [(scan, 0, 0, 0, "L6") for scan in true]  # a vertebra that no scan has
    columns = dict(zip(("case", "x", "y", "z", "name"), zip(*rows, strict=True), strict=True))
    write_table(tmp_path / "predictions.csv", columns)
    found = figures_of(sample / "phase", tmp_path)
    assert (found["identification_rate"], found["mean_radial_error"]) == (0, 1000)


def test_a_vertebra_twice_is_a_fault_and_a_missing_one_none(sample, tmp_path):
    true = centroids(sample / "phase" / "vertebrae.csv")
    rows = [(scan, *next(iter(of.values())), next(iter(of))) for scan, of in true.items()]
    columns = dict(zip(("case", "x", "y", "z", "name"), zip(*rows, rows[0], strict=True), strict=True))
    write_table(tmp_path / "predictions.csv", columns)
    faults = evaluation.check(sample / "phase", tmp_path, workers=0).faults
    assert [fault.found for fault in faults] == ["2 times"]
