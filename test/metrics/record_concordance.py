"""Print lifelines' results for the data of test_survival.py (``python -m`` this module).

lifelines is no dependency of the tests, since its releases need older packages than ours. Recorded with
lifelines 0.30.3.
"""

import numpy as np


def survival_data(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return predicted times, observed times and events of 60 cases, many of them tied."""
    generator = np.random.default_rng(seed)
    time = generator.integers(1, 25, 60).astype(float)
    predicted = np.round(time + generator.normal(0, 8, 60))
    return predicted, time, generator.integers(0, 2, 60).astype(float)


if __name__ == "__main__":
    from lifelines.utils import concordance_index

    for seed in range(3):
        predicted, time, event = survival_data(seed)
        print(repr(float(concordance_index(time, predicted, event))))  # noqa: T201
