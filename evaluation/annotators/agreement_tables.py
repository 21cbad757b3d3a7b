"""Tables of the agreement of annotators or submissions, and of the cases with disagreement."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from evaluation.annotators.disagreement import CaseDisagreement
from evaluation.metrics.agreement import Agreement
from evaluation.phase.output import write_rows

Who = Literal["annotator", "submission"]


def write_agreement_table(path: Path, who: Who, agreement: Iterable[Agreement]) -> None:
    """Write a row for each figure; joint figures have no second annotator or submission."""
    write_rows(
        path,
        ("field", "measure", f"{who}_1", f"{who}_2", "cases", "value", "lower", "upper"),
        ((a.field, a.measure, a.first, a.second, a.cases, a.value, a.lower, a.upper) for a in agreement),
    )


def write_disagreement_table(
    path: Path, who: Who, disagreement: Iterable[CaseDisagreement], with_votes: bool = False
) -> None:
    """Write a row for each case and measure, with the votes if requested."""
    votes = ("votes",) if with_votes else ()
    write_rows(
        path,
        ("field", "measure", "case", f"{who}s", "mean", "largest", "farthest", *votes),
        (
            (
                *(found.field, found.measure, found.case, found.values),
                *(found.mean, found.largest, found.farthest),
                *(found.votes,) * with_votes,
            )
            for found in disagreement
        ),
    )
