"""The decisions of single graders, as operating points beside a submission's curve."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluation.challenges.justraigs.kinds import LABEL_COLUMNS
from evaluation.challenges.justraigs.rules import NOT_REFERABLE, REFERABLE
from evaluation.charts.roc import OperatingPoint
from evaluation.metrics.roc import RocTable
from evaluation.report.results import SubmissionResults

_FEWEST = 10


def grader_points(
    results: SubmissionResults, label: str, names: tuple[str, ...], table: RocTable
) -> Iterator[OperatingPoint]:
    """Yield the sensitivity and specificity of each grader of JustRAIGS against the final label.

    Only graders with at least ten positive and ten negative eyes among ``names``. Where graders agree, their
    label is the final one, which favours their points over anyone else's.
    """
    if results.phase.challenge.name != "justraigs" or label != "referable":
        return
    cells = {case.name: case.cells for case in results.cases}
    for column in LABEL_COLUMNS:
        labels = np.array([cells[name].get(column, "") for name in names])
        called, answered = labels == REFERABLE, np.isin(labels, (REFERABLE, NOT_REFERABLE))
        positive, negative = answered & table.positive, answered & ~table.positive
        if min(positive.sum(), negative.sum()) >= _FEWEST:
            name = f"grader {column.rpartition('_')[2].upper()}"
            yield OperatingPoint(name, float(called[negative].mean()), float(called[positive].mean()))
