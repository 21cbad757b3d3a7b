"""The library's functions as they run in a separate process; see `evaluation.isolated`."""

from pathlib import Path

from evaluation.core.fault import Faults, FormFault, PhaseError
from evaluation.core.outcome import Progress
from evaluation.evaluate import Rejection, check_files, evaluate
from evaluation.library import CheckResult, Evaluation, SubmissionRejected
from evaluation.phase import registry
from evaluation.phase.form_file import read_form
from evaluation.phase.named import named_phase, phase_folder
from evaluation.phase.phase import load_phase
from evaluation.platform import machine
from evaluation.platform.messages import participant_line
from evaluation.summary import organiser_records
from evaluation.workers.pool import DeadlineExceeded
from evaluation.workers.unpacking import unpacked


def evaluate_submission(
    phase: str, submission: str, workers: int | None, progress: Progress
) -> Evaluation | SubmissionRejected:
    """Return the result of a submission to a sealed phase, or why it is rejected. Raises `PhaseError`."""
    loaded = load_phase(phase_folder(phase))
    try:
        with unpacked(_existing(submission), workers=workers) as folder:
            result = evaluate(loaded, folder, machine.worker_count(workers), None, progress)
    except DeadlineExceeded as deadline:
        raise PhaseError(
            f"the budget of {loaded.config.limits.budget_seconds} s was used up; not finished: "
            + ", ".join(deadline.unfinished)
        ) from None
    except FormFault as fault:  # an archive that cannot be unpacked
        return SubmissionRejected(participant_line(Faults(fault.faults)), fault.faults)
    if isinstance(result, Rejection):
        return SubmissionRejected(participant_line(result.faults), tuple(result.faults))
    return Evaluation(result.metrics, organiser_records(result, result.figures))


def check_submission(
    form: str, submission: str, challenge: str | None, workers: int | None, progress: Progress
) -> CheckResult:
    """Return the faults of a submission. Raises `PhaseError` for a form or phase that cannot be used."""
    if challenge is not None:
        registry.load(Path(challenge))
    path = Path(form)
    expected = read_form(path) if path.is_file() else named_phase(form).form
    checked = check_files(expected, _existing(submission), machine.worker_count(workers), progress)
    return CheckResult(tuple(checked.faults), checked.notices)


def _existing(submission: str) -> Path:
    path = Path(submission)
    if not path.exists():
        raise PhaseError(f"{submission}: no such file or folder")
    return path
