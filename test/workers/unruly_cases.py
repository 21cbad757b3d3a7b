"""Cases of the ill-behaved challenge, and both stages for them; the submitted value names the behaviour."""

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evaluation.core.challenge import fields_of
from evaluation.core.form import CaseForm, CaseRow, Form
from evaluation.core.outcome import CaseJob, Outcome, Progress, no_progress
from evaluation.core.sources import CellsSource, FileSource, Source
from evaluation.phase.reference import ReferenceFiles
from evaluation.phase.registry import tasks_of_form
from evaluation.workers import processes
from evaluation.workers.batches import batches_of
from evaluation.workers.pool import PoolSettings
from evaluation.workers.reader import ReaderSetup
from evaluation.workers.reading import ReadSubmission, read_batches
from evaluation.workers.scorer import ScorerSetup
from evaluation.workers.scoring import score_cases
from evaluation.workers.worker import AskReader, Handler

from . import conftest  # noqa: F401 - makes the challenge known where this module is imported by a script

MEBIBYTE = 1 << 20
ROOM = 64 * MEBIBYTE


@dataclass(frozen=True)
class Case:
    """A case of the form, where its value lies, and its row of the case table."""

    form: CaseForm
    source: Source
    row: CaseRow


def case(number: int, behaviour: str = "well") -> Case:
    form = CaseForm(f"case{number:03d}")
    source = CellsSource((behaviour,), f"behaviour{number}.csv", number + 2, ("Behaviour",))
    return Case(form, source, CaseRow(number + 2, {"name": form.name, "behaviour": "well"}))


def in_file(number: int, folder: Path) -> Case:
    """Write the value of a case to a separate file, and return the case."""
    (folder / f"{number}.txt").write_text("well")
    return replace(case(number), source=FileSource(f"{number}.txt"))


def kill_workers() -> None:
    """Kill all workers of this process, as a machine does that is short of memory."""
    server = processes._server.process
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    assert children
    for child in children:
        os.kill(int(child), signal.SIGKILL)


def reader_setup(folder: str = "/", memory: int = 1024) -> ReaderSetup:
    form = Form("unruly", "unruly", "archive", ("task",), "reject", {}, {}, ())
    return ReaderSetup.of(form, folder, memory * MEBIBYTE)


class GreedyReaders(ReaderSetup):
    """Readers that need more memory to start than they may have."""

    def open(self, ask_reader: AskReader | None) -> Handler:
        assert self.memory_bytes is not None
        bytearray(2 * self.memory_bytes)
        return super().open(ask_reader)


def scorer_setup(memory: int = 1024, **options: object) -> ScorerSetup:
    reference = ReferenceFiles("/", {}, {})
    return ScorerSetup(reader_setup().form, ("task",), options, reference, memory * MEBIBYTE)


def settings_of(case_seconds: float = 2.0, workers: int = 2, **more: object) -> PoolSettings:
    return PoolSettings(workers, case_seconds, **more)


def read(
    cases: Sequence[Case],
    settings: PoolSettings,
    room: int | None = ROOM,
    setup: ReaderSetup | None = None,
    progress: Progress = no_progress,
) -> ReadSubmission:
    """Read cases as the first stage does."""
    sources = [{"behaviour": one.source} for one in cases]
    setup = setup or reader_setup()
    forms = [one.form for one in cases]
    batches = list(
        batches_of(setup.folder, forms, sources, fields_of(tasks_of_form(setup.form)), settings.workers)
    )
    return read_batches(batches, setup, settings, room, progress)


def run(
    cases: Sequence[Case],
    settings: PoolSettings,
    scorer: ScorerSetup | None = None,
    progress: Progress = no_progress,
) -> list[Outcome]:
    """Read cases, which must succeed, and score them."""
    return score(cases, read(cases, settings), settings, scorer=scorer, progress=progress)


def score(
    cases: Sequence[Case],
    submission: ReadSubmission,
    settings: PoolSettings,
    reader: ReaderSetup | None = None,
    scorer: ScorerSetup | None = None,
    progress: Progress = no_progress,
) -> list[Outcome]:
    """Score cases that were read without a fault."""
    assert not submission.faults
    jobs = [CaseJob(one.form, one.row) for one in cases]
    setups = scorer or scorer_setup(), reader or reader_setup()
    return score_cases(jobs, submission.batches, *setups, settings, progress)


def values(outcomes: Sequence[Outcome]) -> list[float]:
    return [outcome.rows["task"]["value"] for outcome in outcomes]
