"""The results of this room: a figure with its two intervals, and the difference of two figures."""

from dataclasses import dataclass, replace
from typing import Literal

IntervalMethod = Literal[
    "BCa",
    "Wilson",
    "logit-DeLong",
    "Fisher",
    "order-statistics",
    "Wilson-bootstrap",
    "percentile",
    "Gaffke",
    "Clopper-Pearson",
    "MOVER",
    "calibration-band",
]
"""How an interval is computed, see docs/intervals.md."""

IntervalChoice = Literal["field", "any_distribution"]
"""Which interval comes first: that of the field, or the one with unseen failures."""

LEVEL = 0.95
SIGNIFICANT = 1 - LEVEL


@dataclass(frozen=True, slots=True)
class Interval:
    """The ends of a confidence interval, in the unit of its figure."""

    lower: float
    upper: float

    @property
    def half_width(self) -> float:
        """Half of the interval's length; the interval need not be symmetric about the value."""
        return (self.upper - self.lower) / 2


@dataclass(frozen=True)
class Figure:
    """A figure with its confidence interval.

    ``lower``, ``upper`` and ``method`` are None without an interval, and ``reason`` says why there is none.
    ``n``: the independent units behind it, cases or clusters of them. ``with_unseen_failures``: the same
    figure with the bounds that allow for one unseen unit at the worst value.
    """

    value: float
    lower: float | None = None
    upper: float | None = None
    method: IntervalMethod | None = None
    n: int | None = None
    reason: str | None = None
    with_unseen_failures: "Figure | None" = None

    @classmethod
    def of(cls, value: float, interval: Interval, method: IntervalMethod, n: int | None = None) -> "Figure":
        """Return a figure with an interval."""
        return cls(value, interval.lower, interval.upper, method, n)

    @property
    def interval(self) -> Interval | None:
        """The ends of the interval."""
        return None if self.lower is None or self.upper is None else Interval(self.lower, self.upper)


@dataclass(frozen=True)
class Difference:
    """The difference of two figures, first minus second, on the same cases.

    Interval and p are of one procedure: 0 lies outside exactly where ``p_value`` is below 5 %. ``null``: what
    the test rejects. ``estimate``: what the interval is about, where that is not the difference of the
    figures, such as the shift of a rank test; ``direction`` is its sign.
    ``standard_error`` and ``degrees_of_freedom`` are of Student's t.
    ``with_unseen_failures``: the same with bounds that allow for one unseen unit at the worst value.
    ``first``, ``second``: the figures, where known; ``detectable``: the difference that the test finds with
    80 % power, None where none within the range of the figure can be found so.
    """

    value: float
    lower: float | None = None
    upper: float | None = None
    p_value: float | None = None
    method: str = ""
    n: int | None = None
    reason: str | None = None
    null: str = ""
    estimate: float | None = None
    standard_error: float | None = None
    degrees_of_freedom: float | None = None
    with_unseen_failures: "Difference | None" = None
    first: Figure | None = None
    second: Figure | None = None
    detectable: float | None = None

    @property
    def direction(self) -> int:
        """1 where the first is larger by what is tested, −1 where the second is, 0 where they are equal."""
        tested = self.value if self.estimate is None else self.estimate
        return (tested > 0) - (tested < 0)

    def reversed(self) -> "Difference":
        """Return second minus first."""
        return replace(
            self,
            value=-self.value,
            lower=None if self.upper is None else -self.upper,
            upper=None if self.lower is None else -self.lower,
            estimate=None if self.estimate is None else -self.estimate,
            with_unseen_failures=self.with_unseen_failures and self.with_unseen_failures.reversed(),
        )

    @property
    def interval(self) -> Interval | None:
        """The ends of the interval."""
        return None if self.lower is None or self.upper is None else Interval(self.lower, self.upper)

    @property
    def significant(self) -> bool | None:
        """Whether 0 is excluded; None without a test."""
        return None if self.p_value is None else self.p_value < SIGNIFICANT
