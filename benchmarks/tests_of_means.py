"""How often tests of two means at 5 % reject equal means where one team alone fails rarely.

    python -m benchmarks.tests_of_means

Dice of two teams on the same cases: both vary with the case and by themselves. One fails (0) in a share of
the cases and is better in the others, so that the means of the population are equal; then one is better by a
constant and none fails, which shows the power.
"""

from __future__ import annotations

import numpy as np

from evaluation.organiser.ranking.exchanges import mean_tests
from evaluation.organiser.ranking.rank_statistics import rank_sum_test, signed_rank_tests

SETS, SIZES, DRAWS = 600, (40, 100, 400), 999
DICE, SPREAD_OF_CASES, SPREAD_OF_TEAMS = 0.85, 0.04, 0.03
POPULATIONS = {
    "equal means, one fails in 1 %": (0.01, 0.0),
    "equal means, one fails in 2 %": (0.02, 0.0),
    "equal means, one fails in 5 %": (0.05, 0.0),
    "equal means, no failure": (0.0, 0.0),
    "one better by 0.02": (0.0, 0.02),
    "one better by 0.05": (0.0, 0.05),
}


def rejected(size: int, failing: float, difference: float) -> dict[str, float]:
    """Return the share of sets, in percent, in which each test rejects."""
    rng, found = np.random.default_rng(size), dict.fromkeys(("equal-means", "permutation", "signed-rank"), 0)
    found["rank-sum"] = 0
    for number in range(SETS):
        values = rng.normal(DICE, SPREAD_OF_CASES, size) + rng.normal(0, SPREAD_OF_TEAMS, (2, size))
        values[0] += difference + failing / (1 - failing) * DICE
        values = np.clip(values, 0, 1)
        values[0, rng.random(size) < failing] = 0
        pairs = [(0, 1)]
        tests = {
            "equal-means": mean_tests(values, pairs, None, number, DRAWS, span=1.0)[0],
            "permutation": mean_tests(values, pairs, None, number, DRAWS)[0],
            "signed-rank": signed_rank_tests(values, pairs)[0],
            "rank-sum": rank_sum_test(*values),
        }
        for name, test in tests.items():
            found[name] += test.p_value is not None and test.p_value < 0.05
    return {name: 100 * number / SETS for name, number in found.items()}


def main() -> None:
    """Print a table with a row for each population and test."""
    print(f"| population | test | rejected, % at {' / '.join(map(str, SIZES))} cases |\n|---|---|---|")
    for population, (failing, difference) in POPULATIONS.items():
        of_sizes = [rejected(size, failing, difference) for size in SIZES]
        for name in of_sizes[0]:
            print(f"| {population} | {name} | {' / '.join(f'{one[name]:.1f}' for one in of_sizes)} |")


if __name__ == "__main__":
    main()
