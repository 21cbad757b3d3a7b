"""The options of `rank`: which statistics are computed besides places."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.ranking.annotator_scores import Scores
from evaluation.ranking.annotators import ReadColumns
from evaluation.ranking.pair_tests import TestOfMeans
from evaluation.ranking.selection import Which


@dataclass(frozen=True)
class RankOptions:
    """The options of a ranking.

    ``which`` None: the challenge's rule. ``tests`` None: tests for up to a hundred teams. ``resamples``
    None: the phase's number.
    ``compare_with``: the teams that each team without a place is tested against, in addition to `teams.csv`.
    ``subgroups``: columns of the case table. ``classifiers``: columns ("task.column") of the results per
    case, by title, that are reported beside the annotators. ``annotator_scores`` returns the scores of
    annotators for the names of the metrics.
    """

    which: Which | None = None
    resamples: int | None = None
    interval_minimum: int | None = None
    tests: bool | None = None
    permutations: int = 9_999
    means: TestOfMeans = "permutation"
    influence: bool = True
    subgroups: tuple[str, ...] = ()
    annotators: ReadColumns | None = None
    classifiers: Mapping[str, str] | None = None
    annotator_scores: Callable[[tuple[str, ...]], Scores] | None = None
    compare_with: Mapping[str, Sequence[str]] = field(default_factory=dict)
