"""The rehearsal of phases: of the bundled ones, and of challenges with a fault of their own."""

import math
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.organiser import rehearsal as run
from evaluation.organiser.rehearsal import MetricBounds, problems_of, rehearse
from evaluation.organiser.rehearsal.from_views import BLIND
from evaluation.organiser.subset import draw, write_subset
from evaluation.phase.manifest import scan
from evaluation.phase.phase import Phase, load_phase
from test.faults import faulted
from test.phases import FIELDS, loaded_phase, tiny_cases
from test.repository import OF_EACH_CHALLENGE, REPOSITORY


def bundled(name: str) -> Phase:
    folder = REPOSITORY / "ground-truth" / name
    return load_phase(folder, scan(folder))


@pytest.mark.parametrize("name", OF_EACH_CHALLENGE)
def test_a_bundled_phase_of_each_challenge_holds(tmp_path, name):
    """On every fourth case, since a rehearsal of all takes seconds."""
    whole = bundled(name)
    write_subset(whole, draw(whole, Fraction(1, 4)), tmp_path / "part", "part")
    phase = load_phase(tmp_path / "part", scan(tmp_path / "part"))
    result = rehearse(phase, workers=0)
    assert result.problems == ()
    names = {f"{task.name}.{metric.name}" for task in phase.tasks for metric in task.metrics}
    names |= {composite.name for composite in phase.challenge.composites_of(phase.tasks)}
    assert set(result.figures) == names
    for figures in result.figures.values():
        assert len(figures.keys() - set(BLIND)) == 7 + 4  # no kind lacks a variant


def test_figures_of_a_tiny_phase(tmp_path):
    # 4 cases of 16 × 12 pixels, half of them glaucomatous; a disc of 36 pixels of which 6 are the cup.
    result = rehearse(loaded_phase(tmp_path / "phase"), workers=1)
    assert result.problems == ()
    assert result.cases == 4
    auc = result.figures["classification.auc"]
    assert (auc["perfect"], auc["empty"], auc["inverted"], auc["missing"]) == (1.0, 0.5, 0.0, 0.0)
    disc = result.figures["segmentation.dice_disc"]
    assert disc["perfect"] == 1.0
    assert disc["near-perfect"] == pytest.approx(2 * 36 / (36 + 37))
    assert disc["empty"] == disc["inverted"] == disc["missing"] == 0.0
    assert disc["perfect, half missing"] == 0.5
    # The foveas lie at x = 3, 4, 5, 6 and y = 5.5; shuffled they are 1, 1, 1 and 3 pixels off.
    fovea = result.figures["fovea.distance"]
    assert (fovea["perfect"], fovea["near-perfect"], fovea["shuffled"]) == (0.0, 1.0, 1.5)
    assert fovea["missing"] == 20.0
    assert fovea["perfect, half missing"] == 10.0


def test_a_metric_that_no_case_enters_is_named(tmp_path):
    phase = loaded_phase(tmp_path / "phase", tiny_cases(4, positives=0), keys={"score": "fovea.distance"})
    result = rehearse(phase, workers=0)
    assert result.problems == ()
    assert result.untried == ("classification.auc", "classification.reference_sensitivity")


@pytest.fixture
def faulty(tmp_path):
    """Return a function from a fault to a phase of the challenge that has it, programmed beside it."""

    def phase(fault: str) -> Phase:
        shutil.copy(Path(__file__).parent / "challenges" / "faulty.py", tmp_path / "challenge.py")
        (tmp_path / "cases.csv").write_text("name,decision\nA,1\nB,0\nC,1\nD,0\nE,1\nF,1\n")
        (tmp_path / "phase.toml").write_text(
            'challenge = "faulty"\nname = "faulty"\ntitle = "Faulty"\nsubmission = "archive"\n'
            f'[options]\nfault = "{fault}"\n'
        )
        return load_phase(tmp_path, scan(tmp_path))

    return phase


@pytest.mark.parametrize(
    ("fault", "metric", "told"),
    [
        ("none", "", ""),
        ("worst row", "error", "the missing submission gets 0 and beats the inverted one with 1"),
        ("missing leaves the mean", "accuracy", "exists for the perfect submission and not for the missing"),
        ("prediction in the denominator", "accuracy", "the empty submission makes it undefined in case"),
    ],
)
def test_a_fault_is_caught_and_names_the_metric(faulty, fault, metric, told):
    """One in a row, in a worst row and in a reference; the other rules are tried on figures alone."""
    problems = rehearse(faulty(fault), workers=0).problems
    assert any(found.startswith(f"decisions.{metric}: {told}") for found in problems) == (fault != "none")
    if fault != "prediction in the denominator":  # which spoils both metrics
        assert {found.partition(":")[0] for found in problems} == {f"decisions.{metric}"} - {"decisions."}


def test_a_score_that_fails_names_case_and_submission(faulty):
    with faulted(PhaseError, "case A") as raised:
        rehearse(faulty("exception"), workers=1)
    assert "ZeroDivisionError: by design" in str(raised.value)


@pytest.mark.parametrize(
    ("count", "size", "chosen"),
    [
        (3, 0, [0, 1, 2]),
        (4, 5000, [0, 1, 2, 3]),  # 100 million pixels are allowed
        (8, 5000, [0, 2, 4, 6]),
        (1, 100_000, [0]),
        (400, 0, [*range(400)]),  # and 400 cases
        (800, 0, [*range(0, 800, 2)]),
    ],
)
def test_a_large_phase_is_rehearsed_on_cases_spread_over_it(count, size, chosen):
    cases = [CaseForm(f"C{number}", size, size) for number in range(count)]
    masks = [field for field in FIELDS if field.name in ("segmentation", "fovea")]
    assert run._choose(cases, masks) == chosen


def test_shuffled_predictions_come_from_cases_of_the_same_size():
    cases = [CaseForm(name, size, size) for name, size in zip("ABCDE", (4, 8, 4, 4, 6), strict=True)]
    assert run._partners(cases) == [2, 1, 3, 0, 4]


# --- What must hold for a metric's figures ---


DICE = MetricBounds(best=1, worst=0)
DISTANCE = MetricBounds(best=0, worst=math.inf)

GOOD = {
    "perfect": 1.0,
    "near-perfect": 0.9,
    "empty": 0.2,
    "inverted": 0.1,
    "shuffled": 0.3,
    "missing": 0.0,
    "perfect, half missing": 0.5,
    "near-perfect, half missing": 0.45,
    "empty, half missing": 0.1,
    "inverted, half missing": 0.05,
}


def problems(scale: MetricBounds, figures: dict[str, float]) -> list[str]:
    return list(problems_of("task.metric", scale, figures))


def test_figures_in_order():
    assert problems(DICE, GOOD) == []
    assert problems(DISTANCE, {name: 10 * (1 - value) for name, value in GOOD.items()}) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"perfect": 0.95}, "the perfect submission gets 0.95, not the best value 1"),
        ({"inverted": 0.91}, "the inverted submission gets 0.91 and beats the near-perfect one with 0.9"),
        ({"near-perfect": 1.1}, "the near-perfect submission gets 1.1, outside 0 to 1"),
        ({"missing": 0.15}, "the missing submission gets 0.15 and beats the inverted one with 0.1"),
        ({"missing": 0.25}, "the missing submission gets 0.25 and beats the empty one with 0.2"),
        (
            {"empty, half missing": 0.21},
            "the empty, half missing submission gets 0.21 and beats the empty one with 0.2",
        ),
        ({"shuffled": math.nan}, "exists for the perfect submission and not for the shuffled one"),
    ],
)
def test_a_rule_that_is_broken(change, problem):
    found = problems(DICE, {**GOOD, **change})
    assert any(line.startswith(f"task.metric: {problem}") for line in found), found


SPREAD = MetricBounds(best=0, worst=0.5, ordered=False)
"""Of a figure that orders nothing only the bounds are tested."""


@pytest.mark.parametrize(
    ("scale", "figures", "expected"),
    [
        (
            DISTANCE,
            {"perfect": 0.0, "inverted": 7.0, "missing": 5.0},
            ["the missing submission gets 5 and beats the inverted one with 7, though lower is better"],
        ),
        (
            DICE,
            dict.fromkeys(GOOD, 1.0),
            ["the missing submission gets the same as the perfect one, 1"],
        ),
        (DICE, dict.fromkeys(GOOD, math.nan), []),  # no case enters
        (DICE, {"perfect": 1.0, "missing": 0.0, "perfect, half missing": 0.5}, []),  # a kind derives no more
        # Specificity: an empty prediction raises no false alarm, a nearly perfect one may.
        (DICE, {**GOOD, "empty": 0.95}, []),
        (DICE, {**GOOD, "shuffled": 0.95}, []),
        (SPREAD, {"perfect": 0.1, "inverted": 0.0, "missing": 0.1}, []),
        (
            SPREAD,
            {"perfect": 0.1, "inverted": 0.6, "missing": 0.1},
            ["the inverted submission gets 0.6, outside 0 to 0.5"],
        ),
    ],
)
def test_all_that_is_told_of_figures(scale, figures, expected):
    assert problems(scale, figures) == [f"task.metric: {problem}" for problem in expected]
