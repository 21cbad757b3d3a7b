"""Many submissions: throughput of 1, 2 and 4 processes, what a cluster adds, memory, a model for 64 cores.

    python -m benchmarks.again [--cases 40] [--submissions 24]

The submissions are copies of one of REFUGE's size (masks of 1634 × 1634), so that what is measured on few
cases can be multiplied. Efficiency is throughput per processor against one process; it needs a machine
without other load. The ratio of processor time, one process against several, does not: it tells what
work is added.
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
from types import TracebackType

from benchmarks.measure import _family, write_sample
from evaluation.phase.phase import load_phase
from evaluation.rescoring.cluster import OnCluster
from evaluation.rescoring.environment import environment
from evaluation.rescoring.lanes import Lanes
from evaluation.rescoring.run import score_all
from evaluation.rescoring.submissions import find_submissions
from evaluation.rescoring.task import Answer, Answers, Task

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


def answer_at_once(task: Task) -> Answer:
    """Return a result of the usual size without scoring anything."""
    files = {"cases.json": _CASES_JSON, "metrics.json": b"{}\n"}
    return Answer("scored", "scored", "digest", files, lasting=True)


class AtOnce:
    """An engine that answers at once in this process."""

    def __enter__(self) -> AtOnce:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave everything as it is."""

    def run(self, tasks: Iterator[Task]) -> Answers:
        """Yield every task with its answer."""
        for task in tasks:
            yield task, answer_at_once(task)


def main() -> None:
    """Make the sample and print all figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--submissions", type=int, default=24)
    parser.add_argument("--main-process", type=int, metavar="N", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.main_process is not None:
        _print_memory(arguments.main_process)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_sample("refuge", folder, _NAME, "--name", _NAME, "--cases", str(arguments.cases))
        submissions = folder / "each"
        for number in range(arguments.submissions):
            shutil.copytree(
                folder / "submissions" / "good", submissions / f"team{number:03}", copy_function=os.link
            )
        tasks = _tasks(folder / "ground-truth" / _NAME, submissions)
        each = _throughput(tasks, arguments.cases)
        _model(each, arguments.cases)
        _print_overhead(tasks[0], folder)
    for count in (100, _MANY):
        subprocess.run([sys.executable, "-m", "benchmarks.again", "--main-process", str(count)], check=True)


def _tasks(phase: Path, submissions: Path) -> list[Task]:
    seal = load_phase(phase).manifest.digest
    return [
        Task(found.name, str(phase), "folder", seal, found.location, environment())
        for found in find_submissions(str(submissions)).submissions
    ]


def _throughput(tasks: list[Task], cases: int) -> float:
    """Print the throughput for some numbers of processes; return a submission's seconds in one of them."""
    print(f"{len(tasks)} submissions of {cases} masks of 1634 × 1634, {os.cpu_count()} processors")
    print(
        f"{'processes':<10} {'to first, s':>12} {'a minute':>9} {'efficiency':>11} {'processor s each':>17} "
        f"{'ratio':>6}"
    )
    first = None
    for count in (1, 2, 4):
        figures = _timed(tasks, count)
        first = first or figures
        efficiency = first.passed / figures.passed / min(count, os.cpu_count() or 1)
        work = first.processor / figures.processor
        print(
            f"{count:<10} {figures.to_first:>12.2f} {60 * len(tasks) / figures.passed:>9.1f} "
            f"{efficiency:>11.2f} {figures.processor / len(tasks):>17.2f} {work:>6.2f}"
        )
    assert first is not None
    return first.passed / len(tasks)


def _timed(tasks: list[Task], count: int) -> Figures:
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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


def _model(each: float, cases: int) -> None:
    """Print what 1,000 submissions would take on 64 processors, from the seconds of a submission here."""
    full = each * _FULL_CASES / cases
    rounds = -(-1000 // 64)
    print(
        f"model: a submission of {_FULL_CASES} masks takes {full:.1f} s in one process, 1,000 of them on 64 "
        f"processors {rounds} × {full:.1f} s = {rounds * full / 60:.1f} min"
    )
    print("assumed: time in proportion to masks, no processor waits for another, disk or network")


def _print_overhead(task: Task, folder: Path) -> None:
    """Print what a scheduler and the writing of results add to each submission."""
    tasks = [replace(task, place=f"team{number:05}") for number in range(500)]
    with OnCluster("local", 2, lambda line: None, score=answer_at_once) as engine:
        list(engine.run(iter(tasks[:20])))
        _print_each("scheduler, results of 200 kB, a submission", tasks, lambda: engine.run(iter(tasks)))
    _print_each(
        "writing results of 200 kB, a submission", tasks, lambda: score_all(tasks, folder / "o", AtOnce())
    )


def _print_each(what: str, tasks: list[Task], run: Callable[[], Answers]) -> None:
    started, processor = time.perf_counter(), time.process_time()
    assert sum(1 for _ in run()) == len(tasks)
    passed, processor = time.perf_counter() - started, time.process_time() - processor
    each, work = 1000 * passed / len(tasks), 1000 * processor / len(tasks)
    print(f"{what:<46} {each:>8.1f} ms, {work:.1f} ms of a processor")


def _print_memory(count: int) -> None:
    """Print the peak memory of the process that runs so many submissions which are answered at once."""
    global _CASES_JSON
    _CASES_JSON = b"x"
    with tempfile.TemporaryDirectory() as temporary:
        for number in range(count):
            (Path(temporary) / "each" / f"team{number:05}").mkdir(parents=True)
        tasks = [
            Task(found.name, "phase", "folder", "seal", found.location, environment())
            for found in find_submissions(f"{temporary}/each").submissions
        ]
        assert sum(1 for _ in score_all(tasks, Path(temporary) / "o", AtOnce())) == count
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"main process, peak memory with {count:>6} submissions {peak:>10.1f} MB")


if __name__ == "__main__":
    main()
