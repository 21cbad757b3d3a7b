"""A synthetic sample of any declared phase of algorithms: cases, reference, and the jobs of an algorithm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from evaluation.core.challenge import fields_of, references_of
from evaluation.core.field import Variant
from evaluation.core.form import INPUT_VALUE, INTERFACE, CaseForm
from evaluation.io.volume_header import GEOMETRY_COLUMNS
from evaluation.organiser.submission_writer import (
    AlgorithmWriter,
    InputImage,
    InputSocket,
    SampleCase,
    writable,
    write_phase,
)
from evaluation.phase.registry import read_configuration, within_interfaces

_CASES = 20
_GEOMETRY = ("6", "1 1 2.5", "0 0 0", "1 0 0 0 1 0 0 0 1")
_SIZE = {"width": "32", "height": "24"}
_VARIANTS = (Variant.PERFECT, Variant.NEAR, Variant.NEAR, Variant.INVERTED)


def write_job_sample(phase: Path, submission: Path, sockets: Mapping[str, InputSocket]) -> None:
    """Write cases and reference of a phase that so far has its `phase.toml`, and the jobs of an algorithm.

    sockets: the input sockets by slug. Each interface has 20 cases. Values are made up by their kinds; one
    in four predictions is wrong everywhere. The same phase gives the same files. Raises `PhaseError`.
    """
    found = read_configuration(phase)
    config = found.config
    interfaces = config.interfaces_of(field.name for field in fields_of(found.tasks))
    tasks = within_interfaces(found.tasks, interfaces)
    fields = fields_of(tasks)
    random = np.random.Generator(np.random.PCG64(0))
    owners = [interface for interface in interfaces or (None,) for _ in range(_CASES)]
    inputs = []
    for number, interface in enumerate(owners, start=1):
        name = f"case{number:03d}"
        value = f"The input of {name}." if interface is not None and interface.by_value else None
        inputs.append(InputImage(name, (name,), interface, value))
    socket = next(iter(config.input_sockets), "image")
    writer = AlgorithmWriter(submission, fields, inputs, socket, sockets)
    public = {column.name for column in found.challenge.form_columns_of(config.submission)}
    geometry = {name: cell for name, cell in zip(GEOMETRY_COLUMNS, _GEOMETRY, strict=True) if name in public}
    needs_size = any(field.kind.needs_size or field.reference.kind.needs_size for field in fields)

    def cases() -> Iterator[SampleCase]:
        for item in inputs:
            columns = {**(_SIZE if needs_size else {}), **geometry}
            if item.interface is not None:
                columns[INTERFACE] = item.interface.name
            if item.value is not None:
                columns[INPUT_VALUE] = item.value
            width, height = (int(columns.get(name, 0)) for name in _SIZE)
            case = CaseForm(item.name, width, height, columns)
            references = {
                field.name: field.reference.kind.example(case, random)
                for field in references_of(tasks)
                if field.cases(case)
            }
            variant = _VARIANTS[int(random.integers(len(_VARIANTS)))]
            predictions = {
                field.name: field.kind.rehearse(references[field.name], case, variant)
                for field in fields
                if field.cases(case)
            }
            writer.add(
                item.name,
                {
                    field.name: writable(field.kind, predictions[field.name], case)
                    for field in fields
                    if field.name in predictions
                },
            )
            written = {
                field.name: writable(field.reference.kind, references[field.name], case)
                for field in references_of(tasks)
                if field.name in references
            }
            yield SampleCase(item.name, columns, written)

    write_phase(phase, (phase / "phase.toml").read_text(encoding="utf-8"), references_of(tasks), cases())
    writer.close()
