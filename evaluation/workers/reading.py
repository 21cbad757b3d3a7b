"""The first stage as a whole: a submission is read to its end, or to the first file that kills its reader.

Nothing here knows a label. `batch_reading` handles readers that die.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from evaluation.core.challenge import fields_of
from evaluation.core.fault import Fault, FaultKind, Faults
from evaluation.core.form import Form
from evaluation.core.limits import limits_of
from evaluation.core.outcome import Died
from evaluation.io.handover import HandoverError
from evaluation.phase.registry import tasks_of_form
from evaluation.workers.batch_reading import DEADLY, BatchReading, ReadBatch, require_sound_readers
from evaluation.workers.batches import WHOLE, Batch, Slice
from evaluation.workers.columns import Columns
from evaluation.workers.pool import Jobs, PoolSettings, open_pool
from evaluation.workers.progress import Progress, no_progress
from evaluation.workers.reader import IndexJob, ReaderSetup
from evaluation.workers.reports import NOTHING, IndexReport, Used

_DEADLY_INDEX = ("a submission whose listing, tables and JSON can be read", DEADLY)


@dataclass(frozen=True)
class Submission:
    """A submission that has been read, or as much of it as its faults or the deadline allowed.

    ``unread`` are the positions of cases not read before the deadline, ``used`` the bytes and time of
    reading.
    """

    faults: Faults
    tasks: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    run_seconds: tuple[float | None, ...] = ()
    batches: tuple[ReadBatch, ...] = ()
    unread: tuple[int, ...] = ()
    used: Used = NOTHING


def read_submission(
    form: Form,
    setup: ReaderSetup,
    settings: PoolSettings,
    room_bytes: int | None,
    progress: Progress = no_progress,
    part: Slice = WHOLE,
    meanwhile: Callable[[], None] | None = None,
) -> Submission:
    """Return the values of a submission or of a slice of its cases, or the faults.

    ``meanwhile`` is called once, while the first reader is at work; its exceptions end the reading.

    At most ``room_bytes`` of values are kept; None: they are only checked. Raises `PhaseError` for faults of
    others than the submission, and `DeadlineExceeded` if no fault is found before the deadline.
    """
    limits = limits_of(form.cases, fields_of(tasks_of_form(form)))
    for tried in (settings, replace(settings, workers=min(1, settings.workers))):
        with open_pool(setup, tried) as pool:
            index = _index(pool, form, max(1, settings.workers) * part.count, meanwhile)
            meanwhile = None
            if index is not None:
                stage = BatchReading(setup, settings, room_bytes, progress, index.faults, limits)
                done, left = stage.run(part.of(index.batches), pool)
                about = (index.tasks, index.notices, index.run_seconds)
                return Submission(stage.faults, *about, done, left, stage.used)
    require_sound_readers(setup, settings)
    return Submission(Faults([Fault(FaultKind.TOO_LARGE, ".", *_DEADLY_INDEX)]))


def read_batches(
    batches: Sequence[Batch],
    setup: ReaderSetup,
    settings: PoolSettings,
    room_bytes: int | None,
    progress: Progress = no_progress,
) -> Submission:
    """Return the same for cases with known sources of their values."""
    stage = BatchReading(setup, settings, room_bytes, progress, Faults())
    with open_pool(setup, settings) as pool:
        done, left = stage.run(batches, pool)
    return Submission(stage.faults, batches=done, unread=left)


def _index(pool: Jobs, form: Form, workers: int, meanwhile: Callable[[], None] | None) -> IndexReport | None:
    """Return the index of a submission, None if its reader died."""
    job = IndexJob(Columns.of(form.cases), workers)
    for _, answer in pool.run([0], lambda _: job, meanwhile=meanwhile):
        if not isinstance(answer, Died):
            with suppress(HandoverError):
                return IndexReport.unpacked(answer, form.tasks, len(form.cases))
    return None
