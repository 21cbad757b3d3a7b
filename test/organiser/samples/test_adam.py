import argparse
import csv
import hashlib

import numpy as np
import pytest
from PIL import Image

from evaluation.challenges.adam import CHALLENGE, LESIONS, TITLES
from evaluation.evaluate import Result, evaluate
from evaluation.organiser.samples import adam
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase

# Table 1 of the paper, and the severities of section 2.1.
TABLE_1 = {
    "train": {
        "amd": 89,
        "disc": 270,
        "fovea": 396,
        "lesions": (61, 38, 19, 13, 17),
        "severity": (28, 7, 4, 50),
    },
    "online": {
        "amd": 89,
        "disc": 265,
        "fovea": 400,
        "lesions": (49, 53, 30, 34, 10),
        "severity": (18, 7, 3, 61),
    },
    "onsite": {
        "amd": 89,
        "disc": 286,
        "fovea": 394,
        "lesions": (44, 39, 23, 21, 2),
        "severity": (24, 9, 3, 53),
    },
}
SEVERITIES = ("early", "middle", "advanced dry", "advanced wet")


def write(folder, *arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", default=folder)
    parser.add_argument("--name", default="adam-sample")
    parser.add_argument("--seed", type=int, default=5)
    adam.add_arguments(parser)
    return adam.write(parser.parse_args(arguments), lambda done: None)


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def shown(folder):
    return sum(bool((np.asarray(Image.open(path)) == 0).any()) for path in folder.iterdir())


@pytest.mark.parametrize("name", TABLE_1)
def test_a_full_set_has_the_counts_of_the_paper(name, tmp_path):
    phase, _ = write(tmp_path, "--set", name, "--width", "96", "--height", "92", "--submissions", "random")
    rows, expected = table(phase / "cases.csv"), TABLE_1[name]
    assert len(rows) == 400
    assert sum(row["amd"] == "1" for row in rows) == expected["amd"]
    assert all((row["severity"] != "") == (row["amd"] == "1") for row in rows)
    assert (
        tuple(sum(row["severity"] == severity for row in rows) for severity in SEVERITIES)
        == expected["severity"]
    )
    assert sum(row["fovea_x"] != "0.0" or row["fovea_y"] != "0.0" for row in rows) == expected["fovea"]
    assert shown(phase / "disc") == expected["disc"]
    assert tuple(shown(phase / "lesions" / lesion) for lesion in LESIONS) == expected["lesions"]
    # 376 of the challenge's 1200 photographs came from the second camera.
    assert sum(row["camera"] == "Canon CR-2" for row in rows) == 125
    assert {row["width"] + "×" + row["height"] for row in rows} == {"96×92", "65×65"}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return write(tmp_path_factory.mktemp("sample"), "--cases", "60", "--width", "96", "--height", "92")


def values(phase, submission):
    result = evaluate(load_phase(phase, scan(phase)), submission, workers=0)
    assert isinstance(result, Result), result
    return {
        f"{task}.{metric}": estimate.value
        for task, metrics in result.figures.aggregates.items()
        for metric, estimate in metrics.items()
    }


def test_a_small_set_keeps_every_structure_and_every_metric(small):
    phase, perfect, *_ = small
    found = values(phase, perfect)
    metrics = {
        f"{task.name}.{metric.name}": metric
        for task in CHALLENGE.tasks(adam.AdamOptions())
        for metric in task.metrics
    }
    assert found == {name: metric.best for name, metric in metrics.items()}


def test_the_submissions_are_of_known_order(small):
    phase, *submissions = small
    scores = [values(phase, submission) for submission in submissions]
    for name in ("classification.auc", "disc.dice", "disc.f1", *(f"lesions.{name}_dice" for name in LESIONS)):
        found = [score[name] for score in scores]
        assert found == sorted(found, reverse=True), name
    distances = [score["fovea.distance"] for score in scores]
    assert distances == sorted(distances)


def test_the_same_arguments_give_the_same_bytes(tmp_path):
    arguments = ("--cases", "12", "--width", "96", "--height", "92", "--noise", "0.1")
    digests = [
        {
            str(path.relative_to(tmp_path / name)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((tmp_path / name).rglob("*"))
            if path.is_file()
        }
        for name in ("first", "second")
        if write(tmp_path / name, *arguments)
    ]
    assert digests[0] == digests[1]
    assert len(digests[0]) == 5 * (12 * len(TITLES) + 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--noise", "0.5"), "^--noise:"),
        (("--second-camera", "1.5"), "^--second-camera:"),
        (("--cases", "4"), "^--cases:"),
        (("--width", "10", "--height", "10"), "^size:"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        write(tmp_path, *arguments)
