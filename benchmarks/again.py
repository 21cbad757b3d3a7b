"""Many submissions: throughput of 1, 2 and 4 processes and of a cluster, memory, a model for 64 cores.

    python -m benchmarks.again [--cases 40] [--submissions 24] [--rounds 2]

It takes three minutes on two cores. The submissions are copies of one of REFUGE's size (masks of 1634 ×
1634), so that measurements on few cases can be multiplied. Efficiency is throughput per processor against one
process; it needs a machine without other load. Efficiency of processor time does not: it is the processor
time of one process over the total of several, which includes the operating system's scheduling and the
division of work. Numbers of processes are run in turn, and the best of the rounds counts.
Not measured: reading over a network, more processors than this machine has, a scheduler on another machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.measure import Row, _family, write_sample
from evaluation.organiser.parallel.cluster import OnCluster
from evaluation.organiser.parallel.lanes import Lanes
from evaluation.organiser.rescoring.run import score_all
from evaluation.organiser.rescoring.submissions import find_submissions
from evaluation.organiser.rescoring.task import Answer, Answers, Engine, ScoringTask, environment
from evaluation.phase.phase import load_phase

_NAME = "again"
_MANY = 10_000
_FULL_CASES = 400
_TICK = os.sysconf("SC_CLK_TCK")
_CASES_JSON = b"x" * 200_000


@dataclass(frozen=True)
class Figures:
    """Seconds of a run, of all processors in it, and from the start of the processes to a first result."""

    passed: float
    processor: float
    to_first: float


def answer_at_once(task: ScoringTask) -> Answer:
    """Return a result of the usual size without scoring anything."""
    files = {"cases.json": _CASES_JSON, "metrics.json": b"{}\n"}
    return Answer("scored", "scored", "digest", files, lasting=True)


class AtOnce(Engine):
    """An engine that answers at once in this process."""

    def run(self, tasks: Iterator[ScoringTask | None]) -> Answers:
        """Yield every task with its answer."""
        while (task := next(tasks, None)) is not None:
            yield task, answer_at_once(task)


def main() -> None:
    """Measure and print all figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--submissions", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--main-process", type=int, metavar="N", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.main_process is not None:
        _print_memory(arguments.main_process)
        return
    rows(arguments.cases, arguments.submissions, arguments.rounds)


def rows(cases: int = 40, submissions: int = 24, rounds: int = 2) -> list[Row]:
    """Print and return the rows of all figures."""
    title = f"{submissions} submissions of {cases} masks of 1634 × 1634, scored again"
    print(f"\n{title}")
    found: list[Row] = []

    def add(name: str, seconds: float, ratio: float | None = None, peak: float | None = None) -> None:
        shown = f"{name:<72} {seconds:>9.4f} s"
        shown += "" if ratio is None else f" {ratio:>6.2f}"
        print(shown if peak is None else f"{shown} {peak:>6.0f} MB", flush=True)
        found.append(Row(title, name, seconds, ratio, peak))

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_sample("refuge", folder, _NAME, "--name", _NAME, "--cases", str(cases))
        for number in range(submissions):
            shutil.copytree(
                folder / "submissions" / "good",
                folder / "each" / f"team{number:03}",
                copy_function=os.link,
            )
        tasks = _tasks(folder / "ground-truth" / _NAME, folder / "each")
        timed = _in_turn(tasks, rounds)
        one, whole = timed[1], timed[1].passed / submissions
        add("each submission, 1 process", whole)
        for count in (2, 4):
            figures, processors = timed[count], min(count, os.cpu_count() or 1)
            efficiency, work = one.passed / figures.passed / processors, one.processor / figures.processor
            name = f"{count} processes: efficiency {efficiency:.2f}, of processor time {work:.2f}"
            add(name, figures.passed / submissions, figures.passed / one.passed)
        add("start of the processes to the first result", one.to_first)
        for name, seconds in _overheads(tasks[0], folder):
            add(name, seconds)
    for count in (100, _MANY):
        command = [sys.executable, "-m", "benchmarks.again", "--main-process", str(count)]
        seconds, peak = map(float, subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.split())
        add(f"main process with {count:,} submissions", seconds, peak=peak)
    # Time in proportion to masks; no processor waits for another, for a disk or for a network.
    full, rounds_of_64 = whole * _FULL_CASES / cases, -(-1000 // 64)
    name = f"model: 1,000 submissions of {_FULL_CASES} masks, 64 processors, {rounds_of_64} × {full:.1f} s"
    add(name, rounds_of_64 * full)
    return found


def _tasks(phase: Path, submissions: Path) -> list[ScoringTask]:
    seal = load_phase(phase).manifest.digest
    return [
        ScoringTask(name, str(phase), "folder", seal, location, environment())
        for name, location in find_submissions(str(submissions))[0].items()
    ]


def _in_turn(tasks: list[ScoringTask], rounds: int) -> dict[int, Figures]:
    """Return the best figures for numbers of processes."""
    best: dict[int, Figures] = {}
    for _ in range(rounds):
        for count in (1, 2, 4):
            figures = _timed(tasks, count)
            known = best.setdefault(count, figures)
            best[count] = Figures(
                min(known.passed, figures.passed),
                min(known.processor, figures.processor),
                min(known.to_first, figures.to_first),
            )
    return best


def _timed(tasks: list[ScoringTask], count: int) -> Figures:
    """Score one submission in each of so many processes, and then all."""
    with tempfile.TemporaryDirectory() as output, Lanes(count) as lanes:
        engine = _Kept(lanes)
        started = time.perf_counter()
        ended = [time.perf_counter() for _ in score_all(tasks[:count], Path(output, "first"), engine)]
        before, begun = _processor_seconds(), time.perf_counter()
        assert sum(1 for _ in score_all(tasks, Path(output, "all"), engine)) == len(tasks)
        passed = time.perf_counter() - begun
        return Figures(passed, _processor_seconds() - before, ended[0] - started)


class _Kept(Lanes):
    """Lanes that do not end with the run, so that their processor time can be read."""

    def __init__(self, lanes: Lanes) -> None:
        self.run = lanes.run  # type: ignore[method-assign]

    def __exit__(self, *error: object) -> None:
        """Leave the processes to the lanes."""


def _processor_seconds() -> float:
    """Return the seconds of all processes below this one, and of those below them that have ended."""
    return sum(map(_seconds_of, _family(os.getpid())[1:]))


def _seconds_of(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICK


def _overheads(task: ScoringTask, folder: Path) -> Iterator[tuple[str, float]]:
    """Yield the seconds that a scheduler and the writing of results add to each submission."""
    tasks = [replace(task, place=f"team{number:05}") for number in range(500)]
    with OnCluster("local", 2, lambda line: None, score=answer_at_once) as engine:
        list(engine.run(iter(tasks[:20])))
        seconds, processor = _each(tasks, lambda: engine.run(iter(tasks)))
        yield "scheduler and transport of a result of 200 kB", seconds
        yield "of it, processor time of the main process", processor
    seconds, processor = _each(tasks, lambda: score_all(tasks, folder / "o", AtOnce()))
    yield "writing a result of 200 kB", seconds
    yield "of it, processor time", processor


def _each(tasks: list[ScoringTask], run: Callable[[], Answers]) -> tuple[float, float]:
    started, processor = time.perf_counter(), time.process_time()
    assert sum(1 for _ in run()) == len(tasks)
    passed, processor = time.perf_counter() - started, time.process_time() - processor
    return passed / len(tasks), processor / len(tasks)


def _print_memory(count: int) -> None:
    """Print the seconds and the peak MB of a process that runs so many submissions, answered at once."""
    global _CASES_JSON
    _CASES_JSON = b"x"
    with tempfile.TemporaryDirectory() as temporary:
        for number in range(count):
            (Path(temporary) / "each" / f"team{number:05}").mkdir(parents=True)
        tasks = [
            ScoringTask(name, "phase", "folder", "seal", location, environment())
            for name, location in find_submissions(f"{temporary}/each")[0].items()
        ]
        started = time.perf_counter()
        assert sum(1 for _ in score_all(tasks, Path(temporary) / "o", AtOnce())) == count
        seconds = time.perf_counter() - started
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    main()
