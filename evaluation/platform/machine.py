"""The processors and the memory that this process may use."""

import contextlib
import importlib
import os
import sys
from pathlib import Path
from typing import Any

from evaluation.core.trouble import MEMORY, MachineTrouble

MIN_MEMORY_MB = 160
"""Least memory for an evaluation to start; with less, some libraries wait forever."""

_MEBIBYTE = 1 << 20
# Python itself ends with less than 80 kB or so, before it could tell anything, its libraries with some more.
_MIN_STACK = 512 << 10
_RESERVE = 768 * _MEBIBYTE
_MIN_SHARE_BYTES = 512 * _MEBIBYTE
_MAX_HELD_BYTES = 256 * _MEBIBYTE
CONTROL_GROUPS = Path("/sys/fs/cgroup")
"""Where Linux tells what the container may use."""
_MEMORY_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")
_PROCESSORS = "cpu.max"


CAN_ISOLATE = sys.platform == "linux"
"""Whether this system can run cases in workers that are limited in memory and end with their parent."""
# Windows has no such module.
resource: Any = importlib.import_module("resource") if CAN_ISOLATE else None
NO_ISOLATION = (
    f"Note: on this system ({sys.platform}) cases are run one by one in this process, without limits of time "
    "and memory. On Linux they are run in worker processes, so that a file that crashes its reader is named."
)


def worker_count(wanted: int | None = None, control_groups: Path = CONTROL_GROUPS) -> int:
    """Return the number of workers: ``wanted``, by default one per processor that this process may use.

    0 if workers cannot be isolated; all cases then run in this process.
    """
    if not CAN_ISOLATE:
        return 0
    if wanted is not None:
        return wanted
    count = len(os.sched_getaffinity(0))
    with contextlib.suppress(OSError, ValueError):
        quota, period = (control_groups / _PROCESSORS).read_text(encoding="ascii").split()
        count = min(count, max(1, int(quota) // int(period)))
    return count


def require_memory(control_groups: Path = CONTROL_GROUPS) -> None:
    """Raise `MachineTrouble` if this process may use too little memory or stack to start workers."""
    if not CAN_ISOLATE:
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    granted = _granted_memory(control_groups)
    if soft != resource.RLIM_INFINITY:
        granted = min(soft, granted)
    stack, _ = resource.getrlimit(resource.RLIMIT_STACK)
    if granted < MIN_MEMORY_MB * _MEBIBYTE:
        sizes = f"at least {MIN_MEMORY_MB} MB are needed, {granted // _MEBIBYTE} MB granted"
        short = f"{MEMORY}: {sizes} (RLIMIT_DATA, container, machine)"
    elif stack != resource.RLIM_INFINITY and stack < _MIN_STACK:
        short = f"stack: at least {_MIN_STACK >> 10} kB are needed, {stack >> 10} kB granted (RLIMIT_STACK)"
    else:
        return
    raise MachineTrouble("start", "an evaluation", short)


def worker_memory(workers: int, wanted_mb: int | None, control_groups: Path = CONTROL_GROUPS) -> int | None:
    """Return the memory limit of a worker in bytes: the phase's, else an even share of the granted memory.

    None without workers, since the limit would apply to this process.
    """
    if workers == 0:
        return None
    if wanted_mb is not None:
        return wanted_mb * _MEBIBYTE
    return max(_MIN_SHARE_BYTES, (_granted_memory(control_groups) - _RESERVE) // workers)


def held_memory() -> int:
    """Return how many bytes of values may be kept until they are scored."""
    return min(_MAX_HELD_BYTES, _granted_memory() // 8) if CAN_ISOLATE else _MAX_HELD_BYTES


def limit_for_good(limit: int, most: int) -> int:
    """Lower a limit of this process (``RLIMIT_…``), which cannot raise it again, and return what it is."""
    limits: tuple[int, int] = resource.getrlimit(limit)
    granted = min(most, *(each for each in limits if each != resource.RLIM_INFINITY), most)
    resource.setrlimit(limit, (granted, granted))
    return granted


def _granted_memory(control_groups: Path = CONTROL_GROUPS) -> int:
    granted = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        granted.append(hard)
    for name in _MEMORY_LIMITS:
        with contextlib.suppress(OSError, ValueError):
            granted.append(int((control_groups / name).read_text(encoding="ascii")))
    return min(granted)
