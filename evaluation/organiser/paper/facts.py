"""Sentences on design, data, methods, results and limits of a challenge, each with its source."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from evaluation import __version__
from evaluation.challenges.declared.declarable import card_of
from evaluation.challenges.declared.rules import metric_tables, table_of_figure
from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.intervals import field_method, unseen_method
from evaluation.core.metric import Metric
from evaluation.core.resampling import CLUSTER_COLUMN
from evaluation.io.json_files import read_json
from evaluation.organiser.audit import Disclosure, audit, in_words
from evaluation.organiser.describe import Description, describe
from evaluation.organiser.output import p_text
from evaluation.organiser.paper.questions import Answers, Fact, environment_of, packaged
from evaluation.organiser.ranking.leaderboard_file import Leaderboard, OrganiserPart
from evaluation.organiser.report.board.leaderboard import reported_phases
from evaluation.organiser.report.board.methods import methods_paragraphs
from evaluation.organiser.report.board.reading import ReportedPhase, size_in_words, words_of
from evaluation.organiser.report.page import figure_in_words, listed
from evaluation.organiser.report.sentences import Names, names_of
from evaluation.organiser.report_library import leaderboard_in
from evaluation.phase.config import FILE_NAME as CONFIG
from evaluation.phase.phase import Phase
from evaluation.platform.result_file import FILE_NAME as METRICS_FILE

# --- The files that a paper is made of ---


@dataclass(frozen=True)
class Study:
    """Phases and their results; ``folders`` hold reports of other commands, the leaderboard's first.

    ``disclosures``: what published results reveal, by name of the phase.
    """

    phases: tuple[Phase, ...]
    board: Leaderboard
    parts: tuple[OrganiserPart, ...]
    description: Description
    disclosures: Mapping[str, Disclosure]
    folders: tuple[Path, ...]
    answers: Answers

    @cached_property
    def reported(self) -> list[ReportedPhase]:
        """The phases of the leaderboard, in its order."""
        return reported_phases(self.board, self.parts)

    @cached_property
    def names(self) -> Names:
        """Words for names in the files of the phases."""
        return names_of(*self.phases)

    def phase_of(self, reported: ReportedPhase) -> Phase:
        """Return the phase whose results these are."""
        return next(one for one in self.phases if one.manifest.digest == reported.board.manifest)

    def report(self, name: str) -> Path | None:
        """Return the file of that name in the first folder that has it."""
        return next((folder / name for folder in self.folders if (folder / name).is_file()), None)


def read_study(phases: Sequence[Phase], folders: Sequence[Path], answers: Answers, workers: int) -> Study:
    """Return the facts of a paper.

    Raises `PhaseError` for results of a phase that is not given, and with every fault of the references.
    """
    board, parts = leaderboard_in(folders[0])
    digests = [phase.manifest.digest for phase in phases]
    names = ", ".join(f"{one.config.name} ({one.manifest.digest[:12]}…)" for one in phases)
    PhaseError.raise_all(
        [
            f"{folders[0]}: holds results of {one.phase} with the seal {one.manifest[:12]}…; "
            f"expected this phase among those given, found {names}"
            for one in board.phases
            if one.manifest not in digests
        ]
    )
    description = describe(list(phases))
    disclosures = {
        phase.config.name: audit(phase, workers)
        for phase in phases
        if any(phase.manifest.digest == one.manifest for one in board.phases)
    }
    return Study(tuple(phases), board, parts, description, disclosures, tuple(folders), answers)


# --- The facts by item: most from a template, those on metrics and tests from cards and comparisons ---


def facts_of(study: Study) -> dict[str, list[Fact]]:
    """Return the facts of a paper by the item of BIAS that they answer."""
    found: dict[str, list[Fact]] = {}
    written: dict[str, Fact] = {}
    for phase in study.phases:
        cards = (metric_fact(phase, task.name, metric) for task in phase.tasks for metric in task.metrics)
        written |= {fact.plain: fact for fact in cards}
        boards = [one.board for one in study.reported if one.board.manifest == phase.manifest.digest]
        without = {name for of in boards for name, one in of.metrics.items() if one.no_intervals}
        found.setdefault("statistics", []).extend(interval_facts(phase, without))
    found["metrics"] = list(written.values())
    for one in study.reported:
        for name in one.ranked_metrics:
            source = f"leaderboard.json: metrics.{name}.comparisons"
            sentences = [Fact(text, source) for text in sentences_of_tests(one, name)]
            found.setdefault("metric_values", []).extend(sentences)
    results = (path for folder in study.folders for path in sorted(folder.glob(f"*/{METRICS_FILE}")))
    lost = ((path.parent.name, read_json(path).get("cases", {}).get("worst", 0)) for path in results)
    path = study.report("report.json")
    fused = None if path is None else read_json(path)
    written_facts = facts_in(
        "facts.txt",
        study=study,
        version=__version__,
        fused=fused if fused and "agreement" in fused else None,
        classes={row.quantity.name for row in study.description.classes},
        lost=[(name, worst) for name, worst in lost if worst],
        fields_of=fields_of,
    )
    return {item: found.get(item, []) + written_facts.get(item, []) for item in {**found, **written_facts}}


def _methods(phase: ReportedPhase, study: Study) -> Iterator[tuple[str, str]]:
    """Yield the paragraphs of a report on the methods of a phase, each with the item that it answers."""
    paragraphs = [text for text in methods_paragraphs(phase) if "References: " not in text[:12]]
    for name, key in TEXTS["citations"].items():
        paragraphs = [text.replace(f"({name})", f"[@{key}]") for text in paragraphs]
    ranking, *others = paragraphs
    yield "ranking_method", ranking
    prefix = f"{phase.board.phase}: " if len(study.reported) > 1 else ""
    for text in others:
        yield "further_analyses" if text is others[-1] else "statistics", f"{prefix}{text}"


def _one_line(value: object) -> object:
    """Return a value as it stands in one line: a name may hold the end of a line."""
    return " ".join(value.splitlines()) if isinstance(value, str) else value


def _class_in_words(row: Any, study: Study) -> str:
    """Return how many cases have a class, as an author says it."""
    names, title, value = study.names, _without_unit(row.quantity.title), str(row.value)
    told = f"{row.cases} of {row.of} cases ({100 * row.share:.1f} %)"
    known = names.words.get(f"{title.replace(' ', '_')}={value}")
    return f"{told} were {known}" if known else f"In {told}, the {title} was {names.of(value)}"


def _without_unit(title: str) -> str:
    return re.sub(r" \([^)]*\)$", "", title)


def _difference_in_words(row: Any, study: Study) -> str:
    """Return that a quantity differs between two groups of cases, as an author says it."""
    quantity = _without_unit(row.quantity.title)
    for name, words in study.names.words.items():
        quantity = quantity.replace(f" {name}", f" {words}") if words == f"the {name}" else quantity
    column = str(row.grouping).replace(" ", "_")
    groups = [study.names.of_group(column, str(one)) for one in (row.test.first, row.test.second) if one]
    between = listed(groups) if groups else f"groups by {study.names.of(column)}"
    return f"The {quantity} differs between {between}"


def upper_first(text: str) -> str:
    """Return a text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def _as_p(p_value: float, sign: str = "=") -> str:
    told = p_text(p_value)
    return f"p {told}" if told.startswith("<") else f"p {sign} {told}"


FILTERS: Mapping[str, Callable[..., Any]] = {
    "class_in_words": _class_in_words,
    "difference_in_words": _difference_in_words,
    "some": lambda names, most=8: _and_more(list(names), most),
    "words_of": words_of,
    "upper_first": upper_first,
    "pixels": lambda case: f"{case.width} × {case.height} pixels",
    "as_p": _as_p,
    "twodigits": "{:.2g}".format,
    "title_in": lambda name, phase: phase.title_of(name),
    "methods": _methods,
    "in_words": in_words,
}


def facts_in(template: str, **values: Any) -> dict[str, list[Fact]]:
    """Return the facts in a template by item: a line has item, source and text."""
    environment = environment_of(FILTERS, _one_line)
    found: dict[str, list[Fact]] = {}
    for line in environment.get_template(template).render(**values).splitlines():
        item, source, text = line.split("¦", 2)
        if (fact := Fact(text, source)) not in found.setdefault(item, []):
            found[item].append(fact)
    return found


TEXTS = tomllib.loads(packaged("methods.toml"))


def metric_fact(phase: Phase, task: str, metric: Metric) -> Fact:
    """Return the sentences on a metric: definition, range, direction, empty and missing results, source."""
    source, names = f"card of {task}.{metric.name}", {"title": metric.title}
    if tables := metric_tables(phase.options, task):
        table = table_of_figure(tables, metric.name) or next(iter(tables.values()))
        card = " ".join(re.sub(r"Oracle:.*?(?=Source:|$)", "", card_of(type(table)), flags=re.S).split())
        return Fact(f"{metric.title}: {card}", source)
    name = f"{phase.challenge.name}.{task}.{metric.name}"
    for card in TEXTS["metrics"]:
        if any(fnmatchcase(name, pattern) for pattern in card["of"]):
            text = f"{card['text']} {card['empty']}".strip()
            return Fact(text, source, formatted=True, names=names)
    way = "higher" if metric.better == "higher" else "lower"
    return Fact(f"{metric.title} is a figure of the challenge; {way} is better.", source)


def interval_facts(phase: Phase, without: Collection[str] = ()) -> list[Fact]:
    """Return a sentence for each method of intervals in a phase; ``without`` are metrics that have none."""
    clustered, found = CLUSTER_COLUMN in phase.cases.columns, dict[str, list[str]]()
    for task in phase.tasks:
        for metric in task.metrics:
            if f"{task.name}.{metric.name}" in without or metric.no_interval:
                continue
            method, unseen = field_method(metric), unseen_method(metric, clustered)
            if phase.config.interval == "any_distribution" and unseen:
                method, unseen = unseen, None
            text = TEXTS["intervals"][method]
            if unseen and (further := TEXTS["unseen"].get(unseen)):
                text += f"; the bounds that allow for one unseen failure used {further}"
            drawn = f" ({phase.config.resamples} resamples, seed {phase.config.seed})"
            found.setdefault(text + drawn * (method in TEXTS["drawn"]["methods"]), []).append(metric.title)
    return [
        Fact(
            f"95 % intervals of {{titles}} ({{phase}}) used {text}.",
            f"{phase.config.name}/{CONFIG}: seed, resamples, interval",
            formatted=True,
            names={"titles": listed(list(dict.fromkeys(titles))), "phase": phase.config.name},
        )
        for text, titles in found.items()
    ]


# --- Results: only what tests support ---


def sentences_of_tests(phase: ReportedPhase, name: str) -> Iterator[str]:
    """Yield what the tests of a metric say of its best team against all others."""
    metric, title = phase.board.metrics[name], phase.title_of(name)
    ordered = [team for team in phase.by_value(name) if team.eligible]
    if not ordered:
        return
    value = ordered[0].metrics[name]
    first = [team.team for team in ordered if team.metrics[name].value == value.value]
    ends = (value.figure.lower, value.figure.upper)
    known = "" if value.figure.lower is None else " with its 95 % interval"
    best = f"the best value{known} was {figure_in_words(value.value, ends)}, by {_and_more(first)}"
    yield f"{title} in {phase.board.phase}: {best}."
    compared = metric.comparisons.pairs if metric.comparisons else ()
    # Of teams with one value either may stand first.
    pairs = {
        team.team: one
        for team in ordered[1:]
        for one in compared
        if {one.first, one.second} == {team.team, ordered[0].team}
    }
    others = [team.team for team in ordered[1:]]
    if len(first) == 1 and others and (second := pairs.get(others[0])) and second.difference.interval:
        yield f"It differed from that of {others[0]} by {size_in_words(second)}."
    worse = [team for team in others if team in pairs and pairs[team].second_is_worse]
    equal = [team for team in others if team in pairs and pairs[team].significant is False]
    other = [team for team in others if team in pairs and pairs[team].contradicts_order]
    untested = [team for team in others if team not in (*worse, *equal, *other)]
    if worse:
        yield f"{_and_more(worse)} had significantly worse values than {ordered[0].team}."
    if equal:
        least = [p for team in equal if (p := pairs[team].p_holm) is not None]
        told = [f"{phase.board.cases} cases"] if phase.board.cases else []
        told += [f"corrected {_as_p(min(least), '=' if len(least) == 1 else 'from')}"] if least else []
        known = f" ({', '.join(told)})" if told else ""
        yield (
            f"No significant difference from {ordered[0].team} was found for {_and_more(equal)}{known}; "
            "this does not show that they are equal."
        )
    if other:
        yield f"The test found a difference of {_and_more(other)} from {ordered[0].team} against this order."
    if untested:
        yield f"Not tested against {ordered[0].team}: {_and_more(untested)}."


def _and_more(names: Sequence[str], most: int = 8) -> str:
    return listed([*names[:most], f"{len(names) - most} more"] if len(names) > most + 1 else list(names))
