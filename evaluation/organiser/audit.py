"""The hidden labels of a phase, and how many bits of them published figures reveal to submissions.

Labels are the 0/1 labels of its metrics and the labels in its case table.

Every submission asks a question about the labels, which the published numbers answer. An answer that can take
n values gives at most log2(n) bits. So labels of k bits are not all told before t = k / log2(n) submissions:
no attack, whatever it computes, needs fewer for labels that were drawn at random. Every figure counts that is
computed from the references of the label, also of other tasks.

Nothing else in `metrics.json` tells more: values of composites, ranks and places are computed from published
values, half-widths from published ends, and the numbers of cases do not depend on labels.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from evaluation.charts.published import CURVE_NUMBERS, has_curve
from evaluation.core.aggregation import ConfidenceInterval, Estimate
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Composite, Task, fields_of, references_of
from evaluation.core.fault import counted
from evaluation.core.field import CaseColumns
from evaluation.core.metric import Metric
from evaluation.evaluate import scores_of_nothing
from evaluation.io.tables import is_number, parse_number
from evaluation.phase.cases import group_labels, key_of, subgroup_masks
from evaluation.phase.config import FILE_NAME, PhaseConfig, Subgroup, Submissions
from evaluation.phase.leaderboard import Digits, detail_of, digits_of, public_composites, public_estimates
from evaluation.phase.phase import Phase
from evaluation.phase.scores import Scores
from evaluation.platform.result_file import SIGNIFICANT_DIGITS
from evaluation.summary import figures_of, public_subgroups

_MAX_CLASSES = 10


@dataclass(frozen=True)
class Labels:
    """A hidden label: class by name of the case; empty where the case does not enter.

    ``names``: all columns that divide the cases equally, the label's own first. ``tasks`` are the ones whose
    figures are computed from a reference that the label is part of. ``accepted``: the phase accepts that its
    results may tell it.
    """

    names: tuple[str, ...]
    classes: Mapping[str, str]
    tasks: tuple[str, ...] = ()
    accepted: bool = False

    @property
    def name(self) -> str:
        """The label's own name."""
        return self.names[0]

    @property
    def counts(self) -> dict[str, int]:
        """How many cases are of each class, which is assumed known."""
        return dict(Counter(self.classes.values()))

    @property
    def bits(self) -> float:
        """The logarithm of the number of ways to assign these labels to the cases."""
        return bits_of_counts(tuple(self.counts.values()))

    @property
    def members(self) -> dict[str, set[str]]:
        """The names of the cases of each class."""
        members: dict[str, set[str]] = {}
        for name, value in self.classes.items():
            members.setdefault(value, set()).add(name)
        return members


def bits_of_counts(counts: Sequence[int]) -> float:
    """Return the logarithm of the number of ways to assign labels of known numbers to the cases."""
    ways = math.lgamma(sum(counts) + 1) - sum(math.lgamma(count + 1) for count in counts)
    return ways / math.log(2)


def hidden_labels(phase: Phase, tables: Mapping[str, CaseTable], parts: bool = False) -> tuple[Labels, ...]:
    """Return the labels of a phase, one of each that divide the cases equally.

    Labels of metrics ("task.column") come first, then columns of the case table. Numbers with more than ten
    values are cut at their quartiles. Labels that are the same for all cases are left out. With ``parts``
    come the cases that enter a metric, as those with a structure, unless they follow from another label, and
    columns that the challenge derives take the place of the ones that they are derived from.
    """
    found: dict[frozenset[frozenset[str]], Labels] = {}
    for labels in _parts(phase, tables) if parts else _all_labels(phase, tables, label_columns(phase)):
        if len(labels.counts) > 1:
            partition = frozenset(map(frozenset, labels.members.values()))
            same = found.get(partition, replace(labels, names=()))
            found[partition] = replace(same, names=(*same.names, *labels.names))
    return tuple(found.values())


def label_columns(phase: Phase) -> tuple[str, ...]:
    """Return the columns of the case table that hold references, without those that participants know."""
    locations = (field.reference.location for field in references_of(phase.tasks))
    in_table = (location for location in locations if isinstance(location, CaseColumns))
    columns = dict.fromkeys(column for location in in_table for column in location.columns)
    known = {"width", "height"}.union(*(case.columns for case in phase.cases.forms))
    return tuple(column for column in columns if column not in known)


def _parts(phase: Phase, tables: Mapping[str, CaseTable]) -> Iterator[Labels]:
    names = [case.name for case in phase.cases.forms]
    derived = {
        name: column
        for name, column in phase.challenge.derived_columns(phase.options).items()
        if set(column.needs) <= set(phase.cases.columns)
    }
    replaced = {need for column in derived.values() for need in column.needs}
    found = [
        *_all_labels(phase, tables, [name for name in label_columns(phase) if name not in replaced]),
        *(
            Labels((name,), dict(zip(names, (column.cell(row.cells) for row in phase.rows), strict=True)))
            for name, column in derived.items()
        ),
    ]
    public = [
        Labels((field.name,), {case.name: str(field.cases(case)) for case in phase.cases.forms})
        for field in fields_of(phase.tasks)
    ]
    for task in phase.tasks:
        table = tables[task.name]
        for metric in task.metrics if len(table) else ():
            strata = metric.estimator.strata(table).tolist()
            enters = {name: str(int(stratum >= 0)) for name, stratum in zip(table.names, strata, strict=True)}
            labels = Labels((f"cases of {task.name}.{metric.name}",), enters)
            if not any(_follows(labels, other) for other in (*found, *public)):
                found.append(labels)
    yield from found


def _follows(labels: Labels, other: Labels) -> bool:
    """Return whether each class of the other labels lies in one class of these."""
    pairs = {(other.classes.get(name), value) for name, value in labels.classes.items()}
    return len(pairs) == len({value for value, _ in pairs})


def _all_labels(
    phase: Phase, tables: Mapping[str, CaseTable], columns_of_table: Sequence[str]
) -> Iterator[Labels]:
    for task in phase.tasks:
        table = tables[task.name]
        of_metrics = (metric.estimator.label_column for metric in task.metrics)
        columns = [column for column in dict.fromkeys(of_metrics) if column]
        for column in columns if len(table) else ():
            values = ("" if math.isnan(value) else f"{value:g}" for value in table[column].tolist())
            yield Labels((f"{task.name}.{column}",), dict(zip(table.names, values, strict=True)))
    names = [case.name for case in phase.cases.forms]
    for column in columns_of_table:
        cells = [row.cells[column] for row in phase.rows]
        yield Labels((column,), dict(zip(names, _classes(cells), strict=True)))


def _classes(cells: Sequence[str]) -> Sequence[str]:
    filled = [cell for cell in cells if cell]
    if len(set(filled)) <= _MAX_CLASSES or not all(map(is_number, filled)):
        return cells
    edges = np.quantile([parse_number(cell) for cell in filled], (0.25, 0.5, 0.75))
    return [str(np.searchsorted(edges, parse_number(cell))) if cell else "" for cell in cells]


_MUCH_OF_THE_LABEL = 0.5
_NEARLY_ALL = 0.9
_AT_MOST_HALF = 0.5


def faults_of_splits(phase: Phase, tables: Mapping[str, CaseTable]) -> list[str]:
    """Return a sentence for every public subgroup that reveals a label and is not published by name."""
    return [
        f"{FILE_NAME}: subgroups: results by {subgroup.column} would give labels away: {reason}; expected "
        f'audience = "organiser", or publish_label_subgroups = ["{subgroup.column}"]'
        for subgroup in phase.config.subgroups
        if subgroup.column not in phase.config.publish_label_subgroups
        and (reason := told_label(phase, subgroup, tables))
    ]


def told_label(phase: Phase, subgroup: Subgroup, tables: Mapping[str, CaseTable]) -> str:
    """Return the label that a public subgroup reveals, in words; empty if none.

    Two submissions reveal which cases belong to a subgroup: changing a case's result moves the mean only if
    the case is a member. Where membership determines the label, so does the mean.
    """
    if subgroup.audience != "public":
        return ""
    if subgroup.column in (*label_columns(phase), *phase.challenge.derived_columns(phase.options)):
        return "it is a label"
    keys = map(key_of, group_labels(subgroup, [row.cells[subgroup.column] for row in phase.rows]))
    groups = dict(zip((case.name for case in phase.cases.forms), keys, strict=True))
    for label in hidden_labels(phase, tables):
        share = determined_share(groups, label.classes)
        if share - share_by_chance(groups, label.classes) >= _MUCH_OF_THE_LABEL:
            return f"it tells {100 * share:.0f} % of {label.name}"
        if telling := next(telling_groups(groups, label.classes, phase.config.subgroup_minimum), ""):
            return f"nearly all cases of {telling!r} have the same {label.name}"
    return ""


def determined_share(groups: Mapping[str, str], labels: Mapping[str, str]) -> float:
    """Return how far the groups determine the labels, 0 … 1, on the cases that have both (Theil's U).

    The share of the labels' entropy that knowing the group removes; 0 where all labels are the same.
    """
    pairs = [(groups[name], value) for name, value in labels.items() if name in groups]
    whole = _entropy(Counter(value for _, value in pairs))
    if not whole:
        return 0.0
    together, alone = _entropy(Counter(pairs)), _entropy(Counter(group for group, _ in pairs))
    return 1 - (together - alone) / whole


def share_by_chance(groups: Mapping[str, str], labels: Mapping[str, str]) -> float:
    """Return the mean `determined_share` of independent groups and labels: first-order bias (Miller 1955)."""
    pairs = [(groups[name], value) for name, value in labels.items() if name in groups]
    whole = _entropy(Counter(value for _, value in pairs))
    freedom = (len({group for group, _ in pairs}) - 1) * (len({value for _, value in pairs}) - 1)
    return freedom / (2 * len(pairs) * math.log(2)) / whole if whole else 0.0


def telling_groups(groups: Mapping[str, str], labels: Mapping[str, str], smallest: int) -> Iterator[str]:
    """Yield the groups in which nearly all cases have a label that at most half of all cases have."""
    pairs = [(groups[name], value) for name, value in labels.items() if name in groups]
    share = Counter(value for _, value in pairs)
    for group in dict.fromkeys(group for group, _ in pairs):
        own = Counter(value for other, value in pairs if other == group)
        value, count = own.most_common(1)[0]
        size = own.total()
        if size >= smallest and count >= _NEARLY_ALL * size and share[value] <= _AT_MOST_HALF * len(pairs):
            yield group


def _entropy(counts: Counter[object]) -> float:
    total = counts.total()
    return -sum(count / total * math.log2(count / total) for count in counts.values())


# --- How many bits of these labels the published figures reveal ---

VALUE = "value"
_FULL: int = 10**SIGNIFICANT_DIGITS


@dataclass(frozen=True)
class PublishedFigure:
    """The published numbers of a metric ("task.metric") or of a composite of metrics of ``tasks``.

    ``extent`` is the width of each number's range, ``digits`` the number of decimals, ``exact`` how many
    values a number can take before rounding. ``ordered``: the numbers are a lower and an upper end.
    """

    metric: str
    what: str
    numbers: int
    extent: float
    digits: int
    exact: int | None = None
    ordered: bool = False
    tasks: tuple[str, ...] = ()

    def values(self, digits: int | None = None) -> int:
        """Return how many values each number can take, as published or with at most the given decimals."""
        decimals = self.digits if digits is None else min(self.digits, digits)
        steps = round(self.extent * 10**decimals) + 1 if math.isfinite(self.extent) else _FULL
        return min(steps, _FULL, _FULL if self.exact is None else self.exact)

    def bits(self, digits: int | None = None) -> float:
        """Return the most bits that one submission learns from these numbers."""
        values = self.values(digits)
        return math.log2(values * (values + 1) / 2) if self.ordered else self.numbers * math.log2(values)


@dataclass(frozen=True)
class Disclosure:
    """All published figures of a phase, all its hidden labels, and its limit of submissions."""

    figures: tuple[PublishedFigure, ...]
    labels: tuple[Labels, ...]
    limit: float

    def made_of(self, labels: Labels) -> tuple[PublishedFigure, ...]:
        """Return the figures that are computed from the reference of these labels."""
        return tuple(
            figure
            for figure in self.figures
            if not set(labels.tasks).isdisjoint(figure.tasks or (figure.metric.partition(".")[0],))
        )

    def bound(self, labels: Labels, digits: int | None = None) -> float:
        """Return the fewest submissions that could tell all of these labels; infinite if none could."""
        bits_of_one = bits_of(self.made_of(labels), digits)
        return math.ceil(labels.bits / bits_of_one) if bits_of_one else math.inf

    def share(self, labels: Labels) -> float:
        """Return the share of the bits of these labels that the phase's submissions could tell, at most 1."""
        figures = self.made_of(labels)
        return min(1.0, self.limit * bits_of(figures) / labels.bits) if figures else 0.0

    def learnable(self) -> tuple[Labels, ...]:
        """Return the labels that as many submissions as the phase allows could tell."""
        return tuple(labels for labels in self.labels if self.bound(labels) <= self.limit)


def limit_of(submissions: Submissions) -> float:
    """Return how many submissions a team can make in all; infinite without a limit or a deadline."""
    if submissions.limit is None:
        return math.inf
    if submissions.period_days is None or not submissions.limit:
        return submissions.limit
    if submissions.opens_at is None or submissions.closes_at is None:
        return math.inf
    days = (submissions.closes_at - submissions.opens_at).total_seconds() / 86400
    return submissions.limit * (math.ceil(days / submissions.period_days) + 1)


def in_words(submissions: float) -> str:
    """Return for example "2 submissions", or "no limit"."""
    return "no limit" if math.isinf(submissions) else counted(int(submissions), "submission")


def bits_of(figures: Iterable[PublishedFigure], digits: int | None = None) -> float:
    """Return the most bits that one submission learns from all these figures."""
    return sum(figure.bits(digits) for figure in figures)


def audit(phase: Phase, workers: int) -> Disclosure:
    """Return the bits that the results of a phase disclose.

    Raises `PhaseError` where the reference cannot be read.
    """
    return disclosure_of(scores_of_nothing(phase, phase.tasks, workers))


def disclosure_of(scores: Scores) -> Disclosure:
    """Return the bits that the results of a phase disclose, from the scores of an empty submission."""
    phase = scores.phase
    # How many resamples there are does not matter to whether there is an interval.
    config = phase.config.model_copy(update={"resamples": min(phase.config.resamples, _FEW_RESAMPLES)})
    scores = replace(scores, phase=replace(phase, config=config))
    hidden = tuple(
        replace(
            label,
            tasks=_tasks_of(label, phase),
            accepted=any(fnmatchcase(label.name, pattern) for pattern in config.learnable_labels),
        )
        for label in hidden_labels(phase, scores.tables, parts=True)
    )
    return Disclosure(tuple(_figures(scores)), hidden, limit_of(config.submissions))


_FEW_RESAMPLES = 2


def warnings_of(disclosure: Disclosure) -> list[str]:
    """Return a sentence on the labels that the phase's submissions could tell, apart from accepted ones."""
    told = [labels for labels in disclosure.learnable() if not labels.accepted]
    if not told:
        return []
    fewest = ", ".join(f"{labels.name} ({disclosure.bound(labels):g})" for labels in told)
    return [
        f"phase.toml: submissions: with {in_words(disclosure.limit)}, results could tell all labels of "
        f"{fewest}; in brackets the fewest submissions that could; `audit` counts them with fewer digits, too"
    ]


def _sources(tasks: Iterable[Task]) -> set[object]:
    """Return the references of tasks: columns of the case table, and locations of files."""
    found: set[object] = set()
    for field in references_of(tasks):
        location = field.reference.location
        found |= set(location.columns) if isinstance(location, CaseColumns) else {location}
    return found


def _tasks_of(labels: Labels, phase: Phase) -> tuple[str, ...]:
    """Return the tasks that compare with a reference that the labels are part of."""
    owners = {name.removeprefix("cases of ").partition(".")[0] for name in labels.names}
    derived = phase.challenge.derived_columns(phase.options)
    sources = _sources(task for task in phase.tasks if task.name in owners)
    for name in labels.names:
        sources |= set(derived[name].needs) if name in derived else {name}
    return tuple(task.name for task in phase.tasks if not sources.isdisjoint(_sources([task])))


def _figures(scores: Scores) -> Iterator[PublishedFigure]:
    """Yield all published figures, without derived numbers such as half-widths."""
    phase, config = scores.phase, scores.phase.config
    figures = figures_of(scores)
    published = public_estimates(figures.aggregates, config)
    groups = public_subgroups(figures.subgroups, config)
    for task in scores.tasks:
        table = scores.tables[task.name]
        for metric in task.metrics:
            estimate = published[task.name].get(metric.name)
            if estimate is None:
                continue
            name = f"{task.name}.{metric.name}"
            digits = digits_of(config, name)
            extent = _extent(metric, figures.aggregates[task.name][metric.name].value)
            exact = metric.estimator.possible_values(table)
            yield from _of_estimate(name, estimate, digits, extent, exact)
            if "chart-roc" in config.outputs.values() and has_curve(metric):
                yield PublishedFigure(name, "curve of the chart", CURVE_NUMBERS, 1.0, digits.spread)
            for subgroup in config.subgroups:
                masks = subgroup_masks(subgroup, phase.cases, table.names)
                for group, of_group in groups.get(key_of(subgroup.column), {}).items():
                    if metric.name in of_group.get(task.name, {}):
                        members = table.take(np.flatnonzero(masks[group]))
                        known = subgroup.compare == "cases"
                        values = metric.estimator.possible_values(members) if known else None
                        yield PublishedFigure(name, "subgroups", 1, extent, digits.value, values)
        if config.publish_cases:
            yield _cases(task, table, config)
    combined = public_composites(figures.composites or {}, phase.challenge, config)
    for composite in phase.challenge.composites:
        if estimate := combined.get(composite.name):
            name, tasks = composite.name, tuple(one.partition(".")[0] for one in composite.metrics)
            extent = _extent(composite, estimate.value)
            for figure in _of_estimate(name, estimate, digits_of(config, name), extent, None):
                if figure.what != VALUE:
                    yield replace(figure, tasks=tasks)


_OF_COUNTS = ("Wilson", "Clopper-Pearson")


def _of_estimate(
    name: str, estimate: Estimate, digits: Digits, extent: float, exact: int | None
) -> Iterator[PublishedFigure]:
    """Yield a metric's value, intervals and spreads."""
    further = {part: figure for part, figure in vars(estimate).items() if part != VALUE}
    intervals = {part: list(_intervals(figure)) for part, figure in further.items()}
    # These intervals follow from the whole number behind a share: both tell no more than this number.
    whole = exact is not None and any(
        one.method in _OF_COUNTS for found in intervals.values() for one in found
    )
    value = PublishedFigure(name, VALUE, 1, extent, digits.value, exact)
    yield replace(value, digits=SIGNIFICANT_DIGITS) if whole else value
    for part, figure in further.items():
        what = part.replace("_", " ")
        for interval in intervals[part]:
            follows = 1 if whole and interval.method in _OF_COUNTS else None
            yield PublishedFigure(name, what, 2, extent, digits.spread, follows, ordered=True)
        if isinstance(figure, float):
            yield PublishedFigure(name, what, 1, extent, digits.spread)


def _intervals(figure: Any) -> Iterator[ConfidenceInterval]:
    """Yield the intervals of a figure; a half-width follows from the ends."""
    if isinstance(figure, ConfidenceInterval):
        yield figure
    elif isinstance(figure, Mapping):
        for each in figure.values():
            yield from _intervals(each)


def _cases(task: Task, table: CaseTable, config: PhaseConfig) -> PublishedFigure:
    published = [
        column
        for column in table.column_names
        if column not in task.unpublished
        and detail_of(config, f"{task.name}.{column}") in ("standard", "full")
    ]
    return PublishedFigure(task.name, "per case", len(table) * len(published), math.inf, config.value_digits)


def _extent(metric: Metric | Composite, worst: float) -> float:
    """Return the width of a metric's range; an unbounded one ends at the worst submission's value."""
    return abs(metric.best - (metric.worst if math.isfinite(metric.worst) else worst)) or math.inf
