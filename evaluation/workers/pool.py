"""Runs the cases of a submission in isolated workers, or one after the other in this process.

A batch of cases goes to a worker at once. Where a worker dies, the cases of its batch are looked at again one
by one, with nothing else running. First each is only read: a file that kills its reader is at fault, and the
submission with it. The others are then run whole once more, and only one that dies again has failed.
Everything else goes on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from evaluation.core.fault import Fault, FaultKind, PhaseError
from evaluation.core.outcome import CaseJob, Died, Faulty, Outcome, Scored
from evaluation.core.source import FileSource, JsonFileSource, Source, file_of
from evaluation.workers.batches import OUT_OF_TIME, DeadlineExceeded, PoolSettings, run_batches
from evaluation.workers.case_runner import RunSetup
from evaluation.workers.worker import make_runner

__all__ = ["DeadlineExceeded", "PoolSettings", "Progress", "no_progress", "run_cases"]

_MAX_BATCH_CASES = 512
_MAX_FILE_BATCH_CASES = 16
# Reading alone may take a case's whole time, and one such file is enough to reject a submission.
_MAX_DEADLY_FILES = 10
_DEADLY = "one that takes too much memory or time, or crashes its reader"

Progress = Callable[[int], None]


def no_progress(done: int) -> None:
    """Take the number of cases done and show nothing."""


def run_cases(
    jobs: Sequence[CaseJob], setup: RunSetup, settings: PoolSettings, progress: Progress = no_progress
) -> list[Outcome]:
    """Return the outcome of every job, in the order of the jobs.

    ``progress`` is called with the number of cases done. Raises `DeadlineExceeded`, and `PhaseError` where
    the workers cannot do anything.
    """
    if settings.workers == 0:
        return _run_serially(jobs, setup, progress)
    outcomes: dict[int, Outcome] = {}
    try:
        died = []
        batches = list(_batches(jobs, settings.workers))
        for positions, batch in run_batches(jobs, batches, setup, settings):
            for position, outcome in zip(positions, batch, strict=True):
                if isinstance(outcome, Died):
                    died.append(position)
                else:
                    outcomes[position] = outcome
            progress(len(outcomes))
        if died:
            _retry_individually(jobs, sorted(died), setup, settings, outcomes)
            progress(len(outcomes))
    except DeadlineExceeded:
        rest = [position for position in range(len(jobs)) if position not in outcomes]
        if not settings.fill_at_deadline:
            raise DeadlineExceeded(tuple(jobs[position].case.name for position in rest)) from None
        causes = dict.fromkeys(rest, OUT_OF_TIME)
        outcomes.update(_worst(jobs, causes, setup, replace(settings, deadline=None)))
    return [outcomes[position] for position in range(len(jobs))]


def _run_serially(jobs: Sequence[CaseJob], setup: RunSetup, progress: Progress) -> list[Outcome]:
    runner = make_runner(setup)
    outcomes: dict[int, Outcome] = {}
    for position in itertools.chain.from_iterable(_groups(jobs)):
        outcomes[position] = runner.run(jobs[position])
        progress(len(outcomes))
    return [outcomes[position] for position in range(len(jobs))]


def _batches(jobs: Sequence[CaseJob], workers: int) -> Iterator[list[int]]:
    """Yield the positions of the jobs of each batch; those that share a file stay together where they can."""
    reads_files = any(isinstance(source, FileSource) for job in jobs for source in job.sources.values())
    largest = _MAX_FILE_BATCH_CASES if reads_files else _MAX_BATCH_CASES
    size = max(1, min(largest, len(jobs) // (8 * workers)))
    batch: list[int] = []
    for group in _groups(jobs):
        if batch and len(batch) + len(group) > size:
            yield batch
            batch = []
        batch += group
        while len(batch) > largest:
            yield batch[:largest]
            batch = batch[largest:]
    if batch:
        yield batch


def _groups(jobs: Sequence[CaseJob]) -> Iterable[list[int]]:
    """Return the positions of all jobs, those together whose values lie in one file."""
    groups: dict[str, list[int]] = {}
    for position, job in enumerate(jobs):
        stacked = (
            source.path
            for source in job.sources.values()
            if isinstance(source, JsonFileSource) and source.entries is not None
        )
        groups.setdefault(next(stacked, f"\0{position}"), []).append(position)
    return groups.values()


def _retry_individually(
    jobs: Sequence[CaseJob],
    died: Sequence[int],
    setup: RunSetup,
    settings: PoolSettings,
    outcomes: dict[int, Outcome],
) -> None:
    """Add the outcomes of cases whose worker died: faults of files, failed cases, and innocent ones."""
    alone = replace(settings, workers=1)
    deadly: list[int] = []
    readable: list[int] = []
    reading = {position: replace(jobs[position], reference=None) for position in died}
    for position, outcome in _one_by_one(reading, setup, alone):
        if isinstance(outcome, Died):
            deadly.append(position)
            outcomes[position] = _faults_of_files(jobs[position], setup, alone)
            if len(deadly) == _MAX_DEADLY_FILES:
                break
        elif isinstance(outcome, Scored):
            readable.append(position)
        else:
            outcomes[position] = outcome
    if deadly:
        _require_sound_workers([jobs[position] for position in deadly], setup, alone)
        _reject(jobs, died, readable, outcomes)
        return
    causes: dict[int, str] = {}
    for position, outcome in _one_by_one({p: jobs[p] for p in readable}, setup, alone):
        if isinstance(outcome, Died):
            causes[position] = outcome.reason
        else:
            outcomes[position] = outcome
    outcomes.update(_worst(jobs, causes, setup, settings))


def _one_by_one(
    jobs: Mapping[int, CaseJob], setup: RunSetup, alone: PoolSettings
) -> Iterator[tuple[int, Outcome]]:
    positions = list(jobs)
    batches = [range(index, index + 1) for index in range(len(positions))]
    for batch, outcomes in run_batches(list(jobs.values()), batches, setup, alone):
        yield positions[batch[0]], outcomes[0]


def _faults_of_files(job: CaseJob, setup: RunSetup, alone: PoolSettings) -> Faulty:
    """Return the faults of a case that cannot be read, of those files alone that kill their reader."""
    sources = {
        name: source
        for name, source in job.sources.items()
        if isinstance(source, FileSource | JsonFileSource)
    } or job.sources
    if len(sources) > 1:
        parts = {
            index: replace(job, reference=None, sources={name: source})
            for index, (name, source) in enumerate(sources.items())
        }
        died = [index for index, outcome in _one_by_one(parts, setup, alone) if isinstance(outcome, Died)]
        names = list(sources)
        sources = {names[index]: sources[names[index]] for index in died} or sources
    return _unreadable(sources, _DEADLY)


def _unreadable(sources: Mapping[str, Source], found: str) -> Faulty:
    files = sorted({file_of(source) for source in sources.values()})
    return Faulty(tuple(Fault(FaultKind.UNREADABLE, file, "a readable file", found) for file in files))


def _require_sound_workers(jobs: Sequence[CaseJob], setup: RunSetup, alone: PoolSettings) -> None:
    """Blame no file for what is wrong with the machine: the same cases' references must be readable.

    Raises `PhaseError`.
    """
    validating = {index: replace(job, mode="validate", sources={}) for index, job in enumerate(jobs)}
    for index, outcome in _one_by_one(validating, setup, alone):
        if isinstance(outcome, Died):
            name = jobs[index].case.name
            raise PhaseError(f"case {name}: not even its reference can be read ({outcome.reason})")


def _reject(
    jobs: Sequence[CaseJob], died: Sequence[int], readable: Sequence[int], outcomes: dict[int, Outcome]
) -> None:
    """Add the outcomes of a rejected submission: every fault, and no scores, since those are dropped."""
    untried = f"one that was not tried, after {_MAX_DEADLY_FILES} others that cannot be read"
    for position in died:
        if position in readable:
            outcomes[position] = Scored({})
        elif position not in outcomes:
            outcomes[position] = _unreadable(jobs[position].sources, untried)


def _worst(
    jobs: Sequence[CaseJob], causes: Mapping[int, str], setup: RunSetup, settings: PoolSettings
) -> dict[int, Outcome]:
    """Return the worst values of failed cases, with the cause of each. Raises `PhaseError`."""
    outcomes: dict[int, Outcome] = {}
    worst = {position: replace(jobs[position], mode="worst") for position in causes}
    for position, outcome in _one_by_one(worst, setup, settings):
        if isinstance(outcome, Died):
            name = jobs[position].case.name
            raise PhaseError(f"case {name}: even its worst values could not be computed ({outcome.reason})")
        if isinstance(outcome, Scored):
            outcome = replace(outcome, failure=causes[position])
        outcomes[position] = outcome
    return outcomes
