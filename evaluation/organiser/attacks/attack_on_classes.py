"""The attack on 0/1 labels with which likelihoods and decisions are compared, from all their figures at once.

Each submission orders the cases at random, some of them tied, and decides at random. The area under the
ROC curve is then a sum of the positives' ranks (Mann and Whitney 1947), and the rates of the decisions are
counts. Meeting in the middle finds all labels with these sums. Of them, those stay under which every other
figure, its interval included, comes out as it was published.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable, Row, WeightedCases
from evaluation.core.challenge import Task
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.core.metric import Metric
from evaluation.metrics.arrays import Floats
from evaluation.metrics.intervals import area_interval, components
from evaluation.organiser.attacks import attack_tools
from evaluation.organiser.attacks.attack_tools import LabelArray, Labellings, Oracle, Recovered, Side
from evaluation.organiser.audit import Labels
from evaluation.phase.leaderboard import digits_of
from evaluation.phase.phase import Phase
from evaluation.summary import resampling_of

_SEED = 1947
_TRIES = 100
_TIED = 0.3
_SMALL_GROUP = 18  # few enough subsets to filter all of them
_MOST_SUBSETS = 5_000_000  # of half of a group
_MOST_ANSWERS = 8
_MOST_LABELLINGS = 500_000
_MOST_INTERVALS = 30_000
_MOST_BOOTSTRAPS = 100
_MOST_COMBINATIONS = 64
_MIXED_GROUP = 12
_AT_ONCE = 4096
_NONE = -1  # the label of a case that has none
_EXACT = 1e-9


@dataclass(frozen=True)
class DecidedClass:
    """A rate of right decisions among the cases of one class."""

    task: Task
    metric: Metric
    of_class: int


@dataclass(frozen=True)
class Target:
    """A 0/1 label, the area under a likelihood's ROC curve that uses it, and rates of decisions on it."""

    label: Labels
    task: Task
    area: Metric
    decided: tuple[DecidedClass, ...]

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks that the attack submits to."""
        tasks = (self.task, *(rate.task for rate in self.decided))
        return tuple({task.name: task for task in tasks}.values())

    @cached_property
    def figures(self) -> tuple[tuple[Task, Metric], ...]:
        """The metrics whose figures follow from predictions and this label alone, the area first."""
        rates = [(rate.task, rate.metric) for rate in self.decided]
        others = [
            (self.task, each)
            for each in self.task.metrics
            if f"{self.task.name}.{each.estimator.label_column}" in self.label.names and each is not self.area
        ]
        return ((self.task, self.area), *others, *rates)


def _is_decision(field: Field) -> bool:
    """Return whether a value of a field is one decision between two options."""
    choices = field.kind.choices
    return choices is not None and len(choices.names) == 1 and len(choices.options) == 2


def targets(tasks: Sequence[Task], tables: Mapping[str, CaseTable], label: Labels) -> Iterator[Target]:
    """Yield the areas that use a label, each with all rates of decisions on it."""
    rates = []
    for task in tasks:
        if len(task.fields) != 1 or not _is_decision(task.fields[0]):
            continue
        for metric in task.metrics:
            if column := metric.estimator.share_column:
                values = zip(tables[task.name].names, tables[task.name][column].tolist(), strict=True)
                entering = {name for name, value in values if not math.isnan(value)}
                rates += [
                    DecidedClass(task, metric, of_class)
                    for of_class in (0, 1)
                    if label.members.get(str(of_class)) == entering
                ]
    for task in tasks:
        for metric in task.metrics:
            curve = metric.estimator.curve
            if curve and curve.is_area and f"{task.name}.{curve.label}" in label.names:
                yield Target(label, task, metric, tuple(rates))


@dataclass(frozen=True)
class Search:
    """How much a search of labels looks at together, which costs time and memory.

    ``most_cases``: of all cases at once, up to 64, since a subset is 64 bits. ``large_group``: the cases of a
    group where there are more. ``most_unlabelled_sets``: sets of cases without a label that are tried.
    """

    most_cases: int = 64
    large_group: int = 40
    most_unlabelled_sets: int = 100


def labels_of_classes(phase: Phase, target: Target, oracle: Oracle, search: Search = Search()) -> Recovered:
    """Return the labels that follow from all figures of a target."""
    attack = _Attack(phase, target, oracle, search)
    attack.find()
    labels = {
        oracle.cases[position].name: "" if label == _NONE else str(label)
        for position, label in attack.known.items()
    }
    figures = tuple(f"{task.name}.{metric.name}" for task, metric in target.figures)
    return Recovered("all figures, meet in the middle", figures, oracle.submissions, labels)


@dataclass(frozen=True)
class _Answer:
    """A submission, as likelihoods and decisions of all cases, and its published figures.

    ``tables``: by task the rows of all cases if each were of class 1, then of class 0, then without a label.
    """

    scores: Floats
    decisions: LabelArray
    published: Mapping[str, Any]
    tables: Mapping[str, CaseTable]


@dataclass(frozen=True)
class _Sum:
    """A sum of weights over the positives of a group, which is one of the totals."""

    weights: LabelArray
    totals: range


@dataclass
class _Group:
    """Cases whose labels are searched: the answers so far, and the labellings of all cases that fit.

    ``labellings``: shape (labellings, cases), None while they are too many.
    """

    cases: list[int]
    answers: list[_Answer] = field(default_factory=list)
    labellings: Labellings | None = None


class _Attack:
    """The search for labels, group by group.

    All cases outside of the group are tied below it, except those whose labels are known: they lie between
    the cases of the group and spread their ranks.
    """

    def __init__(self, phase: Phase, target: Target, oracle: Oracle, search: Search) -> None:
        self._phase, self._target, self._oracle, self._search = phase, target, oracle, search
        self._random = np.random.Generator(np.random.PCG64(_SEED))
        counts = target.label.counts
        self._positives, self._negatives = counts.get("1", 0), counts.get("0", 0)
        self._unlabelled = len(oracle.cases) - self._positives - self._negatives
        examples = {value: sorted(names)[0] for value, names in target.label.members.items()}
        # A row follows from prediction and label alone, so that one case of a class shows the rule.
        self._references = [
            oracle.reference(examples[value]) for value in ("1", "0", "") if value in examples
        ]
        self.known: dict[int, int] = {}
        cases = len(oracle.cases)
        whole = [cases] if cases <= search.most_cases else []
        self._sizes = [*whole, *(size for size in (search.large_group, _SMALL_GROUP) if size < cases)]
        self._size = cases

    def find(self) -> None:
        """Find the labels of all cases, as far as submissions and time allow."""
        sets = math.comb(len(self._oracle.cases), self._unlabelled)
        many = sets > self._search.most_unlabelled_sets
        try:
            while unknown := [case for case in range(len(self._oracle.cases)) if case not in self.known]:
                if not (self._by_levels(unknown[:_MIXED_GROUP]) if many else self._by_ranks(unknown)):
                    return
        except attack_tools.OutOfSubmissionsError:
            return

    # --- Ranks: all labels of a group that have the published sums, then their other figures ---

    def _by_ranks(self, unknown: list[int]) -> bool:
        group = _Group(self._next_group(unknown))
        try:
            for _ in range(_TRIES):
                group.answers.append(self._ask(group))
                if len(group.answers) == 1 and not self._is_searchable(group) and self._sizes:
                    group = _Group(self._next_group(unknown))
                    continue
                self._narrow(group, whole=len(group.cases) == len(unknown))
                if group.labellings is not None and len(group.labellings) <= 1:
                    break
        finally:
            self._learn(group)
        return group.labellings is not None and len(group.labellings) == 1

    def _next_group(self, unknown: list[int]) -> list[int]:
        """Return the first unknown cases, in a group as large as can still be searched."""
        if self._sizes:
            self._size = self._sizes.pop(0)
        return unknown[: self._size]

    def _is_searchable(self, group: _Group) -> bool:
        """Return whether answers like the first one leave few enough labellings."""
        halves = self._halves(group)
        if halves is None:
            return False
        sums = list(self._sums(group, next(self._unlabelled_sets(group))))
        widths = math.prod(len(each.totals) for each in sums)
        answers = next(
            number for number in range(_MOST_ANSWERS, -1, -1) if widths**number <= _MOST_COMBINATIONS
        )
        return _expected(sums * answers, len(group.cases), halves, self._counts(group)) <= _MOST_LABELLINGS

    def _learn(self, group: _Group) -> None:
        """Note the labels on which all labellings agree."""
        if group.labellings is not None and len(group.labellings):
            first = group.labellings[0]
            agreed = (group.labellings == first).all(axis=0)
            self.known |= {case: int(first[case]) for case in group.cases if agreed[case]}

    def _outside(self, group: _Group) -> list[int]:
        """Return the cases of unknown label outside of a group."""
        elsewhere = {*group.cases, *self.known}
        return [case for case in range(len(self._oracle.cases)) if case not in elsewhere]

    def _ask(self, group: _Group) -> _Answer:
        """Return the answer to a random order; the first decision of a group is for its first half."""
        cases = len(self._oracle.cases)
        upper = self._random.permutation([*group.cases, *self.known])
        levels = 1 + np.cumsum(np.append(0, self._random.random(len(upper) - 1) >= _TIED))
        scores, decisions = np.zeros(cases), np.zeros(cases, np.int64)
        scores[upper] = levels / levels[-1]
        half = group.cases[: (len(group.cases) + 1) // 2]
        decisions[self._random.permutation(group.cases)[: len(half)] if group.answers else half] = 1
        return self._submit(scores, decisions)

    def _submit(self, scores: Floats, decisions: LabelArray) -> _Answer:
        def value(each: Field, case: CaseForm, score: float, decision: int) -> Any:
            choices, numbers = each.kind.choices, each.kind.numbers
            if choices and _is_decision(each):
                return choices.value((decision,))
            single = numbers and len(numbers.names) == 1
            return numbers.value((score,)) if numbers and single else self._oracle.empty(each, case)

        predictions = [
            {
                each.name: value(each, *given)
                for task in self._target.tasks
                for each in task.fields_for(given[0])
            }
            for given in zip(self._oracle.cases, scores.tolist(), decisions.tolist(), strict=True)
        ]
        names = [case.name for case in self._oracle.cases]
        content = self._oracle.submit(predictions)
        tables = {}
        for task in self._target.tasks:
            rows: list[Row] = [task.score(each, one) for one in self._references for each in predictions]
            tables[task.name] = CaseTable(names * len(self._references), rows)
        return _Answer(scores, decisions, content["aggregates"], tables)

    def _halves(self, group: _Group) -> tuple[range, range] | None:
        """Return the possible numbers of positives in both halves of a group; None if they are too many."""
        size, half = len(group.cases), (len(group.cases) + 1) // 2
        left = self._counts(group)
        first, second = range(min(half, left[-1]) + 1), range(min(size - half, left[-1]) + 1)
        if counted := self._detected(group.answers[0], 1):
            first = range(max(counted.start, 0), min(counted.stop, first.stop))
            second = range(max(0, left[0] - first.stop + 1), min(second.stop, left.stop - first.start))
        if max(_subsets(half, first.stop - 1), _subsets(size - half, second.stop - 1)) > _MOST_SUBSETS:
            return None
        return first, second

    def _detected(self, answer: _Answer, of_class: int) -> range | None:
        """Return how many cases of a class can have the decision 1; None where no rate tells."""
        for rate in self._target.decided:
            if rate.of_class == of_class:
                share = answer.published[rate.task.name][rate.metric.name]["value"]
                cases = self._positives if of_class else self._negatives
                off = self._oracle.half_step(f"{rate.task.name}.{rate.metric.name}") * cases + _EXACT
                right = _whole(share * cases, off)
                return right if of_class else range(cases - right.stop + 1, cases - right.start + 1)
        return None

    def _narrow(self, group: _Group, whole: bool) -> None:
        """Compute the labellings that fit, or drop those that do not fit the last answer."""
        answers = group.answers[-1:]
        if group.labellings is None:
            found = self._enumerated(group)
            if found is None:
                return
            group.labellings, answers = found, group.answers
        fitting = group.labellings
        for answer in answers:
            for task, metric in self._target.figures:
                fitting = fitting[self._value_fits(answer, task, metric, fitting)]
        if len(fitting) <= _MOST_INTERVALS and (whole or resampling_of(self._phase).clusters is None):
            for answer in answers:
                fitting = fitting[[self._area_fits(answer, one) for one in fitting]]
        if len(fitting) <= _MOST_BOOTSTRAPS and whole:
            for answer in answers:
                fitting = fitting[[self._all_fits(answer, one) for one in fitting]]
        group.labellings = fitting

    def _enumerated(self, group: _Group) -> Labellings | None:
        """Return the labellings of all cases with the published sums; None if they are too many."""
        halves = self._halves(group)
        found: list[Labellings] = []
        for unlabelled in self._unlabelled_sets(group):
            positives = None if halves is None else self._positives_of(group, unlabelled, halves)
            if positives is None or sum(map(len, found)) + len(positives) > _MOST_LABELLINGS:
                return None
            found.append(self._completed(group, positives, unlabelled))
        return np.concatenate(found)

    def _unlabelled_sets(self, group: _Group) -> Iterator[tuple[int, ...]]:
        """Yield the sets of cases that can be unlabelled; outside of the group, one stands for all."""
        hidden = self._unlabelled - sum(label == _NONE for label in self.known.values())
        others = self._outside(group)
        for number in range(max(0, hidden - len(others)), min(hidden, len(group.cases)) + 1):
            for chosen in combinations(group.cases, number):
                without = (*chosen, *others[: hidden - number])
                if all(self._as_decided(answer, without) for answer in group.answers):
                    yield without

    def _as_decided(self, answer: _Answer, unlabelled: Sequence[int]) -> bool:
        """Return whether the decisions on both classes leave these cases without a label."""
        right, wrong = self._detected(answer, 1), self._detected(answer, 0)
        if right is None or wrong is None:
            return True
        rest = int(answer.decisions.sum() - answer.decisions[list(unlabelled)].sum())
        return right.start + wrong.start <= rest < right.stop + wrong.stop - 1

    def _positives_of(
        self, group: _Group, unlabelled: tuple[int, ...], halves: tuple[range, range]
    ) -> Labellings | None:
        """Return the sets of a group's positives with the published sums as 0/1 rows; None if too many."""
        sums = sorted(self._sums(group, unlabelled), key=lambda each: len(each.totals))
        if any(not each.totals for each in sums):
            return np.empty((0, len(group.cases)), np.int8)
        products = np.cumprod([len(each.totals) for each in sums], dtype=np.float64)
        joined = int((products <= _MOST_COMBINATIONS).sum())
        left = self._counts(group)
        if _expected(sums[:joined], len(group.cases), halves, left) > _MOST_LABELLINGS:
            return None
        # One weight stands for all: a random linear code keeps sums, and different sums hardly ever agree.
        code = self._random.integers(1, 1 << 63, joined, dtype=np.uint64) | np.uint64(1)
        weights = np.array([each.weights for each in sums[:joined]]).astype(np.uint64)
        coded = (code[:, np.newaxis] * weights).sum(axis=0, dtype=np.uint64)
        wanted = [
            (code * np.array(totals).astype(np.uint64)).sum(dtype=np.uint64)
            for totals in product(*(each.totals for each in sums[:joined]))
        ]
        absent = [position for position, case in enumerate(group.cases) if case in unlabelled]
        half = (len(group.cases) + 1) // 2
        first = attack_tools.side_of(coded, range(half), absent, halves[0].stop - 1)
        second = attack_tools.side_of(coded, range(half, len(group.cases)), absent, halves[1].stop - 1)
        subsets = _meeting(first, second, wanted, halves, left)
        if subsets is None:
            return None
        rows = attack_tools.rows_of_subsets(subsets, len(group.cases))
        for each in sums:
            found = rows @ each.weights
            rows = rows[(found >= each.totals.start) & (found < each.totals.stop)]
        return rows

    def _counts(self, group: _Group) -> range:
        """Return the possible numbers of positives in a group."""
        left = self._positives - sum(label == 1 for label in self.known.values())
        return range(max(0, left - len(self._outside(group))), min(len(group.cases), left) + 1)

    def _sums(self, group: _Group, unlabelled: tuple[int, ...]) -> Iterator[_Sum]:
        """Yield the published sums over a group's positives.

        With each case's a, twice the labelled cases below it plus the ones tied with it, the sum of a over
        the P positives is 2 · AUC · P · N + P (P − 1).
        """
        pairs, positives = self._positives * self._negatives, self._positives
        labelled = np.ones(len(self._oracle.cases), dtype=np.bool_)
        labelled[[*unlabelled, *(case for case, label in self.known.items() if label == _NONE)]] = False
        lowest = self._outside(group)
        area = f"{self._target.task.name}.{self._target.area.name}"
        for answer in group.answers:
            ordered = np.sort(answer.scores[labelled])
            below = np.searchsorted(ordered, answer.scores, "left")
            ranks = below + np.searchsorted(ordered, answer.scores, "right") - 1
            base = int(ranks[lowest[0]]) if lowest else 0
            value = answer.published[self._target.task.name][self._target.area.name]["value"]
            given = sum(int(ranks[case]) - base for case, label in self.known.items() if label == 1)
            constant = positives * (positives - 1) - positives * base - given
            totals = _whole(2 * pairs * value + constant, 2 * pairs * self._oracle.half_step(area) + _EXACT)
            yield _Sum(ranks[group.cases] - base, totals)
            if (detected := self._detected(answer, 1)) is not None:
                yield _Sum(answer.decisions[group.cases], detected)

    def _completed(self, group: _Group, positives: Labellings, unlabelled: tuple[int, ...]) -> Labellings:
        """Return labellings of all cases; outside of the group, where all are tied, any of the right size."""
        found = np.zeros((len(positives), len(self._oracle.cases)), np.int8)
        for case, label in self.known.items():
            found[:, case] = label
        found[:, group.cases] = positives
        found[:, list(unlabelled)] = _NONE
        if free := [case for case in self._outside(group) if case not in unlabelled]:
            missing = self._positives - (found == 1).sum(axis=1)
            found[:, free] = np.arange(len(free)) < missing[:, np.newaxis]
        return found

    def _value_fits(
        self, answer: _Answer, task: Task, metric: Metric, labellings: Labellings
    ) -> NDArray[np.bool_]:
        """Return under which labellings a value comes out as published."""
        value = answer.published[task.name][metric.name]["value"]
        off = self._oracle.half_step(f"{task.name}.{metric.name}") + _EXACT
        classes = (1, 0, _NONE)[: len(self._references)]
        fits = np.ones(len(labellings), dtype=np.bool_)
        for start in range(0, len(labellings), _AT_ONCE):
            some = labellings[start : start + _AT_ONCE]
            weights = np.concatenate([some == each for each in classes], axis=1).astype(np.int64)
            found = metric.estimator.values(WeightedCases(answer.tables[task.name], weights))
            fits[start : start + _AT_ONCE] = np.abs(found - value) <= off
        return fits

    def _area_fits(self, answer: _Answer, labels: LabelArray) -> bool:
        """Return whether the interval of the area comes out as published, if it is DeLong's."""
        task, metric = self._target.task, self._target.area
        interval = answer.published[task.name][metric.name].get("confidence_interval")
        if interval is None or interval["method"] != "logit-DeLong":
            return True
        labelled = labels != _NONE
        units = resampling_of(self._phase).units(tuple(case.name for case in self._oracle.cases))
        units = None if units is None else units[labelled]
        found = area_interval(components(answer.scores[labelled], labels[labelled] == 1, units))
        step = 1.01 * 10.0 ** -digits_of(self._phase.config, f"{task.name}.{metric.name}").spread
        return all(abs(getattr(found, end) - float(interval[end])) < step for end in ("lower", "upper"))

    def _all_fits(self, answer: _Answer, labels: LabelArray) -> bool:
        """Return whether all figures come out as published, also those of the bootstrap."""
        place = np.select([labels == 1, labels == 0], [0, 1], 2)
        chosen = place * len(labels) + np.arange(len(labels))
        tables = {name: table.take(chosen) for name, table in answer.tables.items()}
        found = attack_tools.published_of(self._phase, self._target.tasks, tables)
        return all(
            found[task.name][metric.name] == answer.published[task.name][metric.name]
            for task, metric in self._target.figures
        )

    # --- Two levels: where many cases have no label ---

    def _by_levels(self, group: list[int]) -> bool:
        """AUC = ½ + ½ (x / P − z / N) where x positives and z negatives are above all others."""
        states = np.array(list(product((1, 0, _NONE), repeat=len(group))), dtype=np.int8)
        states = states[(states == _NONE).sum(axis=1) <= self._unlabelled]
        area = f"{self._target.task.name}.{self._target.area.name}"
        off = 2 * self._oracle.half_step(area) + _EXACT
        for _ in range(_TRIES):
            above = self._random.random(len(group)) < 0.5
            scores = np.zeros(len(self._oracle.cases))
            scores[np.array(group)[above]] = 1
            answer = self._submit(scores, scores.astype(np.int64))
            value = answer.published[self._target.task.name][self._target.area.name]["value"]
            positives, negatives = ((states[:, above] == each).sum(axis=1) for each in (1, 0))
            share = positives / self._positives - negatives / self._negatives
            fits = np.abs(share - (2 * value - 1)) <= off
            for of_class, number in ((1, positives), (0, negatives)):
                if (detected := self._detected(answer, of_class)) is not None:
                    fits &= (number >= detected.start) & (number < detected.stop)
            states = states[fits]
            if len(states) <= 1:
                break
        if len(states) == 1:
            self.known |= dict(zip(group, states[0].tolist(), strict=True))
        return len(states) == 1


def _meeting(
    first: Side, second: Side, wanted: Sequence[np.uint64], halves: tuple[range, range], left: range
) -> NDArray[np.uint64] | None:
    """Return the subsets with a wanted sum and an allowed number of positives; None if they are too many."""
    found: list[NDArray[np.uint64]] = []
    number = 0
    for one, other in product(*halves):
        if one + other not in left:
            continue
        order = np.argsort(second.sums[other])
        sums, subsets = second.sums[other][order], second.subsets[other][order]
        for total in wanted:
            rest = total - first.sums[one]
            start, stop = np.searchsorted(sums, rest, "left"), np.searchsorted(sums, rest, "right")
            counts = stop - start
            number += int(counts.sum())
            if number > _MOST_LABELLINGS:
                return None
            partners = np.repeat(start - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
            found.append(np.repeat(first.subsets[one], counts) | subsets[partners])
    return np.concatenate([*found, np.empty(0, np.uint64)])


def _subsets(cases: int, most: int) -> int:
    """Return the number of subsets of some cases, of a size of at most ``most``."""
    return sum(math.comb(cases, size) for size in range(min(cases, most) + 1))


def _expected(sums: Sequence[_Sum], cases: int, halves: tuple[range, range], left: range) -> float:
    """Return about how many subsets have all totals, by the normal density of each sum at its mean."""
    half = (cases + 1) // 2
    number = float(
        sum(
            math.comb(half, one) * math.comb(cases - half, other)
            for one, other in product(*halves)
            if one + other in left
        )
    )
    size = left[-1] / 2
    for each in sums:
        deviation = float(each.weights.std()) * math.sqrt(max(1.0, size * (1 - size / cases)))
        number *= min(1.0, len(each.totals) / max(1.0, deviation * math.sqrt(2 * math.pi)))
    return number


def _whole(value: float, off: float) -> range:
    """Return the whole numbers within a distance of a value."""
    return range(math.ceil(value - off), math.floor(value + off) + 1)
