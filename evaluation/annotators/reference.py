"""Build the reference of a phase from several annotators, and report on them.

The report: `report.json`, `agreement.csv`, `annotators.csv`, and `adjudication.csv`, the cases with
disagreement.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evaluation.annotators.agreement_tables import write_agreement_table, write_disagreement_table
from evaluation.annotators.annotations import AnnotatorsFolder
from evaluation.annotators.combine import combine, combine_without, region_names
from evaluation.annotators.comparison import LeftOut
from evaluation.annotators.disagreement import CaseDisagreement, Disagreements
from evaluation.annotators.field_agreement import FieldAgreement
from evaluation.annotators.masks import Rules
from evaluation.annotators.scoring import AnnotatorScore, score_annotators
from evaluation.core.fault import PhaseError
from evaluation.core.field import Kind
from evaluation.metrics.agreement import Agreement
from evaluation.phase.config import FILE_NAME
from evaluation.phase.output import whole_folder, write_report, write_rows
from evaluation.phase.writer import SampleCase, write_phase
from evaluation.workers.progress import Progress, no_progress

_NOBODY = "expected a value of at least one annotator, found none"


@dataclass(frozen=True)
class FusedReference:
    """The figures of a built reference: annotators per value, agreement, and scores against the result.

    ``annotators_of_cases`` counts, for every field, the cases by their number of annotators.
    """

    annotators: tuple[str, ...]
    kept: tuple[str, ...]
    annotators_of_cases: Mapping[str, Mapping[int, int]]
    values_of_annotators: Mapping[str, Mapping[str, int]]
    dropped: int
    agreement: tuple[Agreement, ...]
    disagreement: tuple[CaseDisagreement, ...]
    scores: tuple[AnnotatorScore, ...]


def fuse_annotators(
    given: AnnotatorsFolder, output: Path, rules: Rules, workers: int, progress: Progress = no_progress
) -> FusedReference:
    """Build a phase folder, ready to seal, from several annotators' files.

    Raises `PhaseError` with every fault of every annotation, and for every value without any annotation.
    """
    faults: list[str] = []
    disagreements = Disagreements()
    agreement = {field.name: FieldAgreement(field.name, field.reference.kind) for field in given.fused}
    counts: dict[str, Counter[int]] = {field.name: Counter() for field in given.fused}
    values_by_annotator = {one.name: Counter[str]() for one in given.annotators}

    def fused_cases() -> Iterator[SampleCase]:
        for position, (form, row) in enumerate(zip(given.cases.forms, given.cases.rows, strict=True)):
            values = _values_of_case(given, position, faults)
            reference = {}
            for field in given.fused:
                if not field.cases(form):
                    continue
                case_values = values[field.name]
                counts[field.name][len(case_values)] += 1
                for annotator in case_values:
                    values_by_annotator[annotator][field.name] += 1
                kind = field.reference.kind
                left_out = {
                    annotator: given.regions_left_out(annotator, position, field.name)
                    for annotator in case_values
                }
                faults.extend(
                    f"{form.name}, {field.name}, {region}: {_NOBODY}"
                    for region in _without_any(kind, left_out)
                )
                if case_values:
                    agreement[field.name].add(case_values, left_out)
                    disagreements.add(form.name, field.name, kind, case_values, left_out)
                    given_values = list(case_values.values())
                    reference[field.name] = (
                        combine_without(kind, given_values, form, rules, list(left_out.values()))
                        if any(left_out.values())
                        else combine(kind, given_values, form, rules)
                    )
                else:
                    faults.append(f"{form.name}, {field.name}: {_NOBODY}")
            progress(position + 1)
            if not faults:
                columns = {name: cell for name, cell in row.cells.items() if name != "name"}
                yield SampleCase(form.name, columns, reference)

    with whole_folder(output) as phase:
        configuration = (given.folder / FILE_NAME).read_text(encoding="utf-8")
        write_phase(phase, configuration, given.fused, fused_cases())
        if faults:
            raise PhaseError(*faults)
        scores = score_annotators(phase, given, workers)
    return FusedReference(
        annotators=tuple(one.name for one in given.annotators),
        kept=tuple(field.name for task in given.tasks for field in task.fields if field not in given.fused),
        annotators_of_cases={
            name: dict(sorted(field_counts.items())) for name, field_counts in counts.items()
        },
        values_of_annotators={
            name: dict(annotator_counts) for name, annotator_counts in values_by_annotator.items()
        },
        dropped=len(given.dropped) + sum(map(len, given.dropped_regions.values())),
        agreement=tuple(found for field_counts in agreement.values() for found in field_counts.result()),
        disagreement=tuple(disagreements.ordered()),
        scores=scores,
    )


def _without_any(kind: Kind, left_out: LeftOut) -> list[str]:
    """Return the regions that every annotator of a case leaves out."""
    return [
        region
        for region in region_names(kind)
        if left_out and all(region in regions for regions in left_out.values())
    ]


def _values_of_case(given: AnnotatorsFolder, position: int, faults: list[str]) -> dict[str, dict[str, Any]]:
    """Return the values of a case by field and annotator, without dropped values."""
    names = [field.name for field in given.fused]
    values: dict[str, dict[str, Any]] = {name: {} for name in names}
    for annotator in given.annotators:
        dropped = given.dropped_fields(annotator.name, position)
        for name, value in annotator.read(position, names, faults, dropped).items():
            values[name][annotator.name] = value
    return values


def write_reference_report(folder: Path, fused: FusedReference, rules: Rules) -> None:
    """Write the report into a folder. It names annotators and is meant for the organiser only."""
    scores: dict[str, dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for score in fused.scores:
        scores[score.annotator][score.task][score.metric] = {"cases": score.cases, "value": score.value}
    write_report(
        folder / "report.json",
        {
            "rules": asdict(rules),
            "kept_from_cases_csv": fused.kept,
            "dropped_values": fused.dropped,
            "annotators_of_cases": fused.annotators_of_cases,
            "agreement": [asdict(found) for found in fused.agreement],
            "annotators": {
                annotator: {"values": fused.values_of_annotators[annotator], "scores": scores[annotator]}
                for annotator in fused.annotators
            },
        },
    )
    write_agreement_table(folder / "agreement.csv", "annotator", fused.agreement)
    write_disagreement_table(folder / "adjudication.csv", "annotator", fused.disagreement, with_votes=True)
    write_rows(
        folder / "annotators.csv",
        ("annotator", "task", "metric", "cases", "value"),
        ((s.annotator, s.task, s.metric, s.cases, s.value) for s in fused.scores),
    )
