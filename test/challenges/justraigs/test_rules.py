"""JustRAIGS against hand arithmetic, scikit-learn and the rules for missing results."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from evaluation.challenges.justraigs.rules import CHALLENGE, FEATURES, JustraigsOptions
from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.evaluate import Rejection, evaluate
from evaluation.phase.scores import case_records, read_case_records
from evaluation.platform.result_file import render
from evaluation.stats.intervals import wilson_interval
from test.eyes import Eye, justraigs_phase, justraigs_submission

TASKS = {task.name: task for task in CHALLENGE.tasks(JustraigsOptions())}


def referral(likelihoods, referable) -> dict[str, float]:
    task = TASKS["referral"]
    rows = [
        task.worst_row(None, {"likelihood": label})
        if likelihood is None
        else task.score({"likelihood": likelihood}, {"likelihood": label})
        for likelihood, label in zip(likelihoods, referable, strict=True)
    ]
    return metric_values(task.metrics, CaseTable([str(i) for i in range(len(rows))], rows))


def sensitivity(likelihoods, referable) -> float:
    return referral(likelihoods, referable)["sensitivity_at_95_specificity"]


# 20 negatives: exactly one false positive is allowed, since 19 of 20 are 95 %.
NEGATIVES = [n / 100 for n in range(20)]
KNOWN = {
    "perfect": ([0.5] * 4, NEGATIVES, 1.0),
    "constant": ([0.0] * 4, [0.0] * 20, 0.0),
    "constant 1": ([1.0] * 4, [1.0] * 20, 0.0),
    "one false positive is allowed": ([0.19, 0.185, 0.17, 0.5], NEGATIVES, 0.75),
    "a tie straddles 5 %": ([0.18, 0.18, 0.17, 0.5], [*NEGATIVES[:18], 0.18, 0.18], 0.25),
    "a tie with the one allowed": ([0.19, 0.19, 0.1, 0.5], NEGATIVES, 0.75),
    "missing positives are never found": ([None, None, 0.5, 0.5], NEGATIVES, 0.5),
    "one missing negative uses up the 5 %": ([0.19, 0.185, 0.195, 0.5], [*NEGATIVES[:19], None], 1.0),
    "two missing negatives leave no threshold": ([0.5] * 4, [*NEGATIVES[:18], None, None], 0.0),
}


@pytest.mark.parametrize(("positives", "negatives", "expected"), KNOWN.values(), ids=KNOWN)
def test_sensitivity_at_95_specificity(positives, negatives, expected):
    labels = [1.0] * len(positives) + [0.0] * len(negatives)
    assert sensitivity([*positives, *negatives], labels) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("decision", "referable", "expected"),
    [
        (1, 1.0, (1, math.nan)),
        (0, 1.0, (0, math.nan)),
        (1, 0.0, (math.nan, 0)),
        (0, 0.0, (math.nan, 1)),
        (None, 1.0, (0, math.nan)),
        (None, 0.0, (math.nan, 0)),
        (1, math.nan, (math.nan, math.nan)),
        (None, math.nan, (math.nan, math.nan)),
    ],
)
def test_decisions(decision, referable, expected):
    task, reference = TASKS["decision"], {"decision": referable}
    row = (
        task.worst_row(None, reference) if decision is None else task.score({"decision": decision}, reference)
    )
    assert (row["referred"], row["not_referred"]) == pytest.approx(expected, nan_ok=True)


# 3 referable eyes, 2 others, 1 ungradable; the features 1010101010 in words: every other one.
EYES = [
    Eye("E1", "RG", 0.9, True, predicted=[True, False] * 5),
    Eye("E2", "RG", 0.8, False, features="1111100000", predicted=[True] * 10),
    Eye("E3", "RG", 0.1, True, second="0101010101", predicted=[True] * 10),
    Eye("E4", "NRG", 0.3, False),
    Eye("E5", "NRG", 0.2, True),
    Eye("E6", "U", 0.95, True),
]


@pytest.fixture
def phase(tmp_path):
    return justraigs_phase(tmp_path / "phase", EYES)


def result_of(phase, folder, eyes=EYES, **options):
    result = evaluate(phase, justraigs_submission(folder, eyes, **options), 0)
    assert not isinstance(result, Rejection), result
    return result


def values(result) -> dict[str, float]:
    found = {
        f"{task}.{name}": estimate.value
        for task, metrics in result.figures.aggregates.items()
        for name, estimate in metrics.items()
    }
    return found | {name: one.value for name, one in result.figures.composites.items()}


def test_a_small_phase_by_hand(phase, tmp_path):
    result = result_of(phase, tmp_path / "submission")
    found = values(result)
    # E2's likelihood is above both negatives, E3's below; with 2 negatives no false positive is allowed.
    assert found["referral.sensitivity_at_95_specificity"] == pytest.approx(2 / 3)
    assert found["referral.auc"] == pytest.approx(4 / 6)
    estimate = result.figures.aggregates["referral"]["sensitivity_at_95_specificity"]
    fixed, expected = estimate.further_intervals["wilson_threshold_held_fixed"], wilson_interval(2, 3)
    assert (fixed.lower, fixed.upper) == pytest.approx((expected.lower, expected.upper))
    assert found["decision.sensitivity"] == pytest.approx(2 / 3)
    assert found["decision.specificity"] == pytest.approx(1 / 2)
    # E1 all right, E2 five of ten wrong, of E3 nothing is agreed.
    assert found["justification.hamming_distance"] == pytest.approx((0 + 0.5) / 2)
    assert found["justification.large_cup_error"] == pytest.approx(1 / 2)
    assert found["justification.appearance_neuroretinal_rim_superiorly_error"] == 0
    assert found["referral_and_justification_error"] == pytest.approx(1 / 3 + 0.25)


def test_three_tables_are_worth_what_the_jobs_of_an_algorithm_are(phase, tmp_path):
    archives = justraigs_phase(tmp_path / "archives", EYES, keys={"submission": "archive"})
    tables = {
        "likelihoods.csv": [("Eye ID", "Likelihood"), *((eye.name, eye.likelihood) for eye in EYES)],
        "decisions.csv": [("Eye ID", "Decision"), *((eye.name, int(eye.decision)) for eye in EYES)],
        "features.csv": [("Eye ID", *FEATURES), *((eye.name, *map(int, eye.predicted)) for eye in EYES)],
    }
    folder = tmp_path / "archive"
    folder.mkdir()
    for name, rows in tables.items():
        (folder / name).write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    result = evaluate(archives, folder, 0)
    assert not isinstance(result, Rejection), result
    assert values(result) == values(result_of(phase, tmp_path / "submission"))


def test_ungradable_eyes_change_nothing(phase, tmp_path):
    other = [replace(eye, likelihood=0.0, decision=False) if eye.label == "U" else eye for eye in EYES]
    assert values(result_of(phase, tmp_path / "a")) == values(result_of(phase, tmp_path / "b", other))


MISSING = {
    "an object": ({"predicted": None}, "justification.hamming_distance", (1 + 0.5) / 2),
    "a key": ({"predicted": [None, *[False, True, False] * 3]}, "justification.hamming_distance", None),
    "a decision": ({"decision": None}, "decision.sensitivity", 1 / 3),
    "a likelihood": ({"likelihood": None}, "referral.sensitivity_at_95_specificity", 1 / 3),
}


@pytest.mark.parametrize(("change", "metric", "expected"), MISSING.values(), ids=MISSING)
def test_what_is_missing_is_wrong(phase, tmp_path, change, metric, expected):
    found = values(result_of(phase, tmp_path / "submission", [replace(EYES[0], **change), *EYES[1:]]))
    if expected is None:
        # Of 1010101010 the first is missing and so wrong; F T F T F T F T F follow as F T F F T F F T F.
        wrong = 1 + sum(a != b for a, b in zip("010101010", "010010010", strict=True))
        expected = (wrong / 10 + 0.5) / 2
    assert found[metric] == pytest.approx(expected)


def test_a_stack_without_a_job_is_missing_for_all_its_eyes(phase, tmp_path):
    result = result_of(phase, tmp_path / "submission", edit=lambda jobs: jobs[1:])
    assert [bool(outcome.worst) for outcome in result.outcomes] == [True] * 3 + [False] * 3
    found = values(result)
    assert found["referral.sensitivity_at_95_specificity"] == 0
    assert found["justification.hamming_distance"] == 1


def test_an_error_that_no_eye_enters_is_undefined_in_the_recorded_cases_too(tmp_path):
    """The file leaves its column out, and rankings and reports read it."""
    eyes = [eye for eye in EYES if eye.label != "RG"]
    phase = justraigs_phase(tmp_path / "phase", eyes)
    records = case_records(result_of(phase, tmp_path / "submission", eyes))
    content = json.loads(render(records, organisers=True, rounded=False))
    assert "large_cup_error" not in json.dumps(content["cases"])
    table = read_case_records(content, phase.tasks).tables["justification"]
    assert np.isnan(table["large_cup_error"]).tolist() == [True] * len(eyes)
