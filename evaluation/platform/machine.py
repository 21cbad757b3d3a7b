"""What the machine grants: processors and memory."""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

from evaluation.core.fault import PhaseError

MIN_MEMORY_MB = 160
"""Memory without which no evaluation starts: below, libraries wait for ever for what they cannot get."""

_MEBIBYTE = 1 << 20
_RESERVE = 768 * _MEBIBYTE
_MIN_SHARE_BYTES = 512 * _MEBIBYTE
_MAX_HELD_BYTES = 256 * _MEBIBYTE
_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_CGROUP_PROCESSORS = "/sys/fs/cgroup/cpu.max"


def worker_count() -> int:
    """Return how many workers to run: one a processor that this process may use."""
    count = len(os.sched_getaffinity(0))
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path(_CGROUP_PROCESSORS).read_text(encoding="ascii").split()
        count = min(count, max(1, int(quota) // int(period)))
    return count


def require_memory() -> None:
    """Raise `PhaseError` where this process is granted too little memory to start anything."""
    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    granted = _granted_memory() if soft == resource.RLIM_INFINITY else min(soft, _granted_memory())
    if granted < MIN_MEMORY_MB * _MEBIBYTE:
        raise PhaseError(
            f"too little memory: expected at least {MIN_MEMORY_MB} MB, found {granted // _MEBIBYTE} MB "
            "(RLIMIT_DATA, or the memory of the container or machine)"
        )


def worker_memory(workers: int, wanted_mb: int | None) -> int | None:
    """Return the bytes that one worker may use: what the phase says, else an even share of what is granted.

    None for no workers, whose limit would be this process's own.
    """
    if workers == 0:
        return None
    if wanted_mb is not None:
        return wanted_mb * _MEBIBYTE
    return max(_MIN_SHARE_BYTES, (_granted_memory() - _RESERVE) // workers)


def held_memory() -> int:
    """Return how many bytes of what was read may be kept until it is scored."""
    return min(_MAX_HELD_BYTES, _granted_memory() // 8)


def _granted_memory() -> int:
    granted = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        granted.append(hard)
    for path in _CGROUP_LIMITS:
        with contextlib.suppress(OSError, ValueError):
            granted.append(int(Path(path).read_text(encoding="ascii")))
    return min(granted)
