"""MIDOG 2021 from its folder alone: F1, precision and recall of the sums, by the platform's package."""

import csv
import json
from collections import defaultdict

import pytest
from grand_challenge_metrics.scorers import score_detection

import evaluation
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.examples.samples import lines_of, write_sample

RADIUS_MM = 0.0075


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = write_sample(tmp_path_factory.mktemp("midog2021"), "midog2021")
    evaluation.seal(folder / "phase")
    return folder


def test_the_figures_are_those_of_the_platforms_package(sample):
    true, found = defaultdict(list), defaultdict(list)
    with (sample / "phase" / "mitotic_figures.csv").open() as file:
        for row in csv.DictReader(file):
            true[row["case"]].append([float(row["x"]), float(row["y"]), 0.0])
    for job in json.loads((sample / "submission" / "predictions.json").read_text()):
        output = sample / "submission" / job["pk"] / "output" / "mitotic-figures.json"
        name = job["inputs"][0]["image"]["name"].removesuffix(".tiff")
        found[name] = [point["point"] for point in json.loads(output.read_text())["points"]]
    hits = false = missed = 0
    for name in sorted({*true, *found}):
        scored = score_detection(ground_truth=true[name], predictions=found[name], radius=RADIUS_MM)
        hits += scored.true_positives
        false += scored.false_positives
        missed += scored.false_negatives
    assert min(hits, false, missed) > 20

    result = evaluation.evaluate(sample / "phase", sample / "submission", workers=0).to_dict()
    figures = {name: entry["value"] for name, entry in result["aggregates"]["detection"].items()}
    expected = {
        "f1": 2 * hits / (2 * hits + false + missed),
        "precision": hits / (hits + false),
        "recall": hits / (hits + missed),
    }
    assert figures == pytest.approx(expected, abs=5e-5)


def test_the_phase_can_be_rehearsed_and_checked(sample):
    assert rehearse(load_phase(sample / "phase")).problems == ()
    assert evaluation.check(sample / "phase", sample / "submission", workers=0).passed


def test_what_an_organiser_writes():
    assert lines_of("midog2021") <= 60
