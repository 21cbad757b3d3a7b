"""The inputs of `rank`: results and ranking schemes."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from evaluation.core.scheme import Method, Scheme
from evaluation.phase import home
from evaluation.ranking.results import PhaseResults, RankingError
from evaluation.ranking.results_folder import TEAMS, read_results
from evaluation.ranking.scheme_choice import scheme_named


def read_all(arguments: argparse.Namespace) -> dict[str, PhaseResults]:
    """Return the results by role, an empty role for a single phase. Raises `RankingError`."""
    paths = paths_of(arguments.results)
    if not any(path.is_file() for path in paths.values()):
        if arguments.metric or arguments.definition:
            raise RankingError("--metric and --definition describe a table, and none is given")
        if arguments.ground_truth is not None:
            home.load_beside(arguments.ground_truth)
        return {role: read_results(path) for role, path in paths.items()}
    from evaluation.ranking.tables.definition import read_definition
    from evaluation.ranking.tables.results import read_results_table

    definition = read_definition(arguments.definition, arguments.metric)
    return {
        role: read_results_table(path, definition) if path.is_file() else read_results(path)
        for role, path in paths.items()
    }


def methods_tables(arguments: argparse.Namespace) -> dict[str, Path]:
    """Return the table of methods by role. Raises `RankingError`."""
    if arguments.output is None:
        raise RankingError("--group-teams writes tables: expected --output FOLDER, found none")
    paths = paths_of(arguments.results)
    tables = {role: arguments.methods or path / TEAMS for role, path in paths.items()}
    if arguments.methods is None and any(path.is_file() for path in paths.values()):
        raise RankingError("--group-teams: a table of results needs --methods CSV")
    return tables


def chosen_scheme(arguments: argparse.Namespace, results: PhaseResults) -> Scheme:
    """Return the scheme that the options choose. Raises `RankingError`."""
    scheme = scheme_named(arguments.scheme, results, arguments.ground_truth)
    given = {
        key: value
        for key in ("quantile", "alpha", "adjust")
        if (value := getattr(arguments, key)) is not None
    }
    try:
        method: Method = replace(scheme.method, **given)
    except ValueError as error:
        raise RankingError(f"--{error}") from None
    return replace(scheme, method=method, ties=arguments.ties or scheme.ties)


def paths_of(given: list[str]) -> dict[str, Path]:
    """Return paths by role, an empty role for a single one. Raises `RankingError`."""
    if len(given) == 1 and (Path(given[0]).exists() or "=" not in given[0]):
        return {"": Path(given[0])}
    paths: dict[str, Path] = {}
    for text in given:
        role, equals, path = text.partition("=")
        if not equals or not role or not path or role in paths:
            raise RankingError(f"{text}: expected PHASE=FOLDER or PHASE=CSV, every phase once")
        paths[role] = Path(path)
    return paths
