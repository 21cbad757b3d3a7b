"""JustRAIGS samples: shares, graders, persons, and submissions in the order of their quality."""

import argparse
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from evaluation.core.outcome import no_progress
from evaluation.organiser.justraigs_tables import read_graders
from evaluation.organiser.samples import justraigs


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
