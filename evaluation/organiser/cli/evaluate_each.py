"""`evaluate --each`: many submissions to one or several phases, here or on a cluster."""

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError, printable
from evaluation.io.files import scratch_folder, write_atomically
from evaluation.organiser.leaves import found_leaf
from evaluation.organiser.rescoring.kept import CHANGES, SEALED
from evaluation.organiser.rescoring.run import MOST_OF_NAME, Summary, score_all
from evaluation.organiser.rescoring.scorer import Scorer
from evaluation.organiser.rescoring.submissions import fetch, find_submissions, is_address, local_path
from evaluation.organiser.rescoring.task import Engine, ScoringTask, environment
from evaluation.phase.manifest import FILE_NAME as MANIFEST
from evaluation.phase.named import phase_folder
from evaluation.phase.phase import Source, load_phase
from evaluation.platform import machine
from evaluation.platform.archive import folders_of
from evaluation.platform.messages import Streams


def parts(given: list[str], ground_truth: str | None) -> list[tuple[str | None, str]]:
    """Return the phases and folders of --each, paths or addresses; without a phase that of --ground-truth.

    Raises `PhaseError`.
    """
    if len(given) == 1 and (Path(given[0]).exists() or not _names_phase(given[0])):
        return [(None, given[0])]
    found: list[tuple[str | None, str]] = []
    for text in given:
        phase, _, folder = text.partition("=")
        if not _names_phase(text) or not phase or not folder:
            raise PhaseError(f"--each {text}: expected PHASE=FOLDER, as several are given")
        found.append((phase, folder))
    if ground_truth is not None:
        raise PhaseError("--ground-truth: expected none, as --each names the phases")
    return found


def _names_phase(text: str) -> bool:
    before, equals, _ = text.partition("=")
    # An address may have an equals sign too, behind its question mark.
    return bool(equals) and not ("://" in before and "?" in before)


@contextmanager
def _each_progress(total: int, tell: Callable[[Sequence[str]], None]) -> Iterator[Callable[[str], None]]:
    """Yield the writer of finished submissions' lines, above a bar on a terminal, else by ``tell``."""
    if not sys.stdout.isatty():
        yield lambda line: tell([line])
        return
    from rich.progress import MofNCompleteColumn, Progress

    with Progress(*Progress.get_default_columns(), MofNCompleteColumn(), transient=True) as progress:
        bar = progress.add_task("submissions", total=total)

        def ended(line: str) -> None:
            progress.console.print(line, markup=False, highlight=False, soft_wrap=True)
            progress.advance(bar)

        yield ended


Default = Callable[[], tuple[Path, Source]]
_MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class _Job:
    """All tasks of one phase; ``folder`` is where their results are below the output, "" for the output.

    ``manifest``: of the phase; it is kept beside the results to tell later which references have changed.
    """

    phase: str
    folder: str
    tasks: tuple[ScoringTask, ...]
    notes: tuple[str, ...]
    manifest: bytes


class _Stopped(BaseException):
    """Raised by SIGINT and SIGTERM, to end all started processes."""

    def __init__(self, number: int) -> None:
        self.status = 128 + number


def evaluate_each(arguments: argparse.Namespace, default: Default, streams: Streams) -> int:
    """Score all submissions; return 0, 1 if one was not scored, or 128 and the signal that stopped the run.

    ``default`` returns the phase of the image, which is used if no other is given. Raises `PhaseError`,
    `MachineTrouble` and `OSError` where nothing can be scored.
    """
    if arguments.since is not None:
        _require_apart(arguments.since, arguments.output)
    summary = Summary()
    total = 0
    try:
        with _stoppable(), scratch_folder("phases-") as temporary:
            given = parts(arguments.each, arguments.ground_truth)
            jobs = [_job(phase, each, arguments, default, temporary) for phase, each in given]
            names = [job.phase for job in jobs]
            if twice := sorted({name for name in names if names.count(name) > 1}):
                # Their results would be mixed.
                problems = (
                    f"--each: expected every phase once, found {name} several times" for name in twice
                )
                raise PhaseError(*problems)
            streams.tell_organiser(note for job in jobs for note in job.notes)
            tasks = [task for job in jobs for task in job.tasks]
            total = len(tasks)
            places = {task.place: printable(task.place, MOST_OF_NAME) for task in tasks}
            width = max(map(len, places.values()), default=0)
            engine, tasks = _engine(arguments, tasks, streams)
            for job in jobs:
                kept = arguments.output / job.folder / SEALED / MANIFEST
                if not kept.is_file() or kept.read_bytes() != job.manifest:
                    write_atomically(kept, job.manifest)
            try:
                with (
                    closing(score_all(tasks, arguments.output, engine)) as answers,
                    _each_progress(total, streams.tell_organiser) as ended,
                ):
                    for task, answer in answers:
                        summary.add(task.place, answer)
                        ended(f"{places[task.place]:<{width}}  {answer.line.splitlines()[0]}")
            finally:
                streams.tell_organiser(summary.lines())
            if arguments.since is not None:
                streams.tell_organiser(_compared(jobs, arguments.since, arguments.output))
    except _Stopped as stopped:
        left = total - summary.done
        streams.tell_organiser([f"Stopped: {left} are left; the same command goes on with them"])
        return stopped.status
    return 1 if summary.failures else 0


def _job(
    named: str | None, each: str, arguments: argparse.Namespace, default: Default, temporary: Path
) -> _Job:
    given = named or arguments.ground_truth
    source: Source = "folder"
    if given is None:
        folder, source = default()
        location = str(folder.resolve())
    elif is_address(given) and local_path(given) is None:
        folder = fetch(given, Path(tempfile.mkdtemp(dir=temporary)))
        # The workers of a cluster read it themselves.
        location = given if arguments.cluster else str(folder)
    else:
        folder = local_path(given) if is_address(given) else phase_folder(given)  # type: ignore[assignment]
        location = str(folder.resolve())
    phase = load_phase(folder, source=source)
    submissions, others = find_submissions(each, folders_of(fields_of(phase.tasks)))
    name = phase.config.name if named else ""
    tasks = tuple(
        ScoringTask(
            place=f"{name}/{team}" if name else team,
            phase=location,
            source=source,
            seal=phase.manifest.digest,
            submission=place if path is None else str(path.absolute()),
            environment=environment(),
            isolated=arguments.require_isolation,
        )
        for team, place in [*submissions.items()][arguments.shard or slice(None)]
        for path in [local_path(place)]
    )
    notes = tuple(f"Not scored, neither a folder nor a zip: {each}/{printable(other)}" for other in others)
    if not tasks:
        notes += (f"{each}: this share holds none of {len(submissions)} submissions",)
    return _Job(phase.config.name, name, tasks, notes, (phase.folder / MANIFEST).read_bytes())


def _engine(
    arguments: argparse.Namespace, tasks: list[ScoringTask], streams: Streams
) -> tuple[Engine, list[ScoringTask]]:
    """Return the engine that scores the tasks, and the tasks with their share of the machine."""
    if arguments.cluster is not None:
        if (cluster := found_leaf("parallel.cluster")) is None:
            raise PhaseError("--cluster: this copy of the package has no room `parallel`")
        engine: Engine = cluster.OnCluster(
            arguments.cluster, arguments.workers, lambda line: streams.tell_organiser([line])
        )
        return engine, tasks
    if far := next((task.submission for task in tasks if local_path(task.submission) is None), None):
        raise PhaseError(
            f"{far}: expected --cluster for an address; --cluster local scores it on this machine"
        )
    workers = machine.worker_count(arguments.workers)
    parallel = found_leaf("parallel.lanes") if workers and tasks else None
    if parallel is None:
        return Scorer(), [replace(task, workers=workers) for task in tasks]
    lanes = min(workers, len(tasks))
    each = workers // lanes
    memory = (machine.worker_memory(lanes * each, None) or 0) // _MEBIBYTE
    engine = parallel.Lanes(lanes)
    return engine, [replace(task, workers=each, memory_mb=memory) for task in tasks]


def _require_apart(since: Path, output: Path) -> None:
    """Raise `PhaseError` unless earlier results lie in a folder where this run overwrites nothing."""
    if not since.is_dir():
        raise PhaseError(f"--since: expected a folder of results, found none at {since}")
    earlier, now = (Path(os.path.realpath(folder)) for folder in (since, output))
    found = "the same folder" if earlier == now else "one inside the other"
    if earlier == now or earlier in now.parents or now in earlier.parents:
        expected = "expected a folder apart from --output, which is overwritten"
        raise PhaseError(f"--since: {expected}, found {found}: {since} and {output}")


def _compared(jobs: Sequence[_Job], since: Path, output: Path) -> Iterator[str]:
    """Write changes.json and yield the changes in words. Raises `PhaseError` and `OSError`."""
    from evaluation.organiser.rescoring.changes import changes_between, changes_json, lines_of

    found = [changes_between(since / job.folder, output / job.folder) for job in jobs]
    path = output / CHANGES
    write_atomically(path, changes_json(found))
    for changes in found:
        yield from lines_of(changes)
    yield str(path)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Turn the first SIGINT or SIGTERM into `_Stopped`, and ignore later ones during the clean-up."""
    signals = (signal.SIGINT, signal.SIGTERM)

    def stop(number: int, frame: FrameType | None) -> None:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        raise _Stopped(number)

    before = {each: signal.signal(each, stop) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        sys.stdout.flush()
