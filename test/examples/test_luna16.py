"""LUNA16 from its folder alone: the curve by the challenge's plain rules and scikit-learn."""

import csv
import math

import numpy as np
import pytest
from sklearn.metrics import roc_curve

import evaluation
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.examples.samples import lines_of, write_sample
from test.oracles import checked

RATES = [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = write_sample(tmp_path_factory.mktemp("luna16"), "luna16")
    evaluation.seal(folder / "phase")
    return folder


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
    assert min(detected, missed, false) > 5
    return np.interp(RATES, share_false * false / len(scans), share_found * detected / (detected + missed))


@checked(
    froc="sklearn.metrics.roc_curve",
)
def test_the_figures_are_those_of_the_plain_rules(sample):
    phase = sample / "phase"
    expected = sensitivities(
        [row["name"] for row in rows(phase / "cases.csv")],
        rows(phase / "annotations.csv"),
        rows(phase / "annotations_excluded.csv"),
        rows(sample / "submission" / "predictions.csv"),
    )
    result = evaluation.evaluate(phase, sample / "submission", workers=0).to_dict()
    figures = [entry["value"] for entry in result["aggregates"]["detection"].values()]
    assert figures == pytest.approx([expected.mean(), *expected], abs=5e-5)
    interval = result["aggregates"]["detection"]["score"]["confidence_interval"]
    assert interval["method"] == "Wilson-bootstrap"


def test_the_findings_that_are_ignored_matter(sample):
    phase = sample / "phase"
    arguments = [
        [row["name"] for row in rows(phase / "cases.csv")],
        rows(phase / "annotations.csv"),
        rows(phase / "annotations_excluded.csv"),
        rows(sample / "submission" / "predictions.csv"),
    ]
    with_ignored = sensitivities(*arguments)
    arguments[2] = []
    assert sensitivities(*arguments).mean() < with_ignored.mean()


def test_the_phase_can_be_rehearsed_and_checked(sample):
    assert rehearse(load_phase(sample / "phase")).problems == ()
    assert evaluation.check(sample / "phase", sample / "submission", workers=0).passed


def test_what_an_organiser_writes():
    assert lines_of("luna16") <= 60
