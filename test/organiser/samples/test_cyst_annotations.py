"""Synthetic annotations: what each annotator is said to do, and the bundled sample."""

import csv

import numpy as np
import pytest
import SimpleITK

from evaluation.cli.main import main
from evaluation.organiser.samples.cysts import ANNOTATORS, annotate, draw_cases
from test.repository import REPOSITORY

BUNDLED = REPOSITORY / "test/input/cysts-annotations"
AS_BUNDLED = [
    "--name",
    "cysts-benchmark",
    "--cases",
    "6",
    "--scale",
    "0.2",
    "--b-scans",
    "6",
    "--seed",
    "2016",
]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    assert main(["sample", "cysts", "--annotations", "--output", str(folder), *AS_BUNDLED]) == 0
    return folder


def volume(path):
    return SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path)))


def test_the_bundled_sample_is_what_the_command_writes(sample):
    files = sorted(path.relative_to(BUNDLED) for path in BUNDLED.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(sample) for path in sample.rglob("*") if path.is_file())
    assert sum((BUNDLED / path).stat().st_size for path in files) < 1_000_000
    for path in files:
        if path.suffix == ".mha":
            np.testing.assert_array_equal(volume(BUNDLED / path), volume(sample / path))
        else:
            assert (BUNDLED / path).read_bytes() == (sample / path).read_bytes()


def test_five_b_scans_of_every_volume_lie_in_it(sample):
    with (sample / "evaluation.csv").open(newline="") as file:
        chosen = [(row["volume"], int(row["b_scan"])) for row in csv.DictReader(file)]
    assert len(set(chosen)) == len(chosen) == 6 * 5
    for name, b_scan in chosen:
        assert 1 <= b_scan <= len(volume(sample / "images" / f"{name}.mha"))


def test_annotators_have_their_habits():
    case, *_ = draw_cases(1, 0.3, np.random.default_rng(1))
    rng = np.random.default_rng(2)
    read = {name: [annotate(case, rng, habits) for _ in range(20)] for name, habits in ANNOTATORS.items()}
    mean = {
        name: np.mean([levels[levels > 0].mean() for levels in volumes]) for name, volumes in read.items()
    }
    assert mean["low"] < mean["rough"] < mean["high"]
    marked = {name: np.mean([np.count_nonzero(v) for v in volumes]) for name, volumes in read.items()}
    spread = {name: np.std([np.count_nonzero(v) for v in volumes]) for name, volumes in read.items()}
    assert spread["rough"] > max(spread["low"], spread["high"])
    assert marked["low"] == pytest.approx(marked["high"], rel=0.1)


def test_fewer_than_five_b_scans_are_refused(tmp_path, capsys):
    arguments = ["sample", "cysts", "--annotations", "--output", str(tmp_path / "s"), "--b-scans", "4"]
    assert main(arguments) == 1
    assert "expected at least 5, found 4" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()
