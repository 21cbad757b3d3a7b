import numpy as np
import pytest

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.form import RunTime
from evaluation.phase.registry import RUN_SECONDS, run_time_task


def values_of(run_time: RunTime, seconds: list[float]) -> dict[str, float]:
    task = run_time_task(run_time)
    rows = [task.score({RUN_SECONDS: value}, {}) for value in seconds]
    cases = WeightedCases(
        CaseTable([str(number) for number in range(len(rows))], rows), np.ones((1, len(rows)))
    )
    return {metric.name: float(metric.estimator.values(cases)[0]) for metric in task.metrics}


def test_the_mean_share_and_penalty_by_hand():
    # Beyond 10 s: 30 s, and 100 s, which counts as the limit of 50 s. Penalties 0, 0.2 and 0.4.
    found = values_of(RunTime(50, 10, 0.01), [10, 30, 100])
    assert found == pytest.approx({"seconds": 30, "slow": 2 / 3, "penalty": 0.2})
    assert values_of(RunTime(50, None, 0), [10, 20]) == {"seconds": 15}
