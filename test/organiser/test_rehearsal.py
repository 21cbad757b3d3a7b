"""The rehearsal of phases: of the bundled ones, and of challenges with a fault of their own."""

import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.organiser import rehearsal as run
from evaluation.organiser.rehearsal import rehearse
from evaluation.organiser.subset import draw, write_subset
from evaluation.phase.manifest import scan
from evaluation.phase.phase import Phase, load_phase
from test.faults import faulted
from test.phases import FIELDS, loaded_phase, tiny_cases
from test.repository import OF_EACH_CHALLENGE, PHASES, REPOSITORY


def bundled(name: str) -> Phase:
    folder = REPOSITORY / "ground-truth" / name
    return load_phase(folder, scan(folder))


@pytest.mark.parametrize("name", [name for name in OF_EACH_CHALLENGE if name != "cysts"])
def test_a_bundled_phase_of_each_challenge_holds(name):
    holds(bundled(name))


def test_a_bundled_phase_of_volumes_holds(tmp_path):
    """On every fourth volume, since a rehearsal of all takes seconds."""
    whole = bundled("cysts")
    write_subset(whole, draw(whole, Fraction(1, 4)), tmp_path / "part", "part")
    holds(load_phase(tmp_path / "part", scan(tmp_path / "part")))


@pytest.mark.weekly
@pytest.mark.parametrize("name", PHASES)
def test_every_bundled_phase_holds(name):
    holds(bundled(name))


def holds(phase: Phase) -> None:
    result = rehearse(phase, workers=0)
    assert result.problems == ()
    names = {f"{task.name}.{metric.name}" for task in phase.tasks for metric in task.metrics}
    names |= {composite.name for composite in phase.challenge.composites_of(phase.tasks)}
    assert set(result.figures) == names
    for figures in result.figures.values():
        assert len(figures) == 7 + 4  # no kind lacks a variant


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


def test_a_reference_that_cannot_be_read_is_named(tmp_path):
    phase = loaded_phase(tmp_path / "phase")
    (tmp_path / "phase" / "masks" / "V0002.png").write_bytes(b"altered")
    with faulted(PhaseError, "masks/V0002.png"):
        rehearse(phase, workers=0)


@pytest.mark.parametrize(
    ("count", "size", "chosen"),
    [
        (3, 0, [0, 1, 2]),
        (4, 5000, [0, 1, 2, 3]),  # 100 million pixels are allowed
        (8, 5000, [0, 2, 4, 6]),
        (4, 100_000, [0, 2]),
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
