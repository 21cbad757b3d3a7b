"""Every metric of the catalogue is the same to the last bit with scorers in other processes and in this one.

The predictions of each phase are derived from its reference: the same, one pixel or step away, empty, the
opposite, those of one case for many (ties), and missing ones.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import evaluation
from evaluation.challenges.declared.rules import FIELDS, METRICS, name_of
from evaluation.core.challenge import fields_of, references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Variant
from evaluation.organiser.submission_writer import ArchiveWriter
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import Phase, load_phase
from evaluation.phase.reference import OpenReference, ReferenceValues
from evaluation.phase.registry import read_configuration
from evaluation.platform.result_file import render
from test.in_process import library_in_process

write_sample = pytest.importorskip("evaluation.organiser.starter.repository").write_sample

__all__ = ["library_in_process"]

FIELDS_OF_PHASES = {
    "boxes": 'kind = "boxes"\nclasses = ["a", "b"]\nprobability = true',
    "boxes of one class": 'kind = "boxes"\nprobability = true',
    "box": 'kind = "box"',
    "class": 'kind = "class"\nclasses = ["a", "b"]',
    "class probabilities": 'kind = "class_probabilities"\nclasses = ["a", "b"]',
    "decision": 'kind = "decision"',
    "detection map": 'kind = "detection_map"',
    "flags": 'kind = "flags"\nnames = ["first", "second"]',
    "keypoints": 'kind = "keypoints"\nnames = ["first", "second"]',
    "label map": 'kind = "label_map"\nlabels = { 1 = "liver", 2 = "spleen" }',
    "label map of an image": 'kind = "label_map"\nlabels = { 1 = "liver", 2 = "spleen" }\ndimensions = 2',
    "label map of annotators": """\
kind = "label_map"
labels = { 1 = "liver" }
annotators = ["first", "second", "third"]

[fields.probability]
kind = "probability_map"
reference_folder = "value/first"
""",
    "number": 'kind = "number"\nminimum = 0\nmaximum = 1',
    "number of a class": """\
kind = "number"
minimum = 0
maximum = 1
reference = "truth"
positive = ["1"]
negative = ["0"]""",
    "point": 'kind = "point"',
    "points": 'kind = "points"\nprobability = true',
    "image": 'kind = "image"\nminimum = 0\nmaximum = 1',
    "probability map": 'kind = "probability_map"',
    "survival": 'kind = "survival"',
    "presences": 'kind = "presence_probabilities"\nnames = ["first", "second"]',
    "displacement": """\
kind = "displacement_field"
labels = { 1 = "liver", 2 = "spleen" }
fixed_landmarks = "fixed.csv"
moving_landmarks = "moving.csv"
""",
}
"""The declaration of the field of each phase."""
OPTIONS = {
    "betti_error": "worst = 5",
    "consensus_confidence": 'probabilities = { liver = "probability" }',
    "expected_cost": "costs = [[0, 1], [2, 0]]",
    "f_beta": "beta = 2",
    "froc": "radius = 3",
    "mean_radial_error": "worst = 50",
    "net_benefit": "threshold = 0.5",
    "partial_auc": "min_specificity = 0.5",
    "point_f1": "radius = 3",
    "point_precision": "radius = 3",
    "point_recall": "radius = 3",
    "sensitivity_at_precision": "precision = 0.5",
    "sensitivity_at_specificity": "specificity = 0.5",
    "specificity_at_sensitivity": "sensitivity = 0.5",
    "success_detection_rate": "radius = 3",
    "symmetric_relative_score": "epsilon = 1",
    "surface_dice": "tolerance_mm = 1",
    "target_registration_error": "worst = 9",
    "volume_crps": 'probabilities = { liver = "probability" }',
    "voxel_calibration_error": 'probabilities = { liver = "probability" }',
}
"""The required keys of metrics."""
DECISIONS = {"number of a class": "threshold = 0.5"}
"""Keys that make decisions of a field's values, for metrics that need them."""


def declare(folder: Path, name: str) -> list[str]:
    """Write the configuration of a phase with all metrics that fit its field, and return their names."""
    (kind,) = (
        field for field in FIELDS if f'kind = "{name_of(field)}"' in FIELDS_OF_PHASES[name].split("\n")[0]
    )
    options = {
        name_of(metric): OPTIONS.get(name_of(metric), "") for metric in METRICS if kind in metric.kinds
    }
    while True:
        metrics = "\n".join(
            f'{metric} = {{ field = "value"{", " * bool(keys)}{keys} }}' for metric, keys in options.items()
        )
        (folder / "phase.toml").write_text(
            'name = "scored"\ntitle = "Scored"\nsubmission = "archive"\nresamples = 20\nmissing = "worst"\n\n'
            f"[fields.value]\n{FIELDS_OF_PHASES[name]}\n\n[tasks.task.metrics]\n{metrics}\n",
            encoding="utf-8",
        )
        try:
            read_configuration(folder)
        except PhaseError as error:
            named = r"phase.toml: (?:unknown key )?tasks.task.metrics.(\w+)"
            refused = {match[1]: problem for problem in error.problems if (match := re.match(named, problem))}
            if not refused:
                raise
            for metric, problem in refused.items():
                needed = DECISIONS.get(name) if "threshold" in problem else None
                if needed is not None and not options[metric].endswith(needed):
                    options[metric] = ", ".join(filter(None, (options[metric], needed)))
                else:
                    options.pop(metric, None)
        else:
            return list(options)


def write_variants(phase: Phase, submission: Path) -> None:
    """Write predictions: derived from the case's reference in turn, from the first one's (ties), or none."""
    fields = fields_of(phase.tasks)
    opened = OpenReference(phase.reference, references_of(phase.tasks))
    known = [ReferenceValues(opened, *both) for both in zip(phase.form.cases, phase.rows, strict=True)]
    random = np.random.default_rng(0)
    writer = ArchiveWriter(submission, fields)
    for number, case in enumerate(phase.form.cases):
        variant = [*Variant, Variant.PERFECT, None][number % 6]
        values = {}
        for field in fields if variant is not None else ():
            reference = known[0 if number % 6 == 4 else number]
            value = field.kind.rehearse(reference[field.name], case, variant)
            if value is None:  # this kind has no such variant, or no reference of this field
                value = field.kind.example(case, random)
            if value is not None:
                values[field.name] = field.kind.writable(value, case)
        writer.add(case.name, values)
    writer.close()


@pytest.fixture(scope="module")
def scored(tmp_path_factory) -> dict[str, tuple[list[str], dict, dict]]:
    """The metrics of each phase, and the organiser's records, without and with workers."""
    found = {}
    for name in FIELDS_OF_PHASES:
        folder = tmp_path_factory.mktemp("phase")
        metrics = declare(folder, name)
        write_sample(folder, folder.parent / f"{folder.name}-sample")
        seal(folder, scan(folder))
        submission = folder.parent / f"{folder.name}-submission"
        write_variants(load_phase(folder), submission)
        results = [evaluation.evaluate(folder, submission, workers=workers) for workers in (0, 2)]
        found[name] = metrics, *(render(result.records, organisers=True, rounded=False) for result in results)
    return found


def test_every_metric_is_scored(scored):
    assert {metric for metrics, *_ in scored.values() for metric in metrics} == set(map(name_of, METRICS))


@pytest.mark.parametrize("name", FIELDS_OF_PHASES)
def test_scorers_in_processes_give_the_same_figures(name, scored):
    _, alone, in_processes = scored[name]
    assert in_processes == alone
