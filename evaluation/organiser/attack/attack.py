"""All possible attacks on a phase, each with a bound on the submissions that it needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluation.core.challenge import Task
from evaluation.core.metric import Metric
from evaluation.evaluate import scores_of_nothing
from evaluation.organiser.attack.areas import labels_from_areas
from evaluation.organiser.attack.detections import labels_from_detections
from evaluation.organiser.attack.oracle import Oracle, Recovered
from evaluation.organiser.attack.splits import Split, members_from_means
from evaluation.organiser.attack.spoilt import spoilers
from evaluation.organiser.audit import Disclosure, audit, bits_of
from evaluation.organiser.label_splits import told_label
from evaluation.organiser.labels import Labels, bits_of_counts, hidden_labels
from evaluation.phase.phase import Phase
from evaluation.phase.public_digits import digits_of
from evaluation.phase.scores import Scores
from evaluation.phase.subgroups import key_of, subgroup_masks


@dataclass(frozen=True)
class Attacked:
    """The labels that an attack recovered, and the fewest submissions that could reveal all of them.

    ``recovered`` of ``cases`` labels were recovered, ``correct`` of them rightly. ``bound`` counts all
    published numbers, ``bound_of_used`` only the ones that the attack uses; both are averages over all
    assignments of labels.
    """

    labels: str
    method: str
    submissions: int
    recovered: int
    correct: int
    cases: int
    bound: float
    bound_of_used: float


def attack(phase: Phase, workers: int, allowed: int) -> list[Attacked]:
    """Return the results of attacks of at most ``allowed`` submissions each.

    Each submits to only one task and sees only its metrics.json. Raises `PhaseError` where the reference
    cannot be read.
    """
    scores = scores_of_nothing(phase, phase.tasks, workers)
    labels = {name: label for label in hidden_labels(phase, scores.tables) for name in label.names}
    disclosure = audit(phase, workers)
    results: list[Attacked] = []
    for task in scores.tasks:
        results += _on_likelihoods(scores, task, labels, disclosure, allowed)
        results += _on_detections(scores, task, labels, disclosure, allowed)
        results += _on_splits(scores, task, disclosure, allowed)
    return results


def _on_likelihoods(
    scores: Scores, task: Task, labels: Mapping[str, Labels], disclosure: Disclosure, allowed: int
) -> Iterator[Attacked]:
    for metric in task.metrics:
        curve = metric.aggregate.curve
        if curve and curve.is_area and (label := labels.get(f"{task.name}.{curve.label}")):
            oracle = Oracle(scores.phase, task, allowed)
            counts = (label.counts.get("1", 0), label.counts.get("0", 0))
            found = labels_from_areas(
                task, metric.name, curve, oracle, counts, _half_step(scores, task, metric)
            )
            yield _against(found, label, disclosure)


def _on_detections(
    scores: Scores, task: Task, labels: Mapping[str, Labels], disclosure: Disclosure, allowed: int
) -> Iterator[Attacked]:
    of_metric = {
        metric.name: label
        for metric in task.metrics
        if (decision := metric.aggregate.decision)
        and (label := labels.get(f"{task.name}.{decision.present}"))
    }
    if not of_metric:
        return
    positives = {metric: label.counts.get("1", 0) for metric, label in of_metric.items()}
    steps = {metric.name: _half_step(scores, task, metric) for metric in task.metrics}
    found = labels_from_detections(task, positives, Oracle(scores.phase, task, allowed), steps)
    for metric_name, recovered in found.items():
        yield _against(recovered, of_metric[metric_name], disclosure)


def _on_splits(scores: Scores, task: Task, disclosure: Disclosure, allowed: int) -> Iterator[Attacked]:
    phase, names = scores.phase, scores.tables[task.name].names

    def oracle() -> Oracle:
        return Oracle(phase, task, allowed)

    for subgroup in phase.config.subgroups:
        if subgroup.compare != "cases" or not told_label(phase, subgroup, scores.tables):
            continue
        for value, members in subgroup_masks(subgroup, phase.cases, names).items():
            split = Split(key_of(subgroup.column), value, int(members.sum()))
            if not phase.config.subgroup_minimum <= split.members < len(names):
                continue
            classes = {name: str(int(member)) for name, member in zip(names, members.tolist(), strict=True)}
            membership = Labels((f"{subgroup.column} = {value}",), classes)
            for metric in task.metrics:
                if metric.aggregate.spread_column != metric.name:
                    continue
                step = _half_step(scores, task, metric)
                tried = [
                    members_from_means(task, metric.name, spoiler, split, oracle(), step)
                    for spoiler in spoilers(task, oracle())
                ]
                if tried:
                    best = max(tried, key=lambda found: (len(found.labels), -found.submissions))
                    yield _against(best, membership, disclosure)


def _half_step(scores: Scores, task: Task, metric: Metric) -> float:
    digits = digits_of(scores.phase.config, f"{task.name}.{metric.name}").value
    return float(0.5 * 10**-digits) if digits < _ALL_DIGITS else _FLOATING


_ALL_DIGITS = 12
_FLOATING = 1e-12


def _against(found: Recovered, labels: Labels, disclosure: Disclosure) -> Attacked:
    bits = bits_of_counts(list(labels.counts.values()))
    used = [figure for figure in disclosure.figures if figure.metric in found.figures]
    by_split = [figure for figure in used if figure.what == "subgroups"]
    values = [figure for figure in used if figure.what == "value"]

    def bound(told: float) -> float:
        return math.ceil(bits / told) if told else math.inf

    return Attacked(
        labels=labels.name,
        method=f"{found.figures[0]}: {found.method}",
        submissions=found.submissions,
        recovered=len(found.labels),
        correct=sum(labels.classes.get(name) == label for name, label in found.labels.items()),
        cases=len(labels.classes),
        bound=bound(bits_of(disclosure.figures)),
        bound_of_used=bound(bits_of(by_split if " = " in labels.name else values)),
    )
