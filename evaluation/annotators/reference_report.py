"""The report on a reference built from readers: `report.json`, `agreement.csv` and `readers.csv`."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evaluation.annotators.masks import Rules
from evaluation.annotators.reference import FusedReference
from evaluation.phase.output import write_report, write_rows


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
