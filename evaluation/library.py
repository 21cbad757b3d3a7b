"""The package as a library: submissions checked and scored from any program.

Nothing is printed and nothing of the caller's process is changed: signal handlers, descriptors, environment,
the start method of multiprocessing. Submissions are read in a process of its own.
"""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.core.fault import Fault
from evaluation.io.files import write_atomically
from evaluation.isolated import run_isolated
from evaluation.phase.scores import restored_value
from evaluation.platform import machine
from evaluation.platform.result_file import MetricsFile, render, write_metrics

if TYPE_CHECKING:
    import pandas


# --- Results of the library's functions: typed, as plain dictionaries, and as pandas frames ---

CASES_FILE = "cases.json"
_SHOWN, _FIRST = 20, 3
"""Most faults of a kind, and figures, that a notebook shows at once."""


class SubmissionRejected(Exception):  # noqa: N818 - the platform's word
    """Raised for a submission with faults, which is not scored.

    The text is the line that participants see on the platform; ``faults`` lists every fault that it counts.
    """

    def __init__(self, line: str, faults: tuple[Fault, ...]) -> None:
        self.faults = faults
        super().__init__(line)

    def __reduce__(self) -> tuple[type[SubmissionRejected], tuple[str, tuple[Fault, ...]]]:
        """Return the class and the faults, from which pickle makes an equal exception."""
        return type(self), (str(self), self.faults)

    def to_frame(self) -> pandas.DataFrame:
        """Return the faults as a frame, see `CheckResult.to_frame`."""
        return CheckResult(self.faults).to_frame()


@dataclass(frozen=True, repr=False)
class CheckResult:
    """The faults of a submission, and remarks that are no faults."""

    faults: tuple[Fault, ...]
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the number of faults of each kind."""
        counts = Counter(fault.kind.value for fault in self.faults)
        found = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        return f"<CheckResult: {f'{len(self.faults)} faults: {found}' if found else 'no faults'}>"

    def _repr_html_(self) -> str:
        """Return the faults by kind, for notebooks; the first of many."""
        by_kind: dict[str, list[str]] = defaultdict(list)
        for fault in self.faults:
            by_kind[fault.kind.value].append(f"<li>{escape(str(fault))}</li>")
        groups = (
            f"<b>{escape(kind)} ({len(items)})</b><ul>{''.join(items[:_SHOWN])}"
            f"{f'<li>… and {len(items) - _SHOWN} more</li>' if len(items) > _SHOWN else ''}</ul>"
            for kind, items in sorted(by_kind.items())
        )
        notices = "".join(f"<p>{escape(notice)}</p>" for notice in self.notices)
        return f"<p>{escape(repr(self)[1:-1])}</p>{''.join(groups)}{notices}"

    @property
    def passed(self) -> bool:
        """Whether the submission can be scored."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: ``passed``, ``faults`` and ``notices``."""
        faults = [_plain(fault) for fault in self.faults]
        return {"passed": self.passed, "faults": faults, "notices": list(self.notices)}

    def to_frame(self) -> pandas.DataFrame:
        """Return a row per fault: kind, file, line, field, expected, found, hint."""
        import pandas

        columns = ["kind", "file", "line", "field", "expected", "found", "hint"]
        return pandas.DataFrame([_plain(fault) for fault in self.faults], columns=columns)


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The result of a submission: the content of `metrics.json`, and the values of every case.

    ``records`` is the content of the organiser's `cases.json`; it contains labels.
    """

    metrics: MetricsFile
    records: Mapping[str, Any]

    def __repr__(self) -> str:
        """Return the phase, the cases, and the first figures with their intervals."""
        content = self.to_dict()
        phase, cases = content["phase"]["name"], content["cases"]
        named = [
            f"{task}.{name} {figure['value']:.4g}"
            for task, figures in content["aggregates"].items()
            for name, figure in figures.items()
        ]
        figures = ", ".join(named[:_FIRST]) + (", …" if len(named) > _FIRST else "")
        return f"<Evaluation of {phase}: {cases['scored']} of {cases['expected']} cases scored; {figures}>"

    def _repr_html_(self) -> str:
        """Return the figures with their intervals as a table, for notebooks."""
        head = repr(self)[1:-1].partition(";")[0]
        return f"<p>{escape(head)}</p>{self.figures().to_html(float_format='{:.4f}'.format, na_rep='')}"

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `metrics.json` as plain values, rounded as the file is."""
        content: dict[str, Any] = json.loads(render(dataclasses.asdict(self.metrics)))
        return content

    def figures(self) -> pandas.DataFrame:
        """Return a row per task and metric, with all digits, though fewer may be published.

        Columns: value, lower and upper bound of the interval, the same two with unseen failures
        ("unseen_lower", "unseen_upper"), standard deviation; missing figures are NaN.
        """
        import pandas

        rows = {
            (task, name): {
                "value": figure["value"],
                "lower": (figure["confidence_interval"] or {}).get("lower"),
                "upper": (figure["confidence_interval"] or {}).get("upper"),
                "unseen_lower": (figure["with_unseen_failures"] or {}).get("lower"),
                "unseen_upper": (figure["with_unseen_failures"] or {}).get("upper"),
                "standard_deviation": figure["standard_deviation"],
            }
            for task, figures in self.records["figures"]["aggregates"].items()
            for name, figure in figures.items()
        }
        index = pandas.MultiIndex.from_tuples(list(rows), names=["task", "metric"])
        return pandas.DataFrame(list(rows.values()), index=index, dtype=float)

    def cases(self, task: str | None = None) -> pandas.DataFrame:
        """Return a row per case, in the order of their names: the columns that the metrics are computed from.

        Parameters
        ----------
        task
            One task, whose columns then have their plain names and whose cases alone are rows. By default
            all tasks, with columns "task.column", the columns of `cases.csv` as "table.column", and

            - ``worst``: the tasks, separated by spaces, in which the case takes worst values;
            - ``failure``: why the case failed, None where it did not.

        Values that do not exist are NaN; a column may hold arrays. The frame contains labels.

        Raises
        ------
        KeyError
            For a task in which the submission does not take part.
        """
        import pandas

        records = self.records["cases"]
        if task is not None:
            names = [record["name"] for record in records if task in record["tasks"]]
            if not names:
                raise KeyError(task)
            rows = [_restored(record["tasks"][task]) for record in records if task in record["tasks"]]
        else:
            names = [record["name"] for record in records]
            rows = [_row(record) for record in records]
        return pandas.DataFrame(rows, index=pandas.Index(names, name="case"))

    def write(self, folder: str | Path) -> list[Path]:
        """Write `metrics.json` and the organiser's `cases.json` into a folder, and return the paths.

        Raises `OSError`.
        """
        cases = Path(folder) / CASES_FILE
        write_atomically(cases, render(self.records, organisers=True, rounded=False))
        return [write_metrics(self.metrics, Path(folder)), cases]


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    row = {f"table.{column}": cell for column, cell in record["table"].items()}
    for task, values in record["tasks"].items():
        row |= {f"{task}.{column}": value for column, value in _restored(values).items()}
    return {**row, "worst": " ".join(record["worst"]), "failure": record["failure"]}


_INFINITE = ("inf", "-inf")


def _restored(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        column: value if isinstance(value, str) and value not in _INFINITE else restored_value(value)
        for column, value in values.items()
    }


def _plain(fault: Fault) -> dict[str, Any]:
    return {**dataclasses.asdict(fault), "kind": fault.kind.value}


AnyPath = str | PathLike[str]
Progress = Callable[[int], None]


def evaluate(
    phase: AnyPath, submission: AnyPath, *, workers: int | None = None, progress: Progress | None = None
) -> Evaluation:
    """Score a submission against a sealed phase.

    Parameters
    ----------
    phase
        A phase folder, or the name of one below `ground-truth/`; `seal` seals it.
    submission
        A zip archive, a csv file, or a folder with the content of one; of an algorithm phase, the folder that
        the platform mounts as `/input`.
    workers
        Number of worker processes, by default one per processor; 0 for none.
    progress
        Called with the number of cases done so far.

    Returns
    -------
    Evaluation
        ``to_dict()`` is the content of `metrics.json`, ``cases()`` a frame with a row per case.

    Raises
    ------
    SubmissionRejected
        With every fault of a submission that is not scored.
    PhaseError
        For a phase that is unknown, not sealed or altered since, and where its budget of time is used up.
    """
    arguments = {"phase": fspath(phase), "submission": fspath(submission), "workers": workers}
    result: Evaluation | SubmissionRejected = run_job(
        "evaluation.jobs:evaluate_submission", arguments, progress
    )
    if isinstance(result, SubmissionRejected):
        raise result
    return result


def check(
    form: AnyPath,
    submission: AnyPath,
    *,
    challenge: AnyPath | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> CheckResult:
    """Find the faults for which a submission would be rejected; no label is read.

    Parameters
    ----------
    form
        The form of a phase (`form.json`), or a phase as `evaluate` takes it, sealed or not.
    challenge
        The organisers' `challenge.py`, of a challenge that is programmed in one; it is run.
    submission, workers, progress
        As for `evaluate`.

    Returns
    -------
    CheckResult
        ``passed``, ``faults``, ``notices``; ``to_frame()`` has a row per fault.

    Raises
    ------
    PhaseError
        For a form or a phase that cannot be used, and a submission that does not exist.
    """
    arguments = {
        "form": fspath(form),
        "submission": fspath(submission),
        "challenge": None if challenge is None else fspath(challenge),
        "workers": workers,
    }
    checked: CheckResult = run_job("evaluation.jobs:check_submission", arguments, progress)
    return checked


def run_job(job: str, arguments: Mapping[str, Any], progress: Progress | None) -> Any:
    """Return the result of a function, named "module:function", from a process of its own: `run_isolated`.

    Warns where nothing can be isolated.
    """
    if not machine.CAN_ISOLATE:
        warnings.warn(machine.NO_ISOLATION, RuntimeWarning, stacklevel=3)
    return run_isolated(job, arguments, progress)
