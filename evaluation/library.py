"""The package as a library: submissions checked and scored from any program.

Nothing is printed and nothing of the caller's process is changed: signal handlers, descriptors, environment,
the start method of multiprocessing. Submissions are read in a process of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import Any

from evaluation.isolated import run_isolated
from evaluation.platform import machine
from evaluation.results import CheckResult, Evaluation, SubmissionRejected

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
