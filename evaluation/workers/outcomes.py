"""The outcomes of a batch on their way from a scorer, which is trusted, to the main process.

The rows of a task are packed column by column and stay columns in the main process.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence

from evaluation.core.outcome import Outcome, Scored
from evaluation.core.row_columns import RowColumns, packed_column

_Layout = tuple[tuple[str, tuple[str, ...]], ...]
"""The tasks of a case, each with the names of its columns."""


def packed_outcomes(outcomes: Sequence[Outcome]) -> bytes:
    """Return the outcomes as bytes for `unpacked_outcomes`. Raises the exceptions of pickle."""
    numbers_of: dict[_Layout, list[int]] = {}
    others: dict[int, Outcome] = {}
    about: dict[int, tuple[tuple[str, ...], str | None]] = {}
    for number, outcome in enumerate(outcomes):
        if not isinstance(outcome, Scored):
            others[number] = outcome
            continue
        layout = tuple((task, tuple(row)) for task, row in outcome.rows.items())
        numbers_of.setdefault(layout, []).append(number)
        if outcome.worst or outcome.failure is not None:
            about[number] = outcome.worst, outcome.failure
    tables = []
    for layout, numbers in numbers_of.items():
        rows = [outcomes[number].rows for number in numbers]  # type: ignore[union-attr]
        columns = [
            [packed_column([of_case[task][name] for of_case in rows]) for name in names]
            for task, names in layout
        ]
        tables.append((layout, numbers, columns))
    return pickle.dumps((tables, about, others))


def unpacked_outcomes(data: bytes | memoryview) -> list[Outcome]:
    """Return the outcomes. Raises the exceptions of pickle."""
    tables, about, others = pickle.loads(data)  # noqa: S301 - of a scorer
    outcomes: dict[int, Outcome] = dict(others)
    for layout, numbers, columns in tables:
        tasks = [task for task, _ in layout]
        rows = [
            RowColumns(dict(zip(names, of_task, strict=True)), len(numbers)).rows()
            for (_, names), of_task in zip(layout, columns, strict=True)
        ]
        for number, *of_case in zip(numbers, *rows, strict=True):
            scored = dict(zip(tasks, of_case, strict=True))
            outcomes[number] = Scored(scored, *about[number]) if number in about else Scored(scored)
    return [outcomes[number] for number in range(len(outcomes))]
