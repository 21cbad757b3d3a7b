"""What a submission achieved, in sentences: what was measured, on whom, how good it is, and how sure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from evaluation.challenges.declared.rules import field_tables, metric_tables, table_of_figure
from evaluation.challenges.declared.tables import MetricTable
from evaluation.core.aggregation import Estimate
from evaluation.core.challenge import Task
from evaluation.core.metric import Metric
from evaluation.organiser.ranking.robustness import Variation
from evaluation.organiser.report.page import listed, shown, shown_ends
from evaluation.organiser.report.results import SubmissionResults
from evaluation.organiser.report.sources import words_in
from evaluation.phase.cases import group_labels, key_of
from evaluation.phase.leaderboard import digits_of
from evaluation.phase.phase import Phase

_WORDS = words_in("phrases.toml")
_MOST_FIGURES = 6


@dataclass(frozen=True)
class Names:
    """Words for the names in the files of a phase: `titles` of `phase.toml`, else those of its challenge.

    ``groups``: the cells of subgroups, as the case table has them, by "column=value" of their keys.
    """

    words: Mapping[str, str]
    groups: Mapping[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """Return a label, class, column or group in words."""
        return self.words.get(name, name.replace("_", " "))

    def of_group(self, column: str, value: str) -> str:
        """Return the cases with a value in a column in words."""
        return self.words.get(f"{column}={value}") or f"{self.of(column)}: {self._cell(column, value)}"

    def of_value(self, column: str, value: str) -> str:
        """Return the same where the column is told beside it."""
        return self.words.get(f"{column}={value}") or self._cell(column, value)

    def _cell(self, column: str, value: str) -> str:
        return self.words.get(value) or self.groups.get(f"{key_of(column)}={value}") or self.of(value)

    def cases(self, number: int) -> str:
        """Return a number of cases, such as "40 eyes"."""
        return f"{number:,} {self.of('case' if number == 1 else 'cases')}"

    def decisions(self, label: str) -> tuple[str, str]:
        """Return the two values of a 0/1 label in few letters, negative first."""
        return f"not {self.of(label)}", self.of(label)

    def classes(self, label: str) -> tuple[str, str]:
        """Return the two classes of a 0/1 label, negative first."""
        name = self.of(label)
        return self.words.get(f"{label}=0", f"not {name}"), self.words.get(f"{label}=1", name)


def names_in(challenge: str, titles: Mapping[str, str] = MappingProxyType({})) -> Names:
    """Return the words of a phase with these titles, else of its challenge, which only bundled ones have."""
    return Names({**_WORDS["names"].get(challenge, {}), **titles})


def change_in_words(variation: Variation, names: Names, titles: Mapping[str, str]) -> str:
    """Return what a ranking does otherwise, with words for groups and titles for metrics."""
    text = variation.change
    if variation.kind == "subgroup":
        column, _, value = text.partition(" = ")
        return names.of_group(column, value)
    for name in sorted(titles, key=len, reverse=True):
        text = text.replace(name, titles[name])
    return text


def names_of(*phases: Phase) -> Names:
    """Return the words of some phases; the classes of a declared score are the cells of its reference."""
    words: dict[str, str] = {}
    groups: dict[str, str] = {}
    for phase in phases:
        words |= names_in(phase.challenge.name).words
        for name, table in field_tables(phase.options).items():
            lesion = f"{name}_has_lesion"
            words |= {
                lesion: "lesion",
                f"{lesion}=0": "cases without a lesion",
                f"{lesion}=1": "cases with a lesion",
            }
            for value, of_class in enumerate(table.cells_of_classes()):
                if of_class:
                    titles = listed([phase.config.titles.get(cell, cell) for cell in of_class])
                    words |= {f"{name}_class={value}": titles, f"{name}_class": titles}
        words |= phase.config.titles
        for subgroup in phase.config.subgroups:
            occurring = sorted({row.cells[subgroup.column] for row in phase.cases.rows})
            for label in group_labels(subgroup, occurring):
                groups[f"{key_of(subgroup.column)}={key_of(label)}"] = label
    return Names(words, groups)


def task_sentences(results: SubmissionResults, public: bool = False) -> Iterator[str]:
    """Yield a sentence for each task: its main metric, over how many cases, and between which ends.

    The main metric is the first one of the leaderboard, whose score comes first, else of the task, that has a
    value. ``public``: made of what is published alone, so that the cases of a task are counted, and not those
    with a label.
    """
    names = names_of(results.phase)
    ranked = results.phase.board.ranked
    place_of = {name: place for place, name in enumerate(ranked)}

    def place(task: Task, metric: Metric) -> int:
        return place_of.get(f"{task.name}.{metric.name}", len(ranked))

    for task in sorted(results.tasks, key=lambda task: min(place(task, metric) for metric in task.metrics)):
        found = results.metrics.aggregates.get(task.name, {})
        given = [one for one in task.metrics if one.name in found and (one.ordered or not place(task, one))]
        if given:
            given.sort(key=lambda metric: place(task, metric))
            yield _sentence(results, names, task, given, public)


def _sentence(
    results: SubmissionResults, names: Names, task: Task, given: Sequence[Metric], public: bool
) -> str:
    first = given[0]
    estimate = results.metrics.aggregates[task.name][first.name]
    on, cases = _cases(results, names, task, None if public else first)
    card, phrase, table = _phrase(results.phase, task, first)
    label = first.estimator.curve.label if first.estimator.curve else ""
    negative, positive = names.classes(label) if label else ("negative cases", "positive cases")
    required = getattr(table, card.rpartition("_at_")[2], None)
    words = phrase.format(
        positive=positive,
        negative=negative,
        regions=_regions(results, names, first),
        required=f"{100 * required:g} %" if isinstance(required, float) else "the required",
    )
    same = [one for one in given[1:] if _phrase(results.phase, task, one)[0] == card and one.structures]
    others = [
        f"{_regions(results, names, one)} {_value(results, task, one)}"
        + ("" if public or (rests := _cases(results, names, task, one)[1]) == cases else f" on {rests}")
        for one in same[:_MOST_FIGURES]
    ]
    value = _value(results, task, first) + (f" ({', '.join(others)})" if card and others else "")
    told = f"On {on}, the algorithm {words} {value}" if phrase else f"On {on}, “{first.title}” is {value}"
    if interval := estimate.confidence_interval:
        digits = digits_of(results.phase.config, f"{task.name}.{first.name}").spread
        lower, upper = shown_ends(interval.lower, interval.upper, digits)
        between = f"; with {cases} the true value may lie between {lower} and {upper} (95 % interval)"
        return f"{told}{between}{_with_unseen(estimate, first, digits)}."
    return f"{told}; no interval is {f'given: {estimate.interval}' if estimate.interval else 'published'}."


def _with_unseen(estimate: Estimate, metric: Metric, digits: int) -> str:
    """Return what the value may be if cases fail that are rarer than the sample shows."""
    field, unseen = estimate.confidence_interval, estimate.with_unseen_failures
    if field is None or unseen is None:
        return ""
    higher = metric.better == "higher"
    worst, seen = (unseen.lower, field.lower) if higher else (unseen.upper, field.upper)
    ends = [shown_ends(end, end, digits)[0 if higher else 1] for end in (worst, seen)]
    if ends[0] == ends[1]:
        return ""
    way = "low" if higher else "high"
    return f"; if cases fail that are rarer than these show, it may be as {way} as {ends[0]}"


def _cases(results: SubmissionResults, names: Names, task: Task, metric: Metric | None) -> tuple[str, str]:
    """Return on which cases a metric rests, or without one its task, and their number alone."""
    expected = results.metrics.cases.expected
    if metric:
        entering = int((np.asarray(metric.estimator.strata(results.tables[task.name])) >= 0).sum())
    else:
        forms = results.phase.cases.forms if task.fields else ()
        entering = sum(any(field.cases(case) for field in task.fields) for case in forms) or expected
    number = names.cases(entering)
    return number if entering == expected else f"{entering:,} of {names.cases(expected)}", number


def _phrase(phase: Phase, task: Task, metric: Metric) -> tuple[str, str, MetricTable | None]:
    """Return the card of a metric and its phrase, both empty where there is none, and its declaration."""
    tables = metric_tables(phase.options, task.name)
    table = table_of_figure(tables, metric.name)
    if own := _WORDS["challenges"].get(f"{phase.challenge.name}.{task.name}.{metric.name}"):
        return metric.name, own, table
    if tables:
        card = table.metric if table else ""
    else:
        parts = (metric.name, metric.name.partition("_")[0], metric.name.rpartition("_")[2])
        card = next((part for part in parts if part in _WORDS["metrics"]), "")
    return card, _WORDS["metrics"].get(card, ""), table


def _regions(results: SubmissionResults, names: Names, metric: Metric) -> str:
    titles = {field.name: field.title for task in results.tasks for field in task.fields}
    found = [names.of(name or titles.get(metric.field, "")) for name in metric.structures]
    _, separator, region = metric.title.rpartition(", ")
    if separator and len(found) > 1:
        return region  # of several labels, by the name that tables show
    return listed(found) if found else "the structures"


def _value(results: SubmissionResults, task: Task, metric: Metric) -> str:
    value = results.metrics.aggregates[task.name][metric.name].value
    digits = digits_of(results.phase.config, f"{task.name}.{metric.name}").value
    unit = "pixels" if metric.unit == "px" else metric.unit
    return shown(value, digits) + (f" {unit}" if unit else "")


def place_sentence(results: SubmissionResults) -> Iterator[str]:
    """Yield the places among known teams, overall before its parts, with those that are as good."""
    names, parts = names_of(results.phase), list[str]()
    places = results.metrics.ranking.places or {}
    for name, place in sorted(places.items(), key=lambda one: one[0] != "overall"):
        where = name if name == "overall" else f"in {names.of(name)}"
        tied = f", as good as {place.tied} more" if place.tied else ""
        better, known = place.teams - place.place - place.tied, "" if parts else "known teams "
        parts.append(f"{better} of {place.teams - 1} {known}{where} (place {place.place}{tied})")
    if parts:
        yield f"It is better than {listed(parts)}."


def failure_sentence(results: SubmissionResults) -> str:
    """Return how many cases were scored, and what became of the others."""
    cases, names = results.metrics.cases, names_of(results.phase)
    all_cases = names.cases(cases.expected)
    if not cases.worst and cases.scored == cases.expected:
        return f"All {all_cases} were scored."
    lost = names.cases(cases.worst)
    verb = "counts" if cases.worst == 1 else "count"
    failed = f"; {lost} failed or are missing and {verb} as the worst possible result" if cases.worst else ""
    failed = failed.replace(" are missing", " is missing") if cases.worst == 1 else failed
    return f"{cases.scored:,} of {all_cases} were scored{failed}."
