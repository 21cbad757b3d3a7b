"""The second stage as a whole: cases of a submission without a fault are scored, or of no submission at all.

A scorer that dies costs one case: each that it had is scored again in a process of its own, with no other
beside it, and what dies again takes the worst values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.outcome import CaseJob, Died, Outcome, Scored
from evaluation.phase.registry import tasks_of_form
from evaluation.workers.batches import parts_of
from evaluation.workers.outcomes import unpacked_outcomes
from evaluation.workers.pool import DeadlineExceeded, PoolSettings, open_pool
from evaluation.workers.processes import OUT_OF_TIME
from evaluation.workers.reader import ReaderSetup
from evaluation.workers.reading import Progress, ReadBatch, no_progress
from evaluation.workers.scorer import ScoreJob, ScorerSetup, unportable


@dataclass(frozen=True)
class _Part:
    """Some cases by their positions: their jobs by their numbers in a batch, and the batch."""

    positions: tuple[int, ...]
    job: ScoreJob


def score_cases(
    jobs: Sequence[CaseJob],
    batches: Sequence[ReadBatch],
    setup: ScorerSetup,
    reader: ReaderSetup,
    settings: PoolSettings,
    progress: Progress = no_progress,
) -> list[Outcome]:
    """Return the outcome of every job of a submission that was read, in the order of the jobs.

    Cases that are in no batch were not read in time. Raises `DeadlineExceeded`, and `PhaseError` where the
    workers cannot do anything.
    """
    parts = []
    for batch in batches:
        cases = {number: jobs[position] for number, position in batch.positions.items()}
        job = ScoreJob(cases, batch.values, batch.content if batch.again else b"", batch.again)
        parts.append(_Part(tuple(batch.positions.values()), job))
    again = any(batch.again for batch in batches)
    stage = _Stage(jobs, setup, reader if again else None, settings, progress)
    return stage.run(parts)


def score_nothing(
    jobs: Sequence[CaseJob], setup: ScorerSetup, settings: PoolSettings, progress: Progress = no_progress
) -> list[Outcome]:
    """Return the outcome of every job without a submission, in the order of the jobs. Raises `PhaseError`."""
    stage = _Stage(jobs, setup, None, settings, progress)
    cases = [job.case for job in jobs]
    parts = parts_of(cases, fields_of(tasks_of_form(setup.form)), settings.workers)
    return stage.run([stage.part_of(positions) for positions in parts])


class _Stage:
    def __init__(
        self,
        jobs: Sequence[CaseJob],
        setup: ScorerSetup,
        reader: ReaderSetup | None,
        settings: PoolSettings,
        progress: Progress,
    ) -> None:
        self._jobs = jobs
        self._setup, self._reader = setup, reader
        self._settings = settings
        self._progress = progress
        self._outcomes: dict[int, Outcome] = {}

    def run(self, parts: Sequence[_Part]) -> list[Outcome]:
        causes: dict[int, str] = {}
        try:
            died = self._run(parts, self._settings)
            alone = [
                _single(part, position) for part in parts for position in part.positions if position in died
            ]
            causes = self._run(alone, replace(self._settings, workers=min(1, self._settings.workers)))
        except DeadlineExceeded:
            if not self._settings.fill_at_deadline:
                raise DeadlineExceeded(tuple(self._jobs[i].case.name for i in self._unfinished())) from None
        causes = {position: causes.get(position, OUT_OF_TIME) for position in self._unfinished()}
        if causes:
            self._fill(causes)
        return [self._outcomes[position] for position in range(len(self._jobs))]

    def part_of(self, positions: Iterable[int]) -> _Part:
        """Return a part of cases of which nothing was submitted, or is of interest."""
        positions = tuple(positions)
        return _Part(positions, ScoreJob({i: self._jobs[i] for i in positions}))

    def _unfinished(self) -> list[int]:
        return [position for position in range(len(self._jobs)) if position not in self._outcomes]

    def _run(self, parts: Sequence[_Part], settings: PoolSettings) -> dict[int, str]:
        """Keep the outcomes of parts and return the positions of the cases that died, with the causes."""
        died: dict[int, str] = {}
        with open_pool(self._setup, settings, self._reader) as pool:
            for number, answer in pool.run(range(len(parts)), lambda number: parts[number].job, ahead=True):
                part = parts[number]
                for position, outcome in zip(part.positions, _outcomes(part, answer), strict=True):
                    if isinstance(outcome, Died):
                        died[position] = outcome.reason
                    else:
                        self._outcomes[position] = outcome
                self._progress(len(self._outcomes))
        return died

    def _fill(self, causes: Mapping[int, str]) -> None:
        """Give the cases that failed their worst values, with the cause of each. Raises `PhaseError`."""
        worst = {position: replace(self._jobs[position], mode="worst") for position in causes}
        parts = [_Part((position,), ScoreJob({0: job})) for position, job in worst.items()]
        died = self._run(parts, replace(self._settings, deadline=None))
        for position, reason in died.items():
            name = self._jobs[position].case.name
            raise PhaseError(f"case {name}: even its worst values could not be computed ({reason})")
        for position, cause in causes.items():
            outcome = self._outcomes[position]
            if isinstance(outcome, Scored):
                self._outcomes[position] = replace(outcome, failure=cause)


def _single(part: _Part, position: int) -> _Part:
    number = list(part.job.cases)[part.positions.index(position)]
    return _Part((position,), replace(part.job, cases={number: part.job.cases[number]}))


def _outcomes(part: _Part, answer: memoryview | Died) -> Sequence[Outcome]:
    """Return the outcomes of a part; where they cannot be unpickled, each case is to be tried alone."""
    if isinstance(answer, Died):
        return [answer] * len(part.positions)
    try:
        return unpacked_outcomes(answer)
    except Exception as error:
        if len(part.positions) == 1:
            return [unportable(job, error) for job in part.job.cases.values()]
        return [Died("its result cannot leave the worker")] * len(part.positions)
