"""Runs one evaluation and prints which stage takes how much of it, in wall-clock time.

    python -m benchmarks.stages evaluate --input … --ground-truth … --output …

Start: until the phase is loaded and reading begins. Read: the first stage. Score: the second one. Intervals:
all figures with their resampling.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

from evaluation.cli import main as command_line

_STAGES = {
    "read": ("evaluation.evaluate", "read_submission"),
    "score": ("evaluation.evaluate", "score_cases"),
    "intervals": ("evaluation.summary", "figures_of"),
}


def main() -> None:
    """Run the command line with a clock about each stage."""
    started = time.perf_counter()
    seconds: dict[str, float] = {}
    begun: list[float] = []
    for stage, (module_name, name) in _STAGES.items():
        module = importlib.import_module(module_name)
        setattr(module, name, _clocked(getattr(module, name), stage, seconds, begun))
    status = command_line.main(sys.argv[1:])
    whole = time.perf_counter() - started
    seconds = {"start": begun[0] - started, **seconds}
    seconds["rest"] = whole - sum(seconds.values())
    shares = ", ".join(f"{stage} {100 * taken / whole:.0f} %" for stage, taken in seconds.items())
    sys.stderr.write(f"of one run of {whole:.2f} s: {shares}\n")
    sys.exit(status)


def _clocked(
    function: Callable[..., Any], stage: str, seconds: dict[str, float], begun: list[float]
) -> Callable[..., Any]:
    def clocked(*arguments: Any, **named: Any) -> Any:
        started = time.perf_counter()
        begun.append(started)
        try:
            return function(*arguments, **named)
        finally:
            seconds[stage] = time.perf_counter() - started

    return clocked


if __name__ == "__main__":
    main()
