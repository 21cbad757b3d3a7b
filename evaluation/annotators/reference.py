"""The reference of a phase from several readers, and the report on them.

The report: `report.json`, `agreement.csv` and `readers.csv`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evaluation.annotators.annotations import ReadersFolder
from evaluation.annotators.combine import combine
from evaluation.annotators.comparison import FieldAgreement
from evaluation.annotators.masks import Rules
from evaluation.annotators.scoring import ReaderScore, score_readers
from evaluation.core.fault import PhaseError
from evaluation.metrics.agreement import Agreement
from evaluation.phase.config import FILE_NAME
from evaluation.phase.output import whole_folder, write_report, write_rows
from evaluation.phase.writer import SampleCase, write_phase
from evaluation.workers.reading import Progress, no_progress


@dataclass(frozen=True)
class FusedReference:
    """What was built: how many readers each value has, how they agree, and their scores against the result.

    ``readers_of_cases`` counts, for every field, the cases by their number of readers.
    """

    readers: tuple[str, ...]
    kept: tuple[str, ...]
    readers_of_cases: Mapping[str, Mapping[int, int]]
    values_of_readers: Mapping[str, Mapping[str, int]]
    dropped: int
    agreement: tuple[Agreement, ...]
    scores: tuple[ReaderScore, ...]


def fuse_readers(
    given: ReadersFolder, output: Path, rules: Rules, workers: int, progress: Progress = no_progress
) -> FusedReference:
    """Build a phase folder, ready to seal, from readers' annotations.

    Raises `PhaseError` with every fault
    of every annotation, and for a value that no reader gives.
    """
    faults: list[str] = []
    agreement = {field.name: FieldAgreement(field.name, field.reference.kind) for field in given.fused}
    counts: dict[str, Counter[int]] = {field.name: Counter() for field in given.fused}
    values_by_annotator = {one.name: Counter[str]() for one in given.readers}

    def fused_cases() -> Iterator[SampleCase]:
        for position, (form, row) in enumerate(zip(given.cases.forms, given.cases.rows, strict=True)):
            values = _values_of_case(given, position, faults)
            reference = {}
            for field in given.fused:
                if not field.cases(form):
                    continue
                case_values = values[field.name]
                counts[field.name][len(case_values)] += 1
                for reader in case_values:
                    values_by_annotator[reader][field.name] += 1
                if case_values:
                    agreement[field.name].add(case_values)
                    reference[field.name] = combine(
                        field.reference.kind, list(case_values.values()), form, rules
                    )
                else:
                    faults.append(
                        f"{form.name}, {field.name}: expected a value of at least one reader, found none"
                    )
            progress(position + 1)
            if not faults:
                columns = {name: cell for name, cell in row.cells.items() if name != "name"}
                yield SampleCase(form.name, columns, reference)

    with whole_folder(output) as phase:
        configuration = (given.folder / FILE_NAME).read_text(encoding="utf-8")
        write_phase(phase, configuration, given.fused, fused_cases())
        if faults:
            raise PhaseError(*faults)
        scores = score_readers(phase, given, workers)
    return FusedReference(
        readers=tuple(one.name for one in given.readers),
        kept=tuple(field.name for task in given.tasks for field in task.fields if field not in given.fused),
        readers_of_cases={name: dict(sorted(field_counts.items())) for name, field_counts in counts.items()},
        values_of_readers={
            name: dict(annotator_counts) for name, annotator_counts in values_by_annotator.items()
        },
        dropped=len(given.dropped),
        agreement=tuple(found for field_counts in agreement.values() for found in field_counts.result()),
        scores=scores,
    )


def _values_of_case(given: ReadersFolder, position: int, faults: list[str]) -> dict[str, dict[str, Any]]:
    """Return the values of a case by field and reader, without those that were dropped."""
    names = [field.name for field in given.fused]
    values: dict[str, dict[str, Any]] = {name: {} for name in names}
    for reader in given.readers:
        dropped = given.dropped_fields(reader.name, position)
        for name, value in reader.read(position, names, faults, dropped).items():
            values[name][reader.name] = value
    return values


def write_reference_report(folder: Path, fused: FusedReference, rules: Rules) -> None:
    """Write the report into a folder; it names readers, and belongs to the organiser."""
    scores: dict[str, dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for score in fused.scores:
        scores[score.reader][score.task][score.metric] = {"cases": score.cases, "value": score.value}
    write_report(
        folder / "report.json",
        {
            "rules": asdict(rules),
            "kept_from_cases_csv": fused.kept,
            "dropped_values": fused.dropped,
            "readers_of_cases": fused.readers_of_cases,
            "agreement": [asdict(found) for found in fused.agreement],
            "readers": {
                reader: {"values": fused.values_of_readers[reader], "scores": scores[reader]}
                for reader in fused.readers
            },
        },
    )
    write_rows(
        folder / "agreement.csv",
        ("field", "measure", "reader_1", "reader_2", "cases", "value"),
        ((a.field, a.measure, a.first, a.second, a.cases, a.value) for a in fused.agreement),
    )
    write_rows(
        folder / "readers.csv",
        ("reader", "task", "metric", "cases", "value"),
        ((s.reader, s.task, s.metric, s.cases, s.value) for s in fused.scores),
    )
