"""JustRAIGS samples: shares, graders, persons, and submissions in the order of their quality."""

import argparse
import filecmp
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from evaluation.challenges.justraigs.rules import CHALLENGE
from evaluation.core.outcome import no_progress
from evaluation.evaluate import Result, evaluate
from evaluation.organiser.justraigs_tables import read_graders
from evaluation.organiser.samples import justraigs
from evaluation.organiser.validate import validate_phase
from evaluation.phase.manifest import scan
from test.repository import REPOSITORY

QUALITIES = ("perfect", "good", "poor", "random")


def write(folder, *options: str, name: str = "small", seed: int = 3) -> Path:
    parser = argparse.ArgumentParser()
    justraigs.add_arguments(parser)
    arguments = parser.parse_args([*options])
    arguments.output, arguments.name, arguments.seed = folder, name, seed
    justraigs.write(arguments, no_progress)
    return folder


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("sample"), "--cases", "1000", "--stack", "300")


@pytest.mark.parametrize(("phase", "eyes", "stacks"), [("phase1", 100, 1), ("phase2", 1000, 4)])
def test_phases_can_be_sealed_and_their_submissions_are_ordered(sample, phase, eyes, stacks):
    folder = sample / "ground-truth" / f"small-{phase}"
    loaded = validate_phase(folder, scan(folder), 0).phase
    assert len(loaded.rows) == eyes
    assert sum(row.cells["final_label"] == "RG" for row in loaded.rows) == 0.16 * eyes
    assert len(loaded.form.stacks) == stacks
    results = [evaluate(loaded, sample / "submissions" / f"small-{phase}" / name, 0) for name in QUALITIES]
    assert all(isinstance(result, Result) for result in results)
    figures = [result.metrics for result in results]
    for component in CHALLENGE.components:
        task, metric = component.split(".")
        values = [figure.aggregates[task][metric].value for figure in figures]
        assert values == sorted(values, reverse=task == "referral")
        assert values[0] == (1 if task == "referral" else 0)
    scores = [figure.ranking.composites["referral_and_justification_error"] for figure in figures]
    assert scores == sorted(scores)
    assert scores[0] == 0


def test_graders_agree_as_people_do(sample):
    eyes = read_graders(sample / "organisers" / "graders.csv")
    first, second, third = zip(*(eye.graded.labels for eye in eyes), strict=True)
    assert 0.5 < cohen_kappa_score(first, second) < 0.9
    assert all(bool(c) == (a != b) for a, b, c in zip(first, second, third, strict=True))
    marks = [
        (a, b)
        for eye in eyes
        if eye.graded.labels[0] == eye.graded.labels[1] == "RG"
        for a, b in zip(*eye.graded.features[:2], strict=True)
    ]
    assert 0.55 < np.mean([a is b for a, b in marks]) < 0.85
    assert all((None in eye.graded.features[0]) == (eye.graded.labels[0] != "RG") for eye in eyes)


def test_most_persons_have_two_eyes(sample):
    eyes = {eye.name: eye for eye in read_graders(sample / "organisers" / "graders.csv")}
    with_fellow = [eye for eye in eyes.values() if eye.fellow]
    assert len(with_fellow) == 800
    assert all(eyes[eye.fellow].fellow == eye.name for eye in with_fellow)


def test_the_same_seed_gives_the_same_files(tmp_path):
    first, second = (write(tmp_path / name, "--cases", "60", "--stack", "20") for name in "ab")
    files = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(second) for path in second.rglob("*") if path.is_file())
    assert filecmp.cmpfiles(first, second, files, shallow=False)[0] == files


def test_the_bundled_phases_are_what_the_generator_gives(tmp_path):
    folder = write(tmp_path, "--cases", "600", "--stack", "100", name="justraigs", seed=2024)
    for phase in ("justraigs-phase1", "justraigs-phase2"):
        pairs = {
            folder / "ground-truth" / phase: REPOSITORY / "ground-truth" / phase,
            folder / "submissions" / phase / "good": REPOSITORY / "test" / "input" / phase,
        }
        for made, bundled in pairs.items():
            files = [path.relative_to(made) for path in made.rglob("*") if path.is_file()]
            assert filecmp.cmpfiles(made, bundled, files, shallow=False)[0] == files


@pytest.mark.parametrize("options", [("--referable", "0"), ("--referable", "1"), ("--stack", "0")])
def test_refuses_what_is_no_phase(tmp_path, options):
    with pytest.raises(ValueError, match="expected"):
        write(tmp_path, "--cases", "50", *options)


def test_named_graders_work_in_pairs_of_blocks_and_change_nothing_else(sample, tmp_path):
    eyes = read_graders(
        write(tmp_path, "--cases", "1000", "--stack", "300", "--graders", "5") / "organisers" / "graders.csv"
    )
    assert len({eye.graders[:2] for eye in eyes}) in (3, 4, 5)
    assert {name for eye in eyes for name in eye.graders[:2]} <= {
        f"grader0{number}" for number in range(1, 6)
    }
    assert {eye.graders[2] for eye in eyes} == {"", "specialist1", "specialist2"}
    assert all(bool(eye.graders[2]) == bool(eye.graded.labels[2]) for eye in eyes)
    unnamed = read_graders(sample / "organisers" / "graders.csv")
    assert [eye.graded for eye in eyes] == [eye.graded for eye in unnamed]


@pytest.mark.parametrize("graders", ["1", "-2", "100"])
def test_a_number_of_graders_that_cannot_be(graders, tmp_path):
    with pytest.raises(ValueError, match=r"^graders:"):
        write(tmp_path, "--graders", graders)
