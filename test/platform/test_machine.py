import os
import resource

import pytest

from evaluation.core.trouble import MachineTrouble
from evaluation.platform import machine

MIB = 1 << 20


@pytest.fixture
def granted(monkeypatch, tmp_path):
    """Return a function that sets what the machine grants, and returns where it tells a container's share."""

    def grant(*, physical, hard=resource.RLIM_INFINITY, cgroup="max", processors=2, quota="max 100000"):
        pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": physical // 4096}
        monkeypatch.setattr(os, "sysconf", pages.__getitem__)
        monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(processors)))
        monkeypatch.setattr(resource, "getrlimit", lambda kind: (hard, hard))
        (tmp_path / "memory.max").write_text(f"{cgroup}\n")
        (tmp_path / "cpu.max").write_text(f"{quota}\n")
        return tmp_path

    return grant


@pytest.mark.parametrize(
    ("processors", "quota", "workers"),
    [
        (2, "max 100000", 2),
        (8, "200000 100000", 2),
        (8, "150000 100000", 1),
        (1, "400000 100000", 1),
        (4, "nonsense", 4),
    ],
)
def test_one_worker_a_processor(granted, processors, quota, workers):
    told = granted(physical=8192 * MIB, processors=processors, quota=quota)
    assert machine.worker_count(control_groups=told) == workers


@pytest.mark.parametrize(
    ("limits", "found"),
    [
        ({"physical": 8192 * MIB, "hard": 159 * MIB}, 159),
        ({"physical": 8192 * MIB, "cgroup": 100 * MIB}, 100),
        ({"physical": 64 * MIB}, 64),
        ({"physical": 8192 * MIB, "hard": 160 * MIB}, None),
    ],
)
def test_too_little_memory_to_start(granted, limits, found):
    told = granted(**limits)
    if found is None:
        machine.require_memory(told)
        return
    with pytest.raises(MachineTrouble) as raised:
        machine.require_memory(told)
    assert f"short of memory: at least 160 MB are needed, {found} MB granted" in str(raised.value)


@pytest.mark.parametrize(
    ("limits", "workers", "share"),
    [
        ({"physical": 8192 * MIB}, 2, 3712),
        # The platform's default machine: 7168 MB.
        ({"physical": 64 << 30, "cgroup": 7168 * MIB}, 2, 3200),
        ({"physical": 64 << 30, "hard": 9000 * MIB, "cgroup": 7168 * MIB}, 4, 1600),
        # Never less than what a worker needs to start.
        ({"physical": 1024 * MIB}, 4, 512),
    ],
)
def test_memory_is_shared_evenly(granted, limits, workers, share):
    told = granted(**limits)
    assert machine.worker_memory(workers, None, told) == share * MIB


def test_without_control_groups(granted, tmp_path):
    granted(physical=8192 * MIB, processors=3)
    assert machine.worker_memory(2, 300) == 300 * MIB
    assert machine.worker_memory(0, 300) is None
    assert machine.worker_memory(0, None) is None
    assert machine.worker_count(control_groups=tmp_path / "none") == 3
    assert machine.worker_memory(1, None, tmp_path / "none") == (8192 - 768) * MIB
