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
from evaluation.challenges.declared.declarable import FIELDS, METRICS, name_of
from evaluation.core.challenge import fields_of, references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Variant
from evaluation.organiser.submission_writer import ArchiveWriter
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import Phase, load_phase
from evaluation.phase.reference import OpenReference, ReferenceValues
from evaluation.phase.registry import read_configuration
from evaluation.platform.result_file import render
from test.catalogue import FIELD, OPTIONS, keys_in_toml
from test.in_process import library_in_process

write_sample = pytest.importorskip("evaluation.organiser.starter.repository").write_sample

__all__ = ["library_in_process"]

# Those of instance maps are scored on label maps.
KINDS = [kind for kind in map(name_of, FIELDS) if not kind.startswith("instance_")]
FIELDS_OF_PHASES = {
    **{kind: "\n".join(keys_in_toml({"kind": kind, **FIELD.get(kind, {})})) for kind in KINDS},
    "boxes of classes": 'kind = "boxes"\nclasses = ["a", "b"]\nprobability = true',
    "keypoints": 'kind = "keypoints"\nclasses = ["first", "second"]',
    "label_map": 'kind = "label_map"\nlabels = { 1 = "liver", 2 = "spleen" }',
    "label map of an image": 'kind = "label_map"\nlabels = { 1 = "liver", 2 = "spleen" }\ndimensions = 2',
    "label map of annotators": """\
kind = "label_map"
labels = { 1 = "liver" }
annotators = ["first", "second", "third"]

[fields.probability]
kind = "probability_map"
reference_folder = "value/first"
""",
    "number without classes": 'kind = "number"\nminimum = 0\nmaximum = 1',
}
"""The declaration of the field of each phase."""
DECISIONS = {"number": "threshold = 0.5"}
"""Keys that make decisions of a field's values, for metrics that need them."""


def declare(folder: Path, name: str) -> list[str]:
    """Write the configuration of a phase with all metrics that fit its field, and return their names."""
    (kind,) = (
        field for field in FIELDS if f'kind = "{name_of(field)}"' in FIELDS_OF_PHASES[name].split("\n")[0]
    )
    options = {
        name_of(metric): ", ".join(keys_in_toml(OPTIONS.get(name_of(metric), {})))
        for metric in METRICS
        if issubclass(kind, metric.kinds)
    }
    while True:
        metrics = "\n".join(
            f'{metric} = {{ field = "value"{", " * bool(keys)}{keys} }}' for metric, keys in options.items()
        )
        (folder / "phase.toml").write_text(
            'name = "scored"\ntitle = "Scored"\nsubmission = "archive"\nresamples = 0\nmissing = "worst"\n\n'
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
    found = {metric for metrics, *_ in scored.values() for metric in metrics}
    missing = set(map(name_of, METRICS)) - found
    assert missing == set(), "`OPTIONS` and `FIELD` of test/catalogue.py declare them"


@pytest.mark.parametrize("name", FIELDS_OF_PHASES)
def test_scorers_in_processes_give_the_same_figures(name, scored):
    _, alone, in_processes = scored[name]
    assert in_processes == alone
