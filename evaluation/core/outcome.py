"""What became of one case: scored, failed, or stopped by a fault of the phase itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from evaluation.core.case_table import Row
from evaluation.core.form import CaseForm, CaseRow


@dataclass(frozen=True, slots=True)
class CaseJob:
    """One case to score: its form and its row of the case table.

    ``mode`` "worst" asks for the worst values alone, "validate" for these after every reference value was
    read. ``run_seconds`` is how long the algorithm ran for this case, as far as the platform says.
    """

    case: CaseForm
    reference: CaseRow
    mode: Literal["score", "worst", "validate"] = "score"
    run_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    """The rows of a case by task; ``worst`` names the tasks whose row holds worst values.

    ``failure`` says why, where the case failed rather than was missing.
    """

    rows: Mapping[str, Row]
    worst: tuple[str, ...] = ()
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Died:
    """The worker did not finish the case: it crashed, ran out of memory or of time."""

    reason: str


@dataclass(frozen=True, slots=True)
class OrganiserFault:
    """Errors in the phase or in the code of its metrics; never the participant's."""

    problems: tuple[str, ...]


Outcome = Scored | Died | OrganiserFault


def organisers_problems(outcomes: Iterable[Outcome]) -> list[str]:
    """Return what is wrong with the phase or its metrics, in the order of the outcomes."""
    return [
        problem for outcome in outcomes if isinstance(outcome, OrganiserFault) for problem in outcome.problems
    ]
