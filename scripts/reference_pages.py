"""Writes the pages of docs/ that are made of the code, and the schemas of schemas/.

    .venv/bin/python -m scripts.reference_pages

Those are the keys of `phase.toml`, its kinds and metrics, and what is known of the platforms.
"""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.challenges.declared.aliases import USUAL_NAMES, Meant
from evaluation.challenges.declared.declarable import FIELDS, METRICS, card_of, name_of, names_of
from evaluation.challenges.declared.tables import FieldTable, MetricTable
from evaluation.organiser.phase_schema import phase_schema, tidied
from evaluation.organiser.ranking.leaderboard_file import leaderboard_schema
from evaluation.platform.result_file import metrics_schema
from scripts.platform_facts import FACTS

REPOSITORY = Path(__file__).resolve().parents[1]


def written() -> dict[str, str]:
    """Return the content of each file by its path in the repository."""
    phase = phase_schema()
    schemas = {"metrics": metrics_schema(), "leaderboard": leaderboard_schema(), "phase": phase}
    found = {f"schemas/{name}.schema.json": json.dumps(of, indent=2) + "\n" for name, of in schemas.items()}
    pages = {"phase.md": config_page(phase), "platform.md": platform_page(), **catalogue_pages()}
    return found | {f"docs/{name}": text for name, text in pages.items()}


def _template(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


# --- The page `docs/phase.md`: every key of `phase.toml` in words, made of its JSON schema ---

Schema = Mapping[str, Any]

_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "`true` or `false`",
    "object": "table",
}


def config_page(schema: Schema) -> str:
    """Return the page for the schema of `evaluation.organiser.phase_schema`, in Markdown."""
    return "\n".join([_template("phase.md"), *_sections(schema)])


def _sections(schema: Schema) -> Iterator[str]:
    definitions: Mapping[str, Schema] = schema["$defs"]
    yield "## Keys of the phase\n"
    yield from _keys(schema, "", definitions)
    for key, part in schema["properties"].items():
        if table := _table_of(part):
            header = f"[[{key}]]" if part.get("type") == "array" else f"[{key}]"
            yield f"## `{header}`\n\n{_description(part, definitions)}\n"
            yield from _keys(definitions[table], f"{key}.", definitions)
        # The tables in a table of tables, unless they are a choice of several.
        for alternative in part.get("anyOf", (part,)):
            for named in alternative.get("patternProperties", {}).values():
                if table := _table_of(named):
                    yield f"## `[{key}.<name>]`\n\n{_description(definitions[table], definitions)}\n"
                    yield from _keys(definitions[table], f"{key}.<name>.", definitions)
    for condition in schema["allOf"]:
        challenge = condition["if"]["properties"]["challenge"]["const"]
        options = definitions[f"options.{challenge}"]
        yield f"## Options of {challenge}\n\n{_description(options, definitions)}\n"
        yield from _keys(options, "options.", definitions)
        for key, part in options.get("properties", {}).items():
            if table := _table_of(part):
                yield from _keys(definitions[table], f"options.{key}.", definitions)


def _keys(table: Schema, prefix: str, definitions: Mapping[str, Schema]) -> Iterator[str]:
    for key, part in table.get("properties", {}).items():
        yield f"### `{prefix}{key}`\n\n*{_facts(table, key)}*\n\n{_description(part, definitions)}\n"


def _facts(table: Schema, key: str) -> str:
    part = table["properties"][key]
    return f"{_type(part)}, {'required' if key in table.get('required', ()) else _default(part)}"


def _table_of(part: Schema) -> str:
    """Return the name of the definition that a key's value, or each of its entries, follows; else nothing."""
    reference: str = part.get("$ref", "") or part.get("items", {}).get("$ref", "")
    return reference.removeprefix("#/$defs/")


def _type(part: Schema, plural: str = "") -> str:
    if "$ref" in part:
        return f"table{plural}"
    if "enum" in part:
        return " or ".join(f"`{json.dumps(value)}`" for value in part["enum"])
    if "anyOf" in part:
        return " or ".join(_type(alternative) for alternative in part["anyOf"])
    if part.get("format") == "date-time":
        return f"date and time{plural}"
    if part["type"] == "array":
        return f"list of {_type(part['items'], 's')}"
    values = next(iter(part.get("patternProperties", {}).values()), part.get("additionalProperties"))
    if isinstance(values, Mapping):
        tables = "$ref" in values or all("$ref" in table for table in values.get("anyOf", ({},)))
        return f"table of tables{plural}" if tables else f"table, each value {_type(values)}"
    return _TYPES[part["type"]] + plural + _bounds(part)


def _bounds(part: Schema) -> str:
    low, high = part.get("minimum"), part.get("maximum")
    above, length = part.get("exclusiveMinimum"), part.get("maxLength")
    words = [
        f" of at most {length} characters" if length is not None else "",
        f" above {above:g}" if above is not None else "",
        f" and at most {high:g}" if above is not None and high is not None else "",
        f" from {low:g} to {high:,}" if low is not None and high is not None else "",
        f" of at least {low:g}" if low is not None and high is None else "",
    ]
    return "".join(words)


def _default(part: Schema) -> str:
    default = part.get("default")
    return "optional" if default in (None, "", [], {}) else f"default `{_toml(default)}`"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def _description(part: Schema, definitions: Mapping[str, Schema]) -> str:
    described = part if "description" in part else definitions[_table_of(part)]
    return _each_paragraph_on_one_line(described["description"])


def _each_paragraph_on_one_line(text: str) -> str:
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)


# --- The page `docs/platform.md`: what is known of the platforms, and since when ---


def platform_page() -> str:
    """Return the page in Markdown."""
    rows = [
        f"| {fact.subject} | {fact.text} | {fact.seen} | {fact.source} |\n"
        for fact in sorted(FACTS, key=lambda fact: fact.subject.casefold())
    ]
    return _template("platform.md") + "".join(rows)


# --- `docs/catalogue.md` and a page for each family: every kind and every metric that can be declared ---

_Table = type[FieldTable] | type[MetricTable]
_COMMON = {*FieldTable.model_fields, *MetricTable.model_fields}
_FEWEST_SHARING = 3


def catalogue_pages() -> dict[str, str]:
    """Return the pages in Markdown by file name: which metric for a task, the kinds, and each family."""
    families = tomllib.loads(_template("families.toml"))
    page_of = {
        metric: f"metrics-{family}.md"
        for family, words in families.items()
        for _, metrics in words["questions"]
        for metric in metrics
    }
    unasked = set(map(name_of, METRICS)) - set(page_of)
    assert not unasked, f"families.toml has no question for {', '.join(sorted(unasked))}"
    found = {"catalogue.md": "\n".join([_template("catalogue.md"), *_catalogue_sections(families, page_of)])}
    shared = _shared_keys(METRICS)
    for family, words in families.items():
        here = f"metrics-{family}.md"
        found[here] = "\n".join(_family_sections(words, page_of, here, shared))
    return found


_SPELLED = {
    "brier": "Brier score",
    "c_index": "C-index",
    "cindex": "C-index",
    "cldice": "clDice",
    "f1_score": "F1 score",
    "hausdorff95": "Hausdorff95",
    "iou": "IoU",
    "kappa": "kappa",
    "map": "mAP",
    "micro_f1": "micro F1",
    "ms_ssim": "MS-SSIM",
    "pr_auc": "PR AUC",
    "recall": "recall",
    "roc_auc": "ROC AUC",
}
_LONGEST_ABBREVIATION = 5


def _as_written(name: str) -> str:
    """Return a usual name as people write it: ``"hd95"`` gives "HD95"."""
    own = name.upper() if len(name) <= _LONGEST_ABBREVIATION else name.replace("_", " ")
    return _SPELLED.get(name, own)


def _links(metrics: Iterable[str], page_of: Mapping[str, str], here: str = "") -> str:
    return ", ".join(f"[`{name}`]({page_of[name].removeprefix(here)}#metric-{name})" for name in metrics)


def _questions(words: Mapping[str, Any], page_of: Mapping[str, str], here: str = "") -> Iterator[str]:
    yield f"{words['text']}\n\n| what matters | metrics |\n|---|---|"
    for question, metrics in words["questions"]:
        yield f"| {question} | {_links(metrics, page_of, here)} |"
    yield ""


def _catalogue_sections(
    families: Mapping[str, Mapping[str, Any]], page_of: Mapping[str, str]
) -> Iterator[str]:
    for family, words in families.items():
        yield f"### {words['title']}\n\nThe algorithm gives {words['asked']}."
        yield f"[All keys](metrics-{family}.md).\n"
        yield from _questions(words, page_of)
    yield "## Usual names\n\n| also called | metric |\n|---|---|"
    for meant in dict.fromkeys(map(tuple, USUAL_NAMES.values())):
        names = [
            name for name, of in USUAL_NAMES.items() if tuple(of) == meant and METRICS.named(name) is None
        ]
        metrics = (f"{_links([one.metric], page_of)}{_with_keys(one)}" for one in meant)
        yield f"| {', '.join(dict.fromkeys(map(_as_written, names)))} | {'; '.join(metrics)} |"
    yield "\n## Keys of every metric\n"
    yield from (entry.line for entry in _keys_of(MetricTable))
    yield "\n## Keys that several metrics share\n"
    yield "A metric names those that it has. Where its default is another one, it says so.\n"
    yield from sorted(entry.line for entry in _shared_keys(METRICS).values())
    yield "\n## Kinds of fields\n\nEvery kind has these keys:\n"
    yield from (entry.line for entry in _keys_of(FieldTable))
    shared = _shared_keys(FIELDS)
    yield "\n### Keys that several kinds share\n\nA kind names those that it has.\n"
    yield from sorted(entry.line for entry in shared.values())
    yield ""
    for field in sorted(FIELDS, key=name_of):
        scored_by = sorted(name_of(metric) for metric in METRICS if issubclass(field, metric.kinds))
        links = _links(scored_by, page_of) or "none; those of other kinds use it"
        yield f"### Kind `{name_of(field)}`\n\n{_prose(field)}\n\nMetrics: {links}\n"
        yield from _own_keys(field, shared, "#keys-that-several-kinds-share")


def _with_keys(meant: Meant) -> str:
    return f" with `{meant.keys}`" * bool(meant.keys) + f" ({meant.note})" * bool(meant.note)


def _family_sections(
    words: Mapping[str, Any], page_of: Mapping[str, str], here: str, shared: Mapping[str, _KeyEntry]
) -> Iterator[str]:
    yield f"# {words['title']}: metrics\n"
    yield "*After this page you know what a metric computes. For organisers, 5 minutes to look one up.*\n"
    yield f"The algorithm gives {words['asked']}. [Kinds and metrics](catalogue.md) has the other families,"
    yield "and the keys that every metric has.\n"
    yield from _questions(words, page_of, here)
    for metric in sorted(METRICS, key=name_of):
        if page_of[name_of(metric)] == here:
            kinds = ", ".join(f"[`{one}`](catalogue.md#kind-{one})" for one in names_of(metric.kinds))
            yield f"## Metric `{name_of(metric)}`\n\n{_prose(metric)}\n\nKinds: {kinds}\n"
            yield from _own_keys(metric, shared, "catalogue.md#keys-that-several-metrics-share")


@dataclass(frozen=True)
class _KeyEntry:
    """A key as a page tells it: its type and default in words, and what it means."""

    key: str
    facts: str
    description: str

    @property
    def line(self) -> str:
        return f"- `{self.key}` ({self.facts}): {self.description}"


def _keys_of(table: _Table) -> list[_KeyEntry]:
    schema: dict[str, Any] = tidied(table.model_json_schema())
    definitions = schema.pop("$defs", {})
    return [
        _KeyEntry(key, _facts(schema, key), _description(part, definitions))
        for key, part in schema["properties"].items()
        if key not in ("kind", "metric")
    ]


def _shared_keys(tables: Iterable[_Table]) -> dict[str, _KeyEntry]:
    """Return the keys that several tables describe alike, which a page tells once, by their names."""
    told = Counter(entry for table in tables for entry in _keys_of(table) if entry.key not in _COMMON)
    found: dict[str, _KeyEntry] = {}
    for entry, number in told.most_common():
        if number >= _FEWEST_SHARING:
            found.setdefault(entry.key, entry)
    return found


def _own_keys(table: _Table, shared: Mapping[str, _KeyEntry], place: str) -> Iterator[str]:
    """Yield the keys that a table alone has, then the names of those that it shares."""
    entries = [entry for entry in _keys_of(table) if entry.key not in _COMMON]
    names = []
    for entry in entries:
        told = shared.get(entry.key)
        if told is None or told.description != entry.description:
            yield entry.line
        else:
            names.append(f"`{entry.key}`" + f" ({entry.facts})" * (told.facts != entry.facts))
    if names:
        yield f"- [Shared]({place}): {', '.join(names)}"
    yield ""


def _prose(table: _Table) -> str:
    if issubclass(table, MetricTable):
        return card_of(table)
    return _each_paragraph_on_one_line(inspect.cleandoc(table.__doc__ or ""))


if __name__ == "__main__":
    for place, content in written().items():
        (REPOSITORY / place).write_text(content, encoding="utf-8")
