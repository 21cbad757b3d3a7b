"""Other schemes that could have been chosen: another method, a metric left out, another weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import get_args

from evaluation.core.scheme import Board, MethodName, Rank, Scheme, Term

_FACTORS = ((Fraction(1, 2), "− 50 %"), (Fraction(3, 2), "+ 50 %"))


def other_methods(scheme: Scheme) -> Iterator[tuple[str, Scheme]]:
    """Yield the scheme with every other method, by the method's name."""
    for name in get_args(MethodName):
        if name != scheme.method.name:
            yield name, replace(scheme, method=replace(scheme.method, name=name))


def left_out_metrics(scheme: Scheme) -> Iterator[tuple[str, Scheme]]:
    """Yield the scheme without each of its metrics, where any is left; a board without terms is left out."""
    for metric in scheme.metrics:
        if boards := _without(scheme.boards, metric):
            overall = scheme.overall if any(board.name == scheme.overall for board in boards) else None
            phases = scheme.phases if overall else {}
            names = {board.name for board in boards}
            ties = {role: name for role, name in scheme.phase_ties.items() if phases and name in names}
            yield metric, replace(scheme, boards=boards, overall=overall, phases=phases, phase_ties=ties)


def other_weights(scheme: Scheme) -> Iterator[tuple[str, str, Scheme]]:
    """Yield the scheme with each term's weight halved and raised by half, and the term's board.

    A mean becomes a sum, which orders teams alike. Medians have no weights.
    """
    for position, board in enumerate(scheme.boards):
        if len(board.terms) < 2 or board.combination == "median":
            continue
        for index, term in enumerate(board.terms):
            for factor, label in _FACTORS:
                terms = list(board.terms)
                terms[index] = replace(term, weight=term.weight * factor)
                boards = list(scheme.boards)
                boards[position] = replace(board, terms=tuple(terms), combination="sum")
                if term.weight:
                    change = f"{board.name}: {_name(term)} {label}"
                    yield change, board.name, replace(scheme, boards=tuple(boards))


def _without(boards: tuple[Board, ...], metric: str) -> tuple[Board, ...]:
    kept: dict[str, Board] = {}
    for board in boards:
        terms, ties = (
            tuple(term for term in given if _remains(term, metric, kept))
            for given in (board.terms, board.ties)
        )
        if terms:
            kept[board.name] = replace(board, terms=terms, ties=ties)
    return tuple(kept.values())


def _remains(term: Term, metric: str, kept: dict[str, Board]) -> bool:
    return term.metric != metric if isinstance(term, Rank) else term.board in kept


def _name(term: Term) -> str:
    return term.metric if isinstance(term, Rank) else term.board
