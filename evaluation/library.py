"""The package as a library: submissions checked and scored, phases sealed, teams ranked, from any program.

Nothing is printed and nothing of the caller's process is changed: signal handlers, descriptors, environment,
the start method of multiprocessing. Submissions are read in a process of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.isolated import run_isolated
from evaluation.platform import machine
from evaluation.results import CheckResult, Evaluation, Ranking, Seal, SubmissionRejected

if TYPE_CHECKING:
    from evaluation.ranking.rank_options import RankOptions

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
    result: Evaluation | SubmissionRejected = _run("evaluate_submission", arguments, progress)
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
    checked: CheckResult = _run("check_submission", arguments, progress)
    return checked


def seal(phase: AnyPath, *, progress: Progress | None = None) -> Seal:
    """Validate a phase and write its manifest, without which nothing is scored against it.

    Parameters
    ----------
    phase
        A phase folder, or the name of one below `ground-truth/`.
    progress
        Called with the number of reference values read so far.

    Raises
    ------
    PhaseError
        With every fault of the phase.

    """
    found: Seal = _run("seal_phase", {"phase": fspath(phase)}, progress)
    return found


def rank(
    results: AnyPath | Mapping[str, AnyPath],
    *,
    scheme: AnyPath = "challenge",
    ground_truth: AnyPath | None = None,
    options: RankOptions | None = None,
) -> Ranking:
    """Rank teams by their results.

    Parameters
    ----------
    results
        A folder with a sub-folder per team that holds `metrics.json` and `cases.json`, as `evaluate --each`
        and ``Evaluation.write`` write them; for a ranking over several phases, one such folder per role.
    scheme
        "challenge" for the challenge's own, a method or scheme that `rank --scheme` knows by name, or a TOML
        file.
    ground_truth
        The phase, whose score and columns the platform's schemes rank by, and beside which its challenge may
        be programmed.
    options
        Which analyses are made, see `evaluation.ranking.rank_options.RankOptions`.

    Returns
    -------
    Ranking
        ``to_dict()`` is the content of `leaderboard.json`, ``teams()`` a frame with a row per team.

    Raises
    ------
    PhaseError
        With every reason why the results cannot be ranked.

    """
    from evaluation.phase import home
    from evaluation.phase.named import phase_folder
    from evaluation.ranking.final import leaderboard_of
    from evaluation.ranking.leaderboard import rank_phase
    from evaluation.ranking.rank_options import RankOptions
    from evaluation.ranking.results_folder import read_results
    from evaluation.ranking.scheme_choice import scheme_named

    folders = results if isinstance(results, Mapping) else {"": results}
    folder = None if ground_truth is None else phase_folder(fspath(ground_truth))
    if ground_truth is not None:
        home.load_beside(Path(ground_truth))
    read = {role: read_results(Path(path)) for role, path in folders.items()}
    schemes = {role: scheme_named(fspath(scheme), found, folder) for role, found in read.items()}
    ranked = {
        role: rank_phase(found, schemes[role], options or RankOptions(), role or None)
        for role, found in read.items()
    }
    return Ranking(leaderboard_of(ranked, schemes))


def _run(job: str, arguments: Mapping[str, Any], progress: Progress | None) -> Any:
    if not machine.CAN_ISOLATE:
        warnings.warn(machine.NO_ISOLATION, RuntimeWarning, stacklevel=3)
    return run_isolated(f"evaluation.jobs:{job}", arguments, progress)
