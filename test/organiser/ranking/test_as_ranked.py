"""Composites in resampled rankings, by hand."""

import numpy as np

from evaluation.core.challenge import Composite
from evaluation.organiser.ranking.resampling import as_ranked

SUM = Composite("sum", "Sum", ("t.a", "t.b"), lambda a, b: a + b, best=0, worst=2)


def test_composites_are_made_of_exact_values_and_rounded_once():
    # Two teams with the sum 0.3. As floats 0.1 + 0.2 is larger than 0.3, and the tie would be lost.
    found = as_ranked({"t.a": np.array([[0.1, 0.3]]), "t.b": np.array([[0.2, 0.0]])}, [SUM])
    assert found["sum"].tolist() == [[0.3, 0.3]]
    # Rounded to twelve digits first, what the parts have beyond 1 and 0.2 would be lost: 1.2.
    part = 4.6e-12
    found = as_ranked({"t.a": np.array([[1 + part]]), "t.b": np.array([[0.2 + 4.9e-13 + part]])}, [SUM])
    assert found["sum"].tolist() == [[1.20000000001]]
    assert found["t.a"].tolist() == [[1.0]]
