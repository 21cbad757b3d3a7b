"""The platform's leaderboard: other teams' results, the metrics shown, and their digits."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from evaluation.core.aggregation import ConfidenceInterval, Estimate, Estimates
from evaluation.core.challenge import Challenge, Task, metrics_of
from evaluation.core.fault import PhaseError, printable
from evaluation.phase.cases import TableRow, organiser_table
from evaluation.phase.config import PhaseConfig

FILE_NAME = "leaderboard.csv"
TEAM, ELIGIBLE = "team", "eligible"
_YES, _NO = ("", "yes", "true", "1"), ("no", "false", "0")


@dataclass(frozen=True)
class TeamValues:
    """A team's values by metric ("task.metric"), without missing ones; only eligible teams are ranked."""

    team: str
    values: Mapping[str, float]
    eligible: bool = True


def read_leaderboard(path: Path, metrics: Collection[str]) -> tuple[TeamValues, ...]:
    """Return the rows of a leaderboard in their order.

    Columns: ``team``, metrics ("task.metric") and composites (an empty cell: the team lacks it), optionally
    ``eligible`` (yes or no). Other columns whose name has a space or no dot are remarks. Raises `PhaseError`
    listing every fault; a metric that is not in ``metrics`` is one.
    """
    with organiser_table(path, ()) as table:
        of_metrics = [column for column in table.columns if "." in column and " " not in column]
        named = [column for column in table.columns if column in metrics or column in of_metrics]
        table.faults.extend(
            f"{table.file}: column {column!r} is not a metric of this phase; known are {', '.join(metrics)}"
            for column in named
            if column not in metrics
        )
        if TEAM not in table.columns or not named:
            expected = f"the column {TEAM!r} and one for each metric"
            raise PhaseError(f"{table.file}: expected {expected}, found {', '.join(table.columns)}")
        teams = []
        for row in table.rows:
            values = {column: row.number(column) for column in named}
            existing = {column: value for column, value in values.items() if not math.isnan(value)}
            if not row.cells[TEAM]:
                row.faults.append(f"{row.place}: expected the name of a team, found nothing")
            teams.append(TeamValues(row.cells[TEAM], existing, is_yes(row, ELIGIBLE)))
        table.faults.extend(
            f"{table.file}: duplicate team {team!r} ({count} rows)"
            for team, count in Counter(row.team for row in teams).items()
            if count > 1 and team
        )
    return tuple(teams)


def is_yes(row: TableRow, column: str) -> bool:
    """Return the value of a column; empty or absent means yes, anything but yes or no is a fault."""
    cell = row.cells.get(column, "")
    answer = cell.casefold()
    if answer not in (*_YES, *_NO):
        row.fault(column, f"expected yes or no, found {printable(cell)!r}")
    return answer not in _NO


# --- The metrics of a phase that the platform's leaderboard shows and ranks by ---


@dataclass(frozen=True)
class PlatformBoard:
    """The platform's leaderboard of some tasks, by `phase.toml` or by default; metrics are "task.metric"."""

    config: PhaseConfig
    challenge: Challenge
    tasks: Sequence[Task]

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The metrics and composites that the leaderboard ranks, the score first.

        By default these are the challenge's score and the components of its ranking in the compulsory tasks,
        or in the first task where all are optional.
        """
        compulsory = [task for task in self.tasks if not task.optional] or self.tasks[:1]
        known = self.challenge.figures_of(compulsory)
        components = [name for name in self.challenge.components if name in known]
        if not components:
            components = [f"{task.name}.{task.metrics[0].name}" for task in compulsory]
        default = self.challenge.score if self.challenge.score in known else components[0]
        return tuple(dict.fromkeys((self.config.platform.score or default, *self._columns(components))))

    @cached_property
    def unranked(self) -> tuple[str, ...]:
        """The metrics and composites that the leaderboard shows without ranking by them.

        By default these are the composites, and the components of the challenge's ranking in optional tasks.
        """
        shown = self.config.platform.unranked_columns
        if shown is None:
            shown = tuple(composite.name for composite in self.challenge.composites_of(self.tasks))
            optional = metrics_of(task for task in self.tasks if task.optional)
            shown += tuple(name for name in self.challenge.components if name in optional)
        return tuple(name for name in shown if name not in self.ranked)

    @cached_property
    def needed(self) -> set[str]:
        """The metrics without which the leaderboard drops a submission, also the parts of composites."""
        return set(self.challenge.parts_of(self.ranked))

    @cached_property
    def optional_tasks(self) -> tuple[str, ...]:
        """The tasks that a submission may leave out.

        By default, a task is optional if the challenge says so, the phase has another one, and it names none
        of the task's metrics as score or ranked column: the platform drops a submission without them.
        """
        if (named := self.config.optional_tasks) is not None:
            return tuple(task.name for task in self.tasks if named == "all" or task.name in named)
        if len(self.tasks) == 1:
            return ()
        ranked = filter(None, (self.config.platform.score, *self._columns(())))
        needed = {name.partition(".")[0] for name in self.challenge.parts_of(ranked)}
        return tuple(task.name for task in self.tasks if task.optional and task.name not in needed)

    def _columns(self, default: Sequence[str]) -> list[str]:
        """Return the ranked columns of `phase.toml`, or the default, without those that have no rank."""
        platform = self.config.platform
        columns = default if platform.columns is None else platform.columns
        return [name for name in columns if name not in (platform.unranked_columns or ())]


# --- The number of decimals of each published figure ---


@dataclass(frozen=True)
class Digits:
    """The numbers of decimals of a metric's value, and of its intervals and its spread over the cases."""

    value: int
    spread: int


def digits_of(config: PhaseConfig, name: str) -> Digits:
    """Return the decimals of a metric ("task.metric") or composite."""
    value = config.digits.get(name, config.value_digits)
    return Digits(value, min(config.spread_digits, value))


ALL_OTHERS = "*"


def stated_digits(config: PhaseConfig) -> dict[str, int]:
    """Return the decimals of values that `phase.toml` states, by metric, `ALL_OTHERS` for those not named."""
    others = {ALL_OTHERS: config.value_digits} if "value_digits" in config.model_fields_set else {}
    return others | config.digits


def detail_of(config: PhaseConfig, name: str) -> Literal["none", "value", "standard", "full"]:
    """Return how much is published of a metric ("task.metric")."""
    chosen = [detail for pattern, detail in config.metric_detail.items() if fnmatchcase(name, pattern)]
    return min(chosen, default=config.public_detail)  # "none" is before "value"


def rounded_estimates(estimates: Estimates, config: PhaseConfig) -> Estimates:
    """Return the figures of all tasks with the digits of published ones."""
    return {
        task: {
            name: _rounded_estimate(figures, digits_of(config, f"{task}.{name}"))
            for name, figures in metrics.items()
        }
        for task, metrics in estimates.items()
    }


def public_estimates(estimates: Estimates, config: PhaseConfig) -> Estimates:
    """Return the figures of all tasks that are published, rounded."""
    return {
        task: {
            name: Estimate(figures.value) if detail == "value" else figures
            for name, figures in metrics.items()
            if (detail := detail_of(config, f"{task}.{name}")) != "none"
        }
        for task, metrics in rounded_estimates(estimates, config).items()
    }


def public_composites(
    composites: Mapping[str, Estimate], challenge: Challenge, config: PhaseConfig
) -> dict[str, Estimate]:
    """Return the composites that are published, rounded; an interval only if those of all metrics are."""
    parts = {one.name: one.metrics for one in challenge.composites}
    details = {name: {detail_of(config, one) for one in (name, *parts[name])} for name in composites}
    return {
        name: _rounded_estimate(
            estimate if details[name] <= {"standard", "full"} else Estimate(estimate.value),
            digits_of(config, name),
        )
        for name, estimate in composites.items()
        if detail_of(config, name) != "none"
    }


def public_values(values: dict[str, float], task: str, config: PhaseConfig) -> dict[str, float]:
    """Return the published values of a task's metrics in a subgroup, by name, rounded."""
    return {
        name: round(value, digits_of(config, f"{task}.{name}").value)
        for name, value in values.items()
        if detail_of(config, f"{task}.{name}") in ("standard", "full")
    }


def _rounded_estimate(estimate: Estimate, digits: Digits) -> Estimate:
    spread = {
        name: _rounded(figure, digits.spread) for name, figure in vars(estimate).items() if name != "value"
    }
    return replace(estimate, value=round(estimate.value, digits.value), **spread)


def _rounded(figure: Any, digits: int) -> Any:
    """Return a number, an interval or several by name, rounded to ``digits`` decimals.

    An interval is rounded outwards, so that it contains its value.
    """
    if isinstance(figure, float):
        return round(figure, digits)
    if isinstance(figure, dict):
        return {name: _rounded(item, digits) for name, item in figure.items()}
    if isinstance(figure, ConfidenceInterval):
        lower, upper = rounded_outwards(figure.lower, figure.upper, digits)
        # Half of the published length: the exact one would reveal more digits of both ends.
        return replace(figure, lower=lower, upper=upper, half_width=round((upper - lower) / 2, digits))
    return figure


def rounded_outwards(lower: float, upper: float, digits: int) -> tuple[float, float]:
    """Return the ends of an interval with so many decimals, none of them further inside than before."""
    # Adding 0 makes −0 a 0.
    return 0.0 - _rounded_up(-lower, digits), _rounded_up(upper, digits) + 0.0


def _rounded_up(value: float, digits: int) -> float:
    # The error of a binary fraction is no reason for another step.
    rounded: float = math.ceil(round(value * 10**digits, 6)) / 10**digits
    return rounded
