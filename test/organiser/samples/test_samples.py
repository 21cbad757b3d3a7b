"""Samples of all challenges: sealed, scored in the order of their quality, and refused out of range."""

import csv

import numpy as np
import pandas as pd
import pytest
import SimpleITK
from sklearn.metrics import roc_auc_score

from evaluation.cli.main import main
from evaluation.evaluate import Result, evaluate
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from test.phases import replace_in
from test.repository import REPOSITORY

OPTIONS = {
    "refuge": "--cases 40 --width 160 --height 160 --glaucoma 0.3",
    "adam": "--cases 45 --width 124 --height 120 --noise 0.02",
    "edd2020": "--cases 30 --out-of-sample 20 --width 160 --height 128",
    "cysts": "--cases 12 --scale 0.1",
    "justraigs": "--cases 600 --stack 100",
}
QUALITIES = ("perfect", "good", "poor", "random")


def sample(folder, challenge, options):
    """Return the exit status of the command."""
    return main(["sample", challenge, *options.split(), "--output", str(folder)])


@pytest.mark.parametrize("challenge", OPTIONS)
def test_four_submissions_are_scored_in_the_order_of_their_quality(challenge, tmp_path):
    assert sample(tmp_path, challenge, OPTIONS[challenge]) == 0
    for folder in sorted((tmp_path / "ground-truth").iterdir()):
        replace_in(folder / "phase.toml", "seed = ", "resamples = 0\nseed = ")
        phase = load_phase(folder, scan(folder))
        submissions = tmp_path / "submissions" / (folder.name if challenge == "justraigs" else "")
        results = [evaluate(phase, submissions / quality, 0) for quality in QUALITIES]
        for task in phase.tasks:
            for metric in task.metrics:
                if f"{task.name}.{metric.name}" not in phase.challenge.components or not metric.ordered:
                    continue
                values = []
                for result in results:
                    assert isinstance(result, Result)
                    values.append(result.metrics.aggregates[task.name][metric.name].value)
                assert values == sorted(values, reverse=metric.best > metric.worst), metric.name
                assert values[0] == pytest.approx(metric.best)


def test_the_good_submission_has_the_chosen_area_under_the_curve(tmp_path):
    assert sample(tmp_path, "refuge", "--cases 400 --width 64 --height 64 --auc 0.87") == 0
    labels = pd.read_csv(tmp_path / "ground-truth" / "refuge-sample" / "cases.csv")
    predictions = pd.read_csv(tmp_path / "submissions" / "good" / "classification_results.csv")
    assert predictions.iloc[:, 0].str.startswith("R").all()
    assert roc_auc_score(labels["glaucoma"], predictions.iloc[:, 1]) == pytest.approx(0.87, abs=0.001)


def test_images_show_structures_as_often_as_the_set_of_the_paper(tmp_path):
    assert sample(tmp_path, "adam", "--cases 400 --width 64 --height 64 --submissions perfect") == 0
    with (tmp_path / "ground-truth" / "adam-sample" / "cases.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(row["amd"] == "1" for row in rows) == 89  # section 2.1
    assert sum(float(row["fovea_x"]) > 0 for row in rows) == 394  # Table 1


@pytest.mark.parametrize(
    ("challenge", "options", "told"),
    [
        ("refuge", "--glaucoma 1.5", "--glaucoma:"),
        ("refuge", "--auc 1.2", "--auc:"),
        ("refuge", "--width 63", "size:"),
        ("adam", "--noise 0.5", "--noise:"),
        ("adam", "--cases 4", "--cases:"),
        ("edd2020", "--cases 0", "at least one case"),
        ("justraigs", "--cases 50 --referable 1", "expected"),
        ("justraigs", "--cases 50 --stack 0", "expected"),
        ("justraigs", "--cases 50 --graders 1", "graders:"),
        ("cysts", "--scale 1.5", "at least one case"),
        ("cysts", "--annotations --b-scans 4", "expected at least 5, found 4"),
    ],
)
def test_arguments_out_of_range_are_refused(challenge, options, told, tmp_path, capsys):
    assert sample(tmp_path / "s", challenge, options) == 1
    assert told in capsys.readouterr().err


def test_the_bundled_annotations_are_what_the_command_writes(tmp_path):
    options = "--annotations --name cysts-benchmark --cases 6 --scale 0.2 --b-scans 6 --seed 2016"
    assert sample(tmp_path, "cysts", options) == 0
    files = [path.relative_to(tmp_path) for path in tmp_path.rglob("*.*") if path.name != "phase.toml"]
    assert files
    for file in files:
        made, bundled = tmp_path / file, REPOSITORY / "test" / "input" / "cysts-annotations" / file
        if made.suffix == ".mha":
            volumes = (SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(path)) for path in (made, bundled))
            np.testing.assert_array_equal(*volumes, str(file))
        else:
            assert made.read_bytes() == bundled.read_bytes()
