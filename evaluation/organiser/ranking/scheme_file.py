"""A ranking scheme by its name, as a TOML file, and as a dictionary for reports."""

import tomllib
from collections.abc import Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

from pydantic import RootModel

from evaluation.core.fault import PhaseError
from evaluation.core.scheme import MethodName, Scheme, Term
from evaluation.core.trouble import raise_trouble_of
from evaluation.organiser.ranking.results import PhaseResults
from evaluation.phase.config import PhaseConfig, read_config
from evaluation.phase.leaderboard import PlatformBoard
from evaluation.phase.places import PLATFORM_METHODS, platform_scheme, scheme_of
from evaluation.phase.validation import InvalidTableError, read_table


def read_scheme(path: Path) -> Scheme:
    """Return the scheme in a TOML file; weights are the exact decimals in the file.

    Raises `PhaseError` listing every fault.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
        return read_table(RootModel[Scheme], content).root
    except InvalidTableError as error:
        raise PhaseError(*error.problems(str(path))) from None
    except (OSError, ValueError) as error:
        raise_trouble_of(error, "read", path)
        raise PhaseError(f"{path}: {error}") from None


def _qualified(scheme: Scheme, tasks: Sequence[str]) -> Scheme:
    """Return a scheme in which metrics without a task's name belong to the only task."""
    if len(tasks) != 1:
        return scheme

    def named(term: Term) -> Term:
        if term.rank is None or "." in term.rank:
            return term
        return replace(term, rank=f"{tasks[0]}.{term.rank}")

    boards = [
        replace(board, terms=tuple(map(named, board.terms)), ties=tuple(map(named, board.ties)))
        for board in scheme.boards
    ]
    return replace(scheme, boards=tuple(boards))


def describe_scheme(scheme: Scheme) -> dict[str, Any]:
    """Return a scheme in the layout of the TOML file, weights as exact text."""
    return {
        "overall": scheme.overall,
        "phases": {role: exact_text(Fraction(weight)) for role, weight in scheme.phases.items()},
        "phase_ties": dict(scheme.phase_ties),
        "complete_only": scheme.complete_only,
        "method": asdict(scheme.method),
        "ties": scheme.ties,
        "boards": [
            {"name": board.name}
            | {part: list(map(_describe_term, getattr(board, part))) for part in ("terms", "ties")}
            | {"combination": board.combination}
            for board in scheme.boards
        ],
    }


def _describe_term(term: Term) -> dict[str, str]:
    given = {name: value for name, value in vars(term).items() if value is not None}
    return {**given, "weight": exact_text(Fraction(term.weight))}


def exact_text(value: Fraction) -> str:
    """Return a fraction as a finite decimal number if there is one, else as "a/b"."""
    decimal = Decimal(value.numerator) / Decimal(value.denominator)
    return str(decimal if Fraction(decimal) == value else value)


def scheme_named(name: str, results: PhaseResults, phase_folder: Path | None = None) -> Scheme:
    """Return a scheme: "challenge", a method of ranking, one of the platform's, or else a TOML file.

    ``phase_folder`` tells the score and columns for the platform's schemes. Raises `PhaseError`.
    """
    if name == "challenge":
        return scheme_of(results.challenge, results.options)
    if name in get_args(MethodName):
        own = scheme_of(results.challenge, results.options)
        method = replace(own.method, name=next(known for known in get_args(MethodName) if known == name))
        return replace(own, method=method)
    if name not in PLATFORM_METHODS:
        return _qualified(read_scheme(Path(name)), [task.name for task in results.tasks])
    if phase_folder is not None:
        config = read_config(phase_folder)
        if config.name != results.phase:
            raise PhaseError(f"{phase_folder}: is {config.name}, the results are of {results.phase}")
    else:
        challenge = results.challenge.name
        # The title of a table is no name of a phase, and no metric depends on it.
        config = PhaseConfig(challenge=challenge, name="results", title="", submission="archive")
    return platform_scheme(name, PlatformBoard(config, results.challenge, results.tasks).ranked)
