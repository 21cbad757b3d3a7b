"""The second stage as a whole: scores the cases of a faultless submission, or of no submission at all.

A scorer that dies costs one case: each of its cases is scored again in a process of its own, with no other
beside it, and a case that dies again takes the worst values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.outcome import CaseJob, Died, Outcome, Progress, Scored, no_progress
from evaluation.phase.registry import tasks_of_form
from evaluation.workers.batches import Columns, parts_of, unpacked_outcomes
from evaluation.workers.pool import DeadlineExceeded, PoolSettings, open_pool
from evaluation.workers.processes import OUT_OF_TIME
from evaluation.workers.reader import ReaderSetup
from evaluation.workers.reading import ReadBatch
from evaluation.workers.scorer import ScoreJob, ScorerSetup, unportable


def score_cases(
    jobs: Sequence[CaseJob],
    batches: Sequence[ReadBatch],
    setup: ScorerSetup,
    reader: ReaderSetup,
    settings: PoolSettings,
    progress: Progress = no_progress,
) -> list[Outcome]:
    """Return the outcome of every job of a submission that was read, in the order of the jobs.

    Cases that are in no batch were not read in time. Raises `DeadlineExceeded`, `MachineTrouble`, and
    `PhaseError` where the workers cannot do anything.
    """
    parts = []
    for batch in batches:
        kept = {number: i for number, i in batch.positions.items() if number not in batch.again}
        parts += [replace(batch, positions=kept, again={})] if kept else []
        for number, digests in batch.again.items():
            alone = {number: batch.positions[number]}
            parts.append(replace(batch, positions=alone, again={number: digests}))
    return _Stage(jobs, setup, reader, settings, progress).run(parts)


def score_nothing(
    jobs: Sequence[CaseJob], setup: ScorerSetup, settings: PoolSettings, progress: Progress = no_progress
) -> list[Outcome]:
    """Return the outcome of every job without a submission, in the order of the jobs. Raises `PhaseError`."""
    stage = _Stage(jobs, setup, None, settings, progress)
    cases = [job.case for job in jobs]
    parts = parts_of(cases, fields_of(tasks_of_form(setup.form)), settings.workers)
    return stage.run([ReadBatch(dict(enumerate(positions))) for positions in parts])


@dataclass
class _Stage:
    jobs: Sequence[CaseJob]
    setup: ScorerSetup
    reader: ReaderSetup | None
    settings: PoolSettings
    progress: Progress
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    reads_again: bool = False

    def run(self, parts: Sequence[ReadBatch]) -> list[Outcome]:
        causes: dict[int, str] = {}
        try:
            died = self._run(parts, self.settings, alone=False)
            alone = [
                replace(part, positions={number: position})
                for part in parts
                for number, position in part.positions.items()
                if position in died
            ]
            causes = self._run(alone, replace(self.settings, workers=min(1, self.settings.workers)))
        except DeadlineExceeded:
            # Readers beside scorers could bring the deadline about: it must not be a free attempt.
            if not (self.settings.fill_at_deadline or self.reads_again):
                raise DeadlineExceeded(tuple(self.jobs[i].case.name for i in self._unfinished())) from None
        causes = {position: causes.get(position, OUT_OF_TIME) for position in self._unfinished()}
        if causes:
            self._fill(causes)
        return [self.outcomes[position] for position in range(len(self.jobs))]

    def _job(self, part: ReadBatch) -> ScoreJob:
        cases = Columns.of([self.jobs[position] for position in part.positions.values()])
        if part.again:
            return ScoreJob([*part.positions], cases, content=part.content, again=part.again)
        return ScoreJob([*part.positions], cases, bytes(part.values))

    def _unfinished(self) -> list[int]:
        return [position for position in range(len(self.jobs)) if position not in self.outcomes]

    def _run(self, parts: Sequence[ReadBatch], settings: PoolSettings, alone: bool = True) -> dict[int, str]:
        """Keep the outcomes of parts and return the positions of the cases that died, with the causes.

        Cases whose files are read again come last. Raises `MachineTrouble` if it lets a case die ``alone``.
        """
        kept = [part for part in parts if not part.again]
        died = self._run_with(None, kept, settings, alone) if kept else {}
        if again := [part for part in parts if part.again]:
            self.reads_again = True
            died |= self._run_with(self.reader, again, settings, alone)
        return died

    def _run_with(
        self, reader: ReaderSetup | None, parts: Sequence[ReadBatch], settings: PoolSettings, alone: bool
    ) -> dict[int, str]:
        died: dict[int, str] = {}
        with open_pool(self.setup, settings, reader) as pool:
            for number, answer in pool.run(range(len(parts)), lambda i: self._job(parts[i])):
                positions = parts[number].positions.values()
                outcomes = self._outcomes_of(parts[number], answer)
                for position, outcome in zip(positions, outcomes, strict=True):
                    if isinstance(outcome, Died):
                        if outcome.trouble is not None and alone:
                            raise outcome.trouble
                        died[position] = outcome.reason
                    else:
                        self.outcomes[position] = outcome
                self.progress(len(self.outcomes))
        return died

    def _outcomes_of(self, part: ReadBatch, answer: memoryview | Died) -> Sequence[Outcome]:
        """Return the outcomes of a part; if they cannot be unpickled, each case is to be tried alone."""
        if isinstance(answer, Died):
            return [answer] * len(part.positions)
        try:
            return unpacked_outcomes(answer)
        except Exception as error:
            if len(part.positions) > 1:
                return [Died("its result cannot leave the worker")] * len(part.positions)
            return [unportable(self.jobs[position], error) for position in part.positions.values()]

    def _fill(self, causes: Mapping[int, str]) -> None:
        """Give the cases that failed their worst values, with the cause of each. Raises `PhaseError`."""
        self.jobs = [replace(job, mode="worst") for job in self.jobs]
        died = self._run([ReadBatch({0: i}) for i in causes], replace(self.settings, deadline=None))
        for position, reason in died.items():
            name = self.jobs[position].case.name
            raise PhaseError(f"case {name}: even its worst values could not be computed ({reason})")
        for position, cause in causes.items():
            outcome = self.outcomes[position]
            if isinstance(outcome, Scored):
                self.outcomes[position] = replace(outcome, failure=cause)
