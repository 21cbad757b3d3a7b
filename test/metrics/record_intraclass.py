"""Print pingouin's results for the data of test_regression.py (``python -m`` this module).

pingouin is no dependency of the tests, since they need only one figure of it. Recorded with pingouin 0.7.0,
in which ICC(2,1) is called ICC(A,1).
"""

import numpy as np


def rated_pairs(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return predicted and true values of 25 cases."""
    generator = np.random.default_rng(seed)
    true = generator.normal(50, 10, 25).round(1)
    return (true + generator.normal(3 * seed, 8, 25)).round(1), true


if __name__ == "__main__":
    import pandas as pd
    import pingouin

    for seed in range(3):
        values = np.concatenate(rated_pairs(seed))
        frame = pd.DataFrame(
            {"case": np.tile(np.arange(25), 2), "rater": np.repeat(["a", "b"], 25), "value": values}
        )
        table = pingouin.intraclass_corr(frame, targets="case", raters="rater", ratings="value")
        print(repr(float(table.set_index("Type").loc["ICC(A,1)", "ICC"])))  # noqa: T201
