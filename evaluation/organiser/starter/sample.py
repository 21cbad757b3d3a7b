"""A synthetic sample of any declared phase: cases, reference, and a submission of middling quality."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from evaluation.core.challenge import fields_of, references_of
from evaluation.core.field import TableColumns, Variant
from evaluation.core.form import INPUT_VALUE, INTERFACE, CaseForm
from evaluation.io.volume_header import GEOMETRY_COLUMNS
from evaluation.organiser.submission_writer import (
    AlgorithmWriter,
    ArchiveWriter,
    InputImage,
    InputSocket,
    SampleCase,
    writable,
    write_phase,
)
from evaluation.phase.registry import read_configuration, within_interfaces

_CASES, _PATIENTS = 12, 60
_IMAGE = {"width": "128", "height": "96"}
_VOLUME = {"width": "64", "height": "48"}
_GEOMETRY = ("12", "0.9 0.9 2.5", "0 0 0", "1 0 0 0 1 0 0 0 1")
_WRONG_SHARE = 0.25


def write_sample(phase: Path, submission: Path, sockets: Mapping[str, InputSocket] | None = None) -> None:
    """Write cases and reference of a phase that so far has its `phase.toml`, and a submission to it.

    sockets: the input sockets of algorithms by slug. A phase, or each of its interfaces, has 12 cases, or 60
    if all its values are single ones. Values are made up by their kinds. Three in four predictions are nearly
    right, the others are right for another case. The same phase gives the same files. Raises `PhaseError`.
    """
    found = read_configuration(phase)
    config = found.config
    interfaces = config.interfaces_of(field.name for field in fields_of(found.tasks))
    tasks = within_interfaces(found.tasks, interfaces)
    fields, references = fields_of(tasks), references_of(tasks)
    random = np.random.Generator(np.random.PCG64(0))
    count = _PATIENTS if all(isinstance(field.archive, TableColumns) for field in fields) else _CASES
    owners = [interface for interface in interfaces or (None,) for _ in range(count)]
    digits = len(str(len(owners)))
    inputs = []
    for number, interface in enumerate(owners, start=1):
        name = f"case{number:0{digits}d}"
        value = f"The input of {name}." if interface is not None and interface.by_value else None
        inputs.append(InputImage(name, (name,), interface, value))
    writer: ArchiveWriter | AlgorithmWriter = ArchiveWriter(submission, fields)
    if config.submission == "algorithm":
        socket = next(iter(config.input_sockets), "image")
        writer = AlgorithmWriter(submission, fields, inputs, socket, sockets or {})
    public = {column.name for column in found.challenge.form_columns_of(config.submission)}
    geometry = {name: cell for name, cell in zip(GEOMETRY_COLUMNS, _GEOMETRY, strict=True) if name in public}
    kinds = [kind for field in fields for kind in (field.kind, field.reference.kind)]
    if any(kind.needs_size for kind in kinds):
        geometry = {**(_VOLUME if GEOMETRY_COLUMNS[0] in public else _IMAGE), **geometry}

    def cases() -> Iterator[SampleCase]:
        for item in inputs:
            columns = dict(geometry)
            if item.interface is not None:
                columns[INTERFACE] = item.interface.name
            if item.value is not None:
                columns[INPUT_VALUE] = item.value
            width, height = (int(columns.get(name, 0)) for name in _IMAGE)
            case = CaseForm(item.name, width, height, columns)
            right = random.random() >= _WRONG_SHARE
            true, predicted = {}, {}
            for field in references:
                if field.cases(case):
                    value = field.reference.kind.example(case, random)
                    true[field.name] = writable(field.reference.kind, value, case)
                    if field in fields:
                        value = value if right else field.reference.kind.example(case, random)
                        prediction = field.kind.rehearse(value, case, Variant.NEAR)
                        predicted[field.name] = writable(field.kind, prediction, case)
            writer.add(item.name, predicted)
            yield SampleCase(item.name, columns, true)

    write_phase(phase, (phase / "phase.toml").read_text(encoding="utf-8"), references, cases())
    writer.close()
