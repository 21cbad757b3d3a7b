"""Synthetic EDD2020 phases, scored end to end."""

import dataclasses
import json
from argparse import Namespace

import numpy as np
import pytest
import tifffile

from evaluation.challenges.edd2020.rules import Edd2020Options
from evaluation.evaluate import Rejection, check, evaluate
from evaluation.io.tiff import write_tiff
from evaluation.organiser.samples import edd2020
from evaluation.organiser.validate import validate_phase
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from evaluation.phase.scores import case_records
from evaluation.platform.result_file import render
from test.phases import replace_in

QUALITIES = ("perfect", "good", "poor", "random")


def arguments(folder, **changed):
    chosen = {
        "output": folder,
        "name": "edd2020-tiny",
        "seed": 3,
        "cases": 20,
        "out_of_sample": 12,
        "width": 64,
        "height": 48,
        "boxes_only": False,
    }
    return Namespace(**(chosen | changed))


def write(folder, **changed):
    edd2020.write(arguments(folder, **changed), lambda done: None)
    phase = folder / "ground-truth" / "edd2020-tiny"
    replace_in(phase / "phase.toml", "seed = ", "resamples = 50\nseed = ")
    seal(phase, scan(phase))
    return folder


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return write(tmp_path_factory.mktemp("edd2020"))


@pytest.fixture(scope="module")
def phase(sample):
    return load_phase(sample / "ground-truth" / "edd2020-tiny")


def figures(phase, submission):
    return evaluate(phase, submission, workers=0).figures.aggregates


def test_better_submissions_have_better_values(sample, phase):
    found = [figures(phase, sample / "submissions" / quality) for quality in QUALITIES]
    for task, metric in (("detection", "score_d"), ("segmentation", "score_s"), ("generalisation", "map_g")):
        values = [of_quality[task][metric].value for of_quality in found]
        assert values == sorted(values, reverse=True)
        assert values[0] == 1
    assert found[0]["generalisation"]["dev_g"].value == 0


def test_reference_boxes_are_those_of_the_masks(sample):
    folder = sample / "ground-truth" / "edd2020-tiny"
    classes = Edd2020Options().classes
    overlapping = 0
    for path in sorted((folder / "detection_bbox").iterdir()):
        mask = tifffile.imread(folder / "semantic_masks" / f"{path.stem}_mask.tif")
        overlapping += bool(((mask > 0).sum(axis=0) > 1).any())
        lines = [line.split() for line in path.read_text().splitlines()]
        for label, name in enumerate(classes):
            covered = np.zeros_like(mask[label])
            for x1, y1, x2, y2 in (map(int, corners) for of_class, *corners in lines if of_class == name):
                covered[y1 : y2 + 1, x1 : x2 + 1] = 255
                assert mask[label, y1 : y2 + 1, [x1, x2]].any()
            assert not (mask[label] > covered).any()
    assert overlapping


def test_the_same_seed_gives_the_same_bytes(sample, tmp_path):
    again = write(tmp_path)
    files = [path for path in sorted(again.rglob("*")) if path.is_file() and path.name != "manifest.json"]
    assert len(files) > 5 * 32
    assert all(path.read_bytes() == (sample / path.relative_to(again)).read_bytes() for path in files)


def test_workers_change_no_byte(sample, phase):
    submission = sample / "submissions" / "good"
    texts = [
        [render(dataclasses.asdict(result.metrics)), render(case_records(result))]
        for result in (evaluate(phase, submission, workers) for workers in (0, 2))
    ]
    assert texts[0] == texts[1]


def test_curves_reach_the_per_case_file(sample, phase):
    result = evaluate(phase, sample / "submissions" / "good", workers=0)
    content = json.loads(render(case_records(result)))
    curves = content["details"]["detection"]["precision_recall"]
    assert {curve["class"] for curve in curves} == set(Edd2020Options().classes)
    assert all(np.diff(curve["recall"]).min(initial=0) >= 0 for curve in curves)
    assert "segmentation" not in content["details"]


def test_faults_of_boxes_and_masks_are_listed_together(sample, phase, tmp_path):
    good = sample / "submissions" / "good"
    submission = tmp_path / "submission"
    for path in good.rglob("*"):
        if path.is_file():
            (submission / path.relative_to(good)).parent.mkdir(parents=True, exist_ok=True)
            (submission / path.relative_to(good)).write_bytes(path.read_bytes())
    (submission / "detection_bbox" / "E00001.txt").write_text("BE 0.5 1 2 3\nBE 0.5 1 2 65 4\n")
    (submission / "detection_bbox" / "E00002.txt").unlink()
    (submission / "detection_bbox" / "G00001.txt").write_text("")
    (submission / "generalization_bbox" / "G00002.txt").write_text("")
    four = write_tiff(np.zeros((4, 48, 64), np.uint8))
    (submission / "semantic_masks" / "E00003_mask.tif").write_bytes(four)
    expected = [
        "detection_bbox/E00001.txt, line 1: expected 6 fields (class confidence x1 y1 x2 y2), found 5",
        "detection_bbox/E00001.txt, line 2: expected x2 from 0 to 64, found 65",
        "detection_bbox/E00002.txt: expected a file for this image, found none",
        "detection_bbox/G00001.txt: expected only images of this phase, as detection_bbox/<image>.txt, "
        "found a file of another name (for G00001? Name it detection_bbox/G00001.txt)",
        "semantic_masks/E00003_mask.tif: expected 5 channels, found 4",
    ]
    rejection = evaluate(phase, submission, workers=0)
    assert isinstance(rejection, Rejection)
    assert sorted(map(str, rejection.faults)) == expected
    assert sorted(map(str, check(phase.form, submission, workers=0).faults)) == expected


def test_a_phase_without_a_second_set(tmp_path):
    sample = write(tmp_path, out_of_sample=0, boxes_only=True, cases=12)
    phase = load_phase(sample / "ground-truth" / "edd2020-tiny")
    (phase.folder / "cases.csv").write_text(
        (phase.folder / "cases.csv").read_text().replace(",set", ",other"), encoding="utf-8"
    )
    seal(phase.folder, scan(phase.folder))
    phase = load_phase(phase.folder)
    found = figures(phase, sample / "submissions" / "perfect")
    assert list(found) == ["detection"]
    assert found["detection"]["score_d"].value == 1


def test_the_organiser_is_told_what_the_second_set_lacks(tmp_path):
    sample = write(tmp_path, out_of_sample=1, boxes_only=True, cases=30)
    folder = sample / "ground-truth" / "edd2020-tiny"
    (folder / "generalization_bbox" / "G00001.txt").write_text("BE 0 0 9 9\n")
    notices = validate_phase(folder, scan(folder), workers=0).notices
    assert [notice for notice in notices if "dev_g" in notice] == [
        f"generalisation: the out-of-sample set has no box of {name}, "
        "so that dev_g compares means over different classes"
        for name in ("suspicious", "HGD", "cancer", "polyp")
    ]


@pytest.mark.parametrize("changed", [{"cases": 0}, {"out_of_sample": -1}, {"width": 8}])
def test_numbers_out_of_range(tmp_path, changed):
    with pytest.raises(ValueError, match="at least one case"):
        write(tmp_path, **changed)
