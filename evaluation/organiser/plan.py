"""Planning a test set: how many cases its figures need, and their precision for a number of cases."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from evaluation.core.fault import PhaseError
from evaluation.metrics import intervals
from evaluation.stats.figure import Interval

Figure = Literal["sensitivity", "specificity", "auc"]


@dataclass(frozen=True)
class Aim:
    """An expected figure, from 0 to 1, and the wanted half-width of its interval, if stated."""

    figure: Figure
    value: float
    half_width: float | None = None


@dataclass(frozen=True)
class Needed:
    """The positive and negative cases that an aim needs, None for a class that it does not need.

    ``cases``: the size of a set with the planned prevalence, None without one.
    """

    aim: Aim
    positives: int | None
    negatives: int | None
    cases: int | None


def cases_needed(aims: Sequence[Aim], prevalence: Fraction | None) -> list[Needed]:
    """Return the cases that each aim with a half-width needs, in their order.

    prevalence: the share of positive cases in the set, in (0, 1). Raises `PhaseError` with every fault.
    """
    problems: list[str] = []
    needed = []
    if prevalence is not None and not 0 < prevalence < 1:
        raise PhaseError(f"prevalence: expected a number between 0 and 1, found {float(prevalence):g}")
    for aim in aims:
        if aim.half_width is None:
            continue
        try:
            needed.append(_needed(aim, aim.half_width, prevalence))
        except ValueError as error:
            problems.append(f"{aim.figure}: {error}")
    PhaseError.raise_all(problems)
    return needed


def intervals_given(aims: Sequence[Aim], positives: int, negatives: int) -> list[Interval]:
    """Return the interval of each aim's figure. Raises `PhaseError` if the set lacks one of the classes."""
    if not (positives and negatives):
        classes = f"{positives} positive and {negatives} negative"
        raise PhaseError(f"cases: expected at least one case of each class, found {classes}")
    sizes = {"sensitivity": positives, "specificity": negatives}
    return [
        intervals.area_of(aim.value, positives, negatives)
        if aim.figure == "auc"
        else intervals.wilson_of(aim.value, sizes[aim.figure])
        for aim in aims
    ]


def cases_in_all(needed: Sequence[Needed]) -> int:
    """Return the size of a set with enough cases for every aim, all at the same prevalence."""
    return max(one.cases for one in needed if one.cases is not None)


def _needed(aim: Aim, half_width: float, prevalence: Fraction | None) -> Needed:
    if aim.figure == "auc":
        if prevalence is None:
            raise ValueError("expected a prevalence, since the interval depends on both classes, found none")
        cases = intervals.auc_sample_size(aim.value, half_width, prevalence)
        return Needed(aim, *intervals.class_sizes(cases, prevalence), cases)
    size = intervals.wilson_sample_size(aim.value, half_width)
    of_positives = aim.figure == "sensitivity"
    share = prevalence if of_positives or prevalence is None else 1 - prevalence
    in_all = None if share is None else math.ceil(size / share)
    return Needed(aim, size if of_positives else None, None if of_positives else size, in_all)
