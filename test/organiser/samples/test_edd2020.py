"""Synthetic EDD2020 phases, scored end to end."""

from argparse import Namespace

from evaluation.evaluate import evaluate
from evaluation.organiser.samples import edd2020
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from test.phases import replace_in


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


def figures(phase, submission):
    return evaluate(phase, submission, workers=0).figures.aggregates


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
