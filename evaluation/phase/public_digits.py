"""How many decimals of each figure the public sees."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from evaluation.core.aggregation import ConfidenceInterval, Estimate, Estimates
from evaluation.phase.config import PhaseConfig


@dataclass(frozen=True)
class Digits:
    """The decimals of a metric's values, and those of its intervals and of its spread over the cases."""

    value: int
    spread: int


def digits_of(config: PhaseConfig, name: str) -> Digits:
    """Return the decimals of a metric ("task.metric") or composite."""
    value = config.digits.get(name, config.value_digits)
    return Digits(value, min(config.spread_digits, value))


def rounded_estimates(estimates: Estimates, config: PhaseConfig) -> Estimates:
    """Return the figures of all tasks as the public sees them."""
    return {
        task: {
            name: _rounded_estimate(figures, digits_of(config, f"{task}.{name}"))
            for name, figures in metrics.items()
        }
        for task, metrics in estimates.items()
    }


def rounded_values(values: dict[str, float], task: str, config: PhaseConfig) -> dict[str, float]:
    """Return values of a task's metrics, by name, as the public sees them."""
    return {name: round(value, digits_of(config, f"{task}.{name}").value) for name, value in values.items()}


def _rounded_estimate(estimate: Estimate, digits: Digits) -> Estimate:
    spread = {
        name: _rounded(figure, digits.spread) for name, figure in vars(estimate).items() if name != "value"
    }
    return replace(estimate, value=round(estimate.value, digits.value), **spread)


def _rounded(figure: Any, digits: int) -> Any:
    """Return a number, an interval or several by name with so many decimals.

    An interval is rounded outwards, so that it never leaves its value out.
    """
    if isinstance(figure, float):
        return round(figure, digits)
    if isinstance(figure, dict):
        return {name: _rounded(item, digits) for name, item in figure.items()}
    if isinstance(figure, ConfidenceInterval):
        lower, upper = -_rounded_up(-figure.lower, digits), _rounded_up(figure.upper, digits)
        # Of the published ends: that of the exact ones would tell more of both.
        return replace(figure, lower=lower, upper=upper, half_width=round((upper - lower) / 2, digits))
    return figure


def _rounded_up(value: float, digits: int) -> float:
    # What a binary fraction lacks or has too much of a decimal one is no reason to step on.
    rounded: float = math.ceil(round(value * 10**digits, 6)) / 10**digits
    return rounded
