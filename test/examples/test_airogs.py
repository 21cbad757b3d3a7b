"""AIROGS from its folder alone: its four figures as scikit-learn computes them."""

import csv
import json

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, roc_auc_score, roc_curve

import evaluation
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.examples.samples import lines_of, write_sample


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = write_sample(tmp_path_factory.mktemp("airogs"), "airogs")
    evaluation.seal(folder / "phase")
    return folder


def outputs(sample, slug, names):
    """Return the values of an output for the cases, given as (stack, index)."""
    found = {}
    for job in json.loads((sample / "submission" / "predictions.json").read_text()):
        stack = job["inputs"][0]["image"]["name"]
        path = sample / "submission" / job["pk"] / "output" / f"{slug}.json"
        found |= {(stack, index): value for index, value in enumerate(json.loads(path.read_text()))}
    return np.array([found[name] for name in names])


def test_the_figures_are_those_of_scikit_learn(sample):
    with (sample / "phase" / "cases.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = [(row["stack_name"], int(row["stack_index"])) for row in rows]
    classes = np.array([row["class"] for row in rows])
    likelihood = outputs(sample, "multiple-referable-glaucoma-likelihoods", names)
    referral = outputs(sample, "multiple-referable-glaucoma-binary-decisions", names)
    score = outputs(sample, "multiple-referable-ungradability-scores", names)
    ungradable = outputs(sample, "multiple-referable-ungradability-binary-decisions", names)

    gradable = classes != "U"
    referable = classes[gradable] == "RG"
    rates, sensitivities, _ = roc_curve(referable, likelihood[gradable], drop_intermediate=False)
    expected = {
        "screening": {
            "alpha": roc_auc_score(referable, likelihood[gradable], max_fpr=0.1),
            "beta": sensitivities[rates <= 0.05].max(),
            "referral_accuracy": np.mean(referral[gradable] == referable),
        },
        "robustness": {
            "gamma": cohen_kappa_score(~gradable, ungradable),
            "delta": roc_auc_score(~gradable, score),
        },
    }
    result = evaluation.evaluate(sample / "phase", sample / "submission", workers=0).to_dict()
    for task, figures in expected.items():
        found = {name: figure["value"] for name, figure in result["aggregates"][task].items()}
        assert found == pytest.approx(figures, abs=5e-5)
        assert all(0.3 < value < 0.99 for value in found.values())


def test_the_phase_can_be_rehearsed_and_checked(sample):
    assert rehearse(load_phase(sample / "phase")).problems == ()
    assert evaluation.check(sample / "phase", sample / "submission", workers=0).passed


def test_teams_are_ranked_by_the_mean_of_four_ranks(sample):
    scheme = load_phase(sample / "phase").challenge.ranking
    assert scheme is not None
    (board,) = scheme(None).boards
    assert [term.metric for term in board.terms] == [
        "screening.alpha",
        "screening.beta",
        "robustness.gamma",
        "robustness.delta",
    ]
    assert board.combination == "mean"


def test_what_an_organiser_writes():
    assert lines_of("airogs") <= 60
