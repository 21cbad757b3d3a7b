"""Further analyses of challenges, of submitted values and references together. For organisers only.

They cost `evaluate` nothing, and nothing of them enters `metrics.json`. A module has the name of its
challenge and holds ``ANALYSES``.
"""

import tomllib
from collections.abc import Mapping
from importlib import resources
from math import inf
from typing import Any

from evaluation.core.estimator import Mean
from evaluation.core.metric import Metric


def texts_of(challenge: str) -> Mapping[str, Any]:
    """Return the texts of the analyses of a challenge, by name."""
    file = resources.files(__package__) / "templates" / f"{challenge}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def plain_mean(name: str, title: str, low: float = -inf, high: float = inf) -> Metric:
    """Return the mean of a column with values from ``low`` to ``high``.

    Unlike that of a metric, its interval allows for no failed case: an analysis leaves these out.
    """
    return Metric(name, title, Mean(name), low, high, ordered=False)
