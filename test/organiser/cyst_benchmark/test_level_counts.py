"""Voxels of every level, and the warning of a lost one."""

import numpy as np

from evaluation.organiser.cyst_benchmark.combination import LevelCounts


def test_by_hand():
    counts = LevelCounts()
    first, second = np.array([[1, 2, 2, 0]]), np.array([[1, 4, 0, 0]])
    counts.add(np.array([[1, 3, 1, 0]]), {"a": first, "b": second})
    counts.add(np.array([[5, 5]]), {"a": np.array([[5, 5]])})
    assert counts.combined == {1: 2, 3: 1, 5: 2}
    assert counts.annotators["a"] == {1: 1, 2: 2, 5: 2}
    lost = counts.warnings()
    assert [line.split(":")[0] for line in lost] == ["level 2 is lost", "level 4 is lost"]
    assert "2 voxels" in lost[0]
    assert "1 voxels" in lost[1]
