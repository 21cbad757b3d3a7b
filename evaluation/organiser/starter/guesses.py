"""What a socket of the platform probably holds: its kind tells no meaning, its example and its name may."""

import json
import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.organiser.starter import repository


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
