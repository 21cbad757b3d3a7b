"""Times whole processes in turn, A B A B …, and reports medians, ratios and peak memory."""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_POLL_SECONDS = 0.01
_LONG_SECONDS = 20.0
# As for a user: with byte code, which some machines keep from being written.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
_EVENT = struct.Struct("iIII")
_IN_OPEN, _IN_FOLDER = 0x20, 0x40000000


@dataclass(frozen=True)
class Measurement:
    """Median seconds of a command, and peak memory in MB of its largest process, workers included."""

    seconds: float
    peak_megabytes: float


@dataclass(frozen=True)
class Contest:
    """Commands that are run in turn: ours first, then floors and rivals, named as such."""

    title: str
    commands: Mapping[str, list[str]]


@dataclass(frozen=True)
class Row:
    """A line of the table of all benchmarks; ``ratio`` is its time divided by ours, None for our own."""

    title: str
    name: str
    seconds: float
    ratio: float | None = None
    peak_megabytes: float | None = None


def rows_of(contests: Iterable[Contest], runs: int) -> list[Row]:
    """Run contests, print their tables and return their rows."""
    rows = []
    for contest in contests:
        measured = measure(contest.commands, runs)
        ours = next(iter(contest.commands))
        print(f"\n{contest.title}")
        report(measured, ours)
        for name, figures in measured.items():
            ratio = None if name == ours else figures.seconds / measured[ours].seconds
            rows.append(Row(contest.title, name, figures.seconds, ratio, figures.peak_megabytes))
    return rows


def benchmark_parser(description: str | None, cases: int, runs: int) -> argparse.ArgumentParser:
    """Return a parser of the common arguments of benchmarks, with the usual numbers of cases and runs."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=cases)
    parser.add_argument("--runs", type=int, default=runs)
    return parser


def parse_or_run_part(
    parser: argparse.ArgumentParser, parts: Mapping[str, Callable[[Path], None]]
) -> argparse.Namespace | None:
    """Return the arguments; None where one part of the benchmark was asked for and has run."""
    parser.add_argument("--only", choices=sorted(parts), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only is None:
        return arguments
    parts[arguments.only](arguments.folder)
    return None


def write_sample(challenge: str, folder: Path, phase: str, *options: str) -> None:
    """Write the sample of a challenge below a folder and seal one of its phases."""
    run_evaluation("sample", challenge, "--output", str(folder), *options)
    run_evaluation("seal", str(folder / "ground-truth" / phase))


def run_evaluation(*arguments: str) -> None:
    """Run a command of the package and discard its output."""
    command = [sys.executable, "-m", "evaluation", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def evaluate_command(folder: Path, phase: str, submission: str = "good") -> list[str]:
    """Return the command that scores a submission of a sample against a phase of it."""
    return [
        *(sys.executable, "-m", "evaluation", "evaluate", "--output", str(folder)),
        *("--input", str(folder / "submissions" / submission)),
        *("--ground-truth", str(folder / "ground-truth" / phase)),
    ]


def organiser_contests(title: str, folder: Path, phase: str, submission: str = "good") -> Iterator[Contest]:
    """Yield contests of `seal` and `rehearse`, for which an organiser waits, with one evaluation."""
    for command in ("seal", "rehearse"):
        commands = {
            command: [sys.executable, "-m", "evaluation", command, str(folder / "ground-truth" / phase)],
            "floor: one evaluation": evaluate_command(folder, phase, submission),
        }
        yield Contest(f"{command}, {title}", commands)


def measure(commands: Mapping[str, list[str]], runs: int) -> dict[str, Measurement]:
    """Return the measurement of every command, run in turn after a warm-up round that looks at memory.

    A command that takes very long, as a rival may, is not run again after that round.
    """
    memory: dict[str, float] = {}
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    once: dict[str, float] = {}
    for name, command in commands.items():
        started = time.perf_counter()
        memory[name] = _peak_megabytes(command)
        if (taken := time.perf_counter() - started) > _LONG_SECONDS:
            once[name] = taken
    for _ in range(runs):
        for name, command in commands.items():
            if name not in once:
                started = time.perf_counter()
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                seconds[name].append(time.perf_counter() - started)
    return {
        name: Measurement(once[name] if name in once else statistics.median(seconds[name]), memory[name])
        for name in commands
    }


def processor_seconds_of(run: Callable[[], object], runs: int) -> float:
    """Return the median of the processor time of some runs, after one."""
    run()
    seconds = []
    for _ in range(runs):
        started = time.process_time()
        run()
        seconds.append(time.process_time() - started)
    return statistics.median(seconds)


def seconds_to_first_open(command: list[str], folder: Path, runs: int) -> float:
    """Return the median time from the start of a command until it opens a file of a folder."""
    return statistics.median(_seconds_to_first_open(command, folder) for _ in range(runs))


def report(measured: Mapping[str, Measurement], ours: str) -> None:
    """Print a table: seconds, and the ratio of our time to each."""
    print(f"{'':<44} {'seconds':>8} {'ours / it':>10} {'peak MB':>8}")
    for name, figures in measured.items():
        ratio = measured[ours].seconds / figures.seconds
        print(f"{name:<44} {figures.seconds:>8.2f} {ratio:>10.2f} {figures.peak_megabytes:>8.0f}", flush=True)


def _seconds_to_first_open(command: list[str], folder: Path) -> float:
    libc = ctypes.CDLL(None, use_errno=True)
    events = libc.inotify_init()
    try:
        if libc.inotify_add_watch(events, os.fsencode(folder), _IN_OPEN) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while not _opens_a_file(os.read(events, 1 << 16)):
            pass
        seconds = time.perf_counter() - started
        process.wait()
        return seconds
    finally:
        os.close(events)


def _opens_a_file(events: bytes) -> bool:
    """Tell whether one of the events of inotify is of a file; the folder itself is opened to list it."""
    position = 0
    while position < len(events):
        _, mask, _, length = _EVENT.unpack_from(events, position)
        if not mask & _IN_FOLDER:
            return True
        position += _EVENT.size + length
    return False


def _peak_megabytes(command: list[str]) -> float:
    """Run a command and return the largest resident size that any process of it has had."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, *(_resident_kilobytes(pid) for pid in _family(process.pid)))
        time.sleep(_POLL_SECONDS)
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed")
    return peak / 1024


def _family(pid: int) -> list[int]:
    """Return a process and all that descend from it, as far as they are still there."""
    family = [pid]
    for member in family:
        try:
            for task in Path(f"/proc/{member}/task").iterdir():
                family += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
    return family


def _resident_kilobytes(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)
