"""Phases from the starter kits that the platform gives for a challenge, as they are declared here.

Kinds are those of `InterfaceKindChoices` in comic/grand-challenge.org.
"""

import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluation.core.fault import PhaseError
from evaluation.organiser.starter import kit, repository
from evaluation.organiser.starter.kit import Interface, KitPhase, Socket
from evaluation.organiser.starter.repository import write_sample

# --- What the platform's kinds are here ---

_CONTENT_OF_KIND = {
    "Chart": "chart-metrics", "Anything": "metrics", "PDF file": "pdf", "CSV file": "csv", "String": "text",
    "Float": "score",
}  # fmt: skip
"""What is written to an additional output of an evaluation, by the platform's kind."""
_EXTENSIONS = (".json", ".pdf", ".csv")


# --- What a socket probably holds: its kind tells no meaning, its example and its name may ---


@dataclass(frozen=True)
class Declaration:
    """The lines of a field, a metric that it usually has, and the guess that an organiser checks, if any."""

    lines: str
    metric: str
    guess: str = ""


_OF_KIND = {
    kind: Declaration(**words) for kind, words in tomllib.loads(repository.template("kinds.toml")).items()
}
"""The platform's kinds of outputs that can be declared, with their usual content."""

# What the platform gives as the example of a number that has none.
_NO_EXAMPLE = (None, 42)
_QUANTITIES = re.compile(
    "volume|size|area|diameter|length|width|height|thickness|distance|depth|count|number|age|time|day|month|year|dose"
    "|angle|weight|mass|pressure|temperature|density|ratio-in|(^|-)(ml|mm|cm|um|mg|kg|hu|suv|bpm)($|-)"
)


def declaration_of(kind: str, slug: str, example: Any) -> Declaration | None:
    """Return how an output is declared, None for a kind that has no field.

    kind: the platform's kind, and for one that may hold anything that of its example.
    """
    if kind in ("Float", "Integer"):
        return _of_number(kind, slug, example)
    if kind.startswith("Anything") and (classes := _classes(example)):
        named = f"classes = {json.dumps(classes)}"
        if math.isclose(sum(example.values()), 1, abs_tol=1e-3):
            lines = f'kind = "class_probabilities"\n{named}'
            return Declaration(lines, "brier_score", "probabilities of the classes in its example")
        lines = f'kind = "presence_probabilities"\n{named}'
        return Declaration(lines, "macro_average_precision", "probabilities of the findings in its example")
    return _OF_KIND.get(kind)


def _classes(example: Any) -> Sequence[str]:
    """Return the keys of an object of at least two numbers from 0 to 1, else nothing."""
    if not isinstance(example, dict) or len(example) < 2:
        return ()
    numbers = [value for value in example.values() if isinstance(value, int | float)]
    return list(example) if len(numbers) == len(example) and all(0 <= one <= 1 for one in numbers) else ()


def _of_number(kind: str, slug: str, example: Any) -> Declaration:
    """Return a likelihood, or a quantity with bounds around its example."""
    usual = _OF_KIND[kind]
    given = example not in _NO_EXAMPLE and isinstance(example, int | float) and not isinstance(example, bool)
    by_name = _QUANTITIES.search(slug) is not None
    outside = given and not (0 <= example <= (1 if kind == "Float" else 100))
    if not (outside or (by_name and kind == "Float")):
        return Declaration(usual.lines, usual.metric, "a likelihood from 0 to 1" if kind == "Float" else "")
    size = abs(example) if given else 100
    highest = 10 ** max(0, math.ceil(math.log10(size)) if size else 0)
    lowest = -highest if given and example < 0 else 0
    if size > highest / 2:
        highest *= 10
    source = f"its example {example}" if given else "its name"
    lines = f'kind = "number"\nminimum = {lowest}\nmaximum = {highest}'
    return Declaration(
        lines, "mean_absolute_error", f"a quantity from {lowest} to {highest}, guessed from {source}"
    )


# --- A phase of a kit as it is declared ---


@dataclass
class _Phase:
    """A phase of a kit as it is declared, with notes for the organiser and reasons to leave it out.

    ``names``: of the fields by socket; ``metrics``: the usual one of each field.
    """

    given: KitPhase
    names: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def note(self, text: str) -> str:
        """Keep a note and return it as a comment."""
        self.notes.append(text)
        return f"# {text}"

    def configuration(self, name: str, title: str) -> str:
        """Return the `phase.toml`; without ``problems`` it is complete."""
        head = [f"name = {json.dumps(name)}", f"title = {json.dumps(title)}", 'submission = "algorithm"']
        head += [
            self.note(f"the evaluation's input {unused.slug} ({unused.kind}) is not used")
            for unused in self.given.evaluation_additional_inputs
        ]
        tables = list(self._fields())
        if not self.names:
            found = ", ".join(f"{one.slug} ({one.content})" for one in self._every_output) or "none"
            self.problems.append(f"expected an output that a kind of field is like, found {found}")
        outputs = list(self._outputs())
        inputs, interfaces = self._interfaces()
        declared = (line for name, of in interfaces.items() for line in ("", f"[interfaces.{name}]", *of))
        tasks = self._tasks(interfaces)
        return "\n".join([*head, *inputs, *tables, *outputs, *declared, *tasks, ""])

    @property
    def _every_output(self) -> list[Socket]:
        sockets = (socket for interface in self.given.algorithm_interfaces for socket in interface.outputs)
        return list({socket.slug: socket for socket in sockets}.values())

    def _fields(self) -> Iterator[str]:
        """Yield the tables of the fields, and a comment for each output that has none."""
        for socket in self._every_output:
            declaration = declaration_of(socket.content, socket.slug, socket.example_value)
            place = f"output {socket.slug} ({socket.content})"
            yield ""
            if declaration is None:
                yield self.note(f"gap: {place} is not scored: no kind of field is like it")
                continue
            if declaration.guess:
                yield self.note(f"{place} is declared as {declaration.guess}: correct it if it is not")
            name = self.names[socket.slug] = _name(socket.slug, self.metrics)
            self.metrics[name] = declaration.metric
            yield f"# {place}"
            yield f"[fields.{name}]"
            yield from declaration.lines.splitlines()
            yield f"socket = {json.dumps(socket.slug)}"
            yield f"output = {json.dumps(socket.relative_path)}"

    def _outputs(self) -> Iterator[str]:
        """Yield the table of the evaluation's additional outputs; one that cannot be written is a gap."""
        sockets = self.given.evaluation_additional_outputs
        if sockets:
            yield from ("", "[outputs]")
        for socket in sockets:
            content = _CONTENT_OF_KIND.get(socket.kind)
            if content is None or not socket.relative_path.endswith(_EXTENSIONS):
                yield self.note(
                    f"gap: additional output {socket.slug} ({socket.kind}): nothing can be written there, "
                    "and every evaluation without it fails; ask the platform's support to detach it"
                )
            else:
                if socket.kind != socket.content:
                    self.note(
                        f"additional output {socket.slug} gets metrics.json: if it has a schema, ask the "
                        "platform's support to detach it from the phase"
                    )
                yield f"{json.dumps(socket.relative_path)} = {json.dumps(content)}"

    def _interfaces(self) -> tuple[list[str], dict[str, list[str]]]:
        """Return the key of the input socket, or the lines of each interface by name.

        Interfaces of the same outputs, whose jobs are all named like their cases, need no tables.
        """
        found: dict[str, list[str]] = {}
        keys: list[str] = []
        by_value = False
        for interface in self.given.algorithm_interfaces:
            key = min(interface.inputs, key=lambda socket: socket.identifies)
            together = [one.slug for one in interface.inputs if one.identifies == key.identifies]
            lines = [f"inputs = {json.dumps([socket.slug for socket in interface.inputs])}"]
            lines.append(f"fields = {json.dumps(list(self._fields_of(interface)))}")
            if key.super_kind.casefold() == "value":
                lines.append(f"input_socket = {json.dumps(together if len(together) > 1 else key.slug)}")
                lines.append('match = "value"')
                by_value = True
                place = "the column input_value of cases.csv"
                self.note(f"jobs are told apart by the value of {' and '.join(together)}, {place}")
                if all(one.kind == "Bool" for one in interface.inputs if one.slug in together):
                    self.problems.append(f"input {' and '.join(together)} (Bool) cannot tell its cases apart")
            else:
                lines.append(f"input_socket = {json.dumps(key.slug)}")
            if key.is_json_file:
                self.note(
                    f"input {key.slug} is a JSON file: it tells jobs apart only if each was uploaded under "
                    "the name of its case"
                )
            keys.append(key.slug)
            found[_name(key.slug, found)] = lines
        fields = {frozenset(self._fields_of(one)) for one in self.given.algorithm_interfaces}
        if len(fields) == 1 and not by_value:
            return [f"input_socket = {json.dumps(list(dict.fromkeys(keys)))}"], {}
        return [], found

    def _fields_of(self, interface: Interface) -> Iterator[str]:
        return (self.names[socket.slug] for socket in interface.outputs if socket.slug in self.names)

    def _tasks(self, interfaces: Mapping[str, Sequence[str]]) -> Iterator[str]:
        """Yield a task for the fields that the same interfaces have."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for name in self.metrics:
            owners = zip(interfaces, self.given.algorithm_interfaces, strict=False)
            having = tuple(of for of, one in owners if name in self._fields_of(one))
            groups.setdefault(having, []).append(name)
        tasks: dict[str, None] = {}
        for owned_by, names in groups.items():
            task = _name("_".join(owned_by) if len(groups) > 1 else "all", tasks)
            tasks[task] = None
            yield from ("", f"[tasks.{task}.metrics]")
            for name in names:
                metric, _, options = self.metrics[name].partition(" = ")
                more = f", {options.strip('{} ')}" if options else ""
                yield f'{name}_{metric} = {{ metric = "{metric}", field = "{name}"{more} }}'


def _name(slug: str, used: Iterable[str]) -> str:
    """Return a name for tables, made of a slug, that is not used yet.

    With a metric it is a title that the platform takes.
    """
    name = re.sub(r"^[^a-z]+", "", slug.replace("-", "_"))[:42] or "output"
    while name in used:
        name += "_2"
    return name


# --- The repositories ---


@dataclass(frozen=True)
class FromKits:
    """The folders of the phases that were written, notes on them, and why others were left out."""

    folders: tuple[Path, ...]
    notes: tuple[str, ...]
    left_out: tuple[str, ...]


def write_from_kits(folder: Path, *files: Path) -> FromKits:
    """Write a repository for the phases of starter kits below a folder that is new or empty.

    Each has a `phase.toml` with a field for each output socket that has a kind here, synthetic cases with
    jobs, and the files for an image. Kinds, labels and metrics are usual for the sockets' kinds, for the
    organiser to correct. A phase is left out if no output has a kind here, or if its jobs cannot be told
    apart. Raises `PhaseError` for a file that is no kit, and where no phase is left.
    """
    contents, notes, left_out = {}, [], []
    found = [(file.name, _Phase(phase)) for file in files for phase in kit.phases_of(file)]
    for name, phase in found:
        place = folder / phase.given.slug
        if place in contents:
            raise PhaseError(f"{name}: phase {phase.given.slug} is in another of the files already")
        title = phase.given.slug.replace("-", " ").replace("_", " ").capitalize()
        text = phase.configuration(repository.phase_name(place), title)
        left_out += [f"phase {phase.given.slug}: left out: {problem}" for problem in phase.problems]
        if not phase.problems:
            contents[place] = (phase, title, text)
            notes += [f"phase {phase.given.slug}: {note}" for note in phase.notes]
    if not contents:
        raise PhaseError(*(f"{files[0].name}: {problem}" for problem in left_out))
    repository.require_empty(folder)
    for place, (phase, title, text) in contents.items():
        (place / repository.PHASE).mkdir(parents=True)
        (place / repository.PHASE / "phase.toml").write_text(text, encoding="utf-8")
        inputs = (socket for one in phase.given.algorithm_interfaces for socket in one.inputs)
        sockets = {socket.slug: socket.described() for socket in inputs}
        write_sample(place / repository.PHASE, place / repository.SUBMISSION, sockets)
        repository.write_surroundings(place, repository.phase_name(place), title, len(contents) == 1)
    if len(contents) > 1:
        repository.write_together(folder, {place.name: title for place, (_, title, _) in contents.items()})
    return FromKits(tuple(contents), tuple(notes), tuple(left_out))
