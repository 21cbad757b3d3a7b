"""The outcome of one case, and callbacks that count the cases that are done."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from evaluation.core.case_table import Row
from evaluation.core.fault import counted
from evaluation.core.form import CaseForm, CaseRow
from evaluation.core.trouble import MachineTrouble


@dataclass(frozen=True, slots=True)
class CaseJob:
    """One case to score: its form and its row of the case table.

    ``mode`` "worst" asks only for the worst values, "validate" for the worst values after reading every
    reference value. ``run_seconds`` is how long the algorithm ran for this case, None if that is not known.
    """

    case: CaseForm
    reference: CaseRow
    mode: Literal["score", "worst", "validate"] = "score"
    run_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    """The rows of a case by task; ``worst`` names the tasks with worst values.

    ``failure`` is the reason if the case failed; None if it was missing. ``undefined`` names the columns
    ("task.column") that the prediction made undefined, and that have their worst values therefore.
    """

    rows: Mapping[str, Row]
    worst: tuple[str, ...] = ()
    failure: str | None = None
    undefined: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Died:
    """The worker did not finish the case: it crashed, ran out of memory or of time.

    ``trouble``: a system call failed that no file and no case can make fail.
    """

    reason: str
    trouble: MachineTrouble | None = None


@dataclass(frozen=True, slots=True)
class OrganiserFault:
    """Errors in the phase or in the code of its metrics, never in the submission.

    ``case``: the name of the case in which ``place``, a line of code, failed; its other cases are counted.
    """

    problems: tuple[str, ...]
    case: str = ""
    place: str = ""


Outcome = Scored | Died | OrganiserFault


def organisers_problems(outcomes: Iterable[Outcome]) -> list[str]:
    """Return the faults of the phase or its metrics, in the order of the outcomes, each once.

    A line of code that fails in several cases is told for the first of them.
    """
    faults = [outcome for outcome in outcomes if isinstance(outcome, OrganiserFault)]
    times = Counter(fault.place for fault in faults if fault.place)
    told: dict[str, None] = {}
    for fault in faults:
        if not fault.place:
            told |= dict.fromkeys(fault.problems)
        elif others := times.pop(fault.place, 0):
            more = f" (and in {counted(others - 1, 'further case')})" if others > 1 else ""
            told |= {f"case {fault.case}: {problem}{more}": None for problem in fault.problems}
    return list(told)


Progress = Callable[[int], None]
"""Takes the number of cases done so far."""


def no_progress(done: int) -> None:
    """Take the number of cases done and show nothing."""
