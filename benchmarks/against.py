"""Compares the speed of two commits: the same commands of both in turn, on the same samples.

Each side is a folder with the package of its commit and the benchmarks of this checkout, so that both do the
same work. The time by the clock decides, since commits differ in the processes that they wait for: what the
others use is not counted as processor time, which is told all the same.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Contest

_REPOSITORY = Path(__file__).resolve().parent.parent
MOST = 1.1
"""A row that takes more than so many times as long is named."""


@dataclass(frozen=True)
class Pair:
    """Medians of what a command took before and now, in seconds; None where that commit cannot run it."""

    title: str
    processor: tuple[float | None, float]
    clock: tuple[float | None, float]

    @property
    def ratio(self) -> float | None:
        """The time by the clock now, divided by that before."""
        before, now = self.clock
        return None if before is None else now / before

    @property
    def is_slower(self) -> bool:
        """Whether it takes longer by more than a tenth."""
        return self.ratio is not None and self.ratio > MOST


def compare(commit: str, contests: Iterable[Contest], runs: int) -> list[Pair]:
    """Return the pairs of all contests' first commands; ``commit`` is what git calls it."""
    with tempfile.TemporaryDirectory() as temporary:
        before = Path(temporary, "checkout")
        git = ["git", "-C", str(_REPOSITORY), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(before), commit], check=True)
        try:
            sides = {}
            for name, checkout in (("before", before), ("now", _REPOSITORY)):
                sides[name] = Path(temporary, name)
                sides[name].mkdir()
                (sides[name] / "evaluation").symlink_to(checkout / "evaluation")
                (sides[name] / "benchmarks").symlink_to(_REPOSITORY / "benchmarks")
            return [_pair(contest, sides, runs) for contest in contests]
        finally:
            subprocess.run([*git, "remove", "--force", str(before)], check=True)


def _pair(contest: Contest, sides: Mapping[str, Path], runs: int) -> Pair:
    command = next(iter(contest.commands.values()))
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    failed = {name for name, folder in sides.items() if _seconds(command, folder) is None}
    if "now" in failed:
        sys.exit(f"{' '.join(command)} failed")
    for _ in range(runs):
        for name, folder in sides.items():
            if name not in failed and (seconds := _seconds(command, folder)) is not None:
                taken[name].append(seconds)
    processor, clock = zip(*(_medians(taken[name]) for name in ("before", "now")), strict=True)
    pair = Pair(contest.title, processor, clock)
    sys.stdout.write(f"{_line(pair)}\n")
    sys.stdout.flush()
    return pair


def _seconds(command: list[str], folder: Path) -> tuple[float, float] | None:
    """Return the processor time and the time by the clock of a command of one side; None if it fails."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    clock, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return None if done.returncode else (processor, clock)


def _medians(taken: list[tuple[float, float]]) -> tuple[float | None, float | None]:
    if not taken:
        return None, None
    processor, clock = zip(*taken, strict=True)
    return statistics.median(processor), statistics.median(clock)


def _line(pair: Pair) -> str:
    if pair.ratio is None:
        return f"{pair.title}: {pair.clock[1]:.2f} s; the other commit cannot run it"
    slower = "  SLOWER" if pair.is_slower else ""
    times = f"{pair.clock[0]:.2f} s before, {pair.clock[1]:.2f} s now, ratio {pair.ratio:.2f}"
    return f"{pair.title}: {times} (processor {pair.processor[0]:.2f}, {pair.processor[1]:.2f} s){slower}"
