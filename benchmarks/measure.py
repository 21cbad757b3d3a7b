"""Times whole processes in turn, A B A B …, and reports medians, ratios and peak memory."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """Medians of a command's runs: seconds from start to end, and the largest process's peak memory in MB."""

    seconds: float
    peak_megabytes: float


def measure(commands: Mapping[str, list[str]], runs: int) -> dict[str, Measurement]:
    """Return the measurement of every command, run in turn after one warm-up round."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    memory: dict[str, list[float]] = {name: [] for name in commands}
    for round_number in range(runs + 1):
        for name, command in commands.items():
            taken, peak = _run(command)
            if round_number:
                seconds[name].append(taken)
                memory[name].append(peak)
    return {
        name: Measurement(statistics.median(seconds[name]), statistics.median(memory[name]))
        for name in commands
    }


def report(measured: Mapping[str, Measurement], ours: str) -> None:
    """Print a table: seconds, and the ratio of our time to each."""
    print(f"{'':<44} {'seconds':>8} {'ours / it':>10} {'peak MB':>8}")
    for name, of_command in measured.items():
        ratio = measured[ours].seconds / of_command.seconds
        print(f"{name:<44} {of_command.seconds:>8.2f} {ratio:>10.2f} {of_command.peak_megabytes:>8.0f}")


def _run(command: list[str]) -> tuple[float, float]:
    """Run a command; return its seconds and the peak memory of its largest process in MB."""
    started = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ, file_actions=_SILENT)
    _, status, usage = os.wait4(process, 0)
    taken = time.perf_counter() - started
    if status:
        sys.exit(f"{' '.join(command)} failed")
    return taken, usage.ru_maxrss / 1024


_SILENT = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
