"""Detection of subgroups whose results would reveal labels.

Two submissions reveal which cases belong to a subgroup: changing a case's result moves the mean only if the
case is a member. Where membership determines the label, so does the mean.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping

from evaluation.core.case_table import CaseTable
from evaluation.organiser.labels import Labels, hidden_labels, label_columns
from evaluation.phase.config import FILE_NAME
from evaluation.phase.config_tables import Subgroup
from evaluation.phase.phase import Phase
from evaluation.phase.subgroups import subgroup_masks

_MUCH_OF_THE_LABEL = 0.5
_NEARLY_ALL = 0.9
_AT_MOST_HALF = 0.5


def faults_of_splits(phase: Phase, tables: Mapping[str, CaseTable]) -> list[str]:
    """Return a sentence for every public subgroup that reveals a label and is not published by name."""
    return [
        f"{FILE_NAME}: subgroups: results by {subgroup.column} would give labels away: {reason}; expected "
        f'audience = "organiser", or publish_label_subgroups = ["{subgroup.column}"]'
        for subgroup in phase.config.subgroups
        if subgroup.column not in phase.config.publish_label_subgroups
        and (reason := told_label(phase, subgroup, tables))
    ]


def told_label(phase: Phase, subgroup: Subgroup, tables: Mapping[str, CaseTable]) -> str:
    """Return the label that a public subgroup reveals, in words; empty if none."""
    return _reason(phase, subgroup, hidden_labels(phase, tables)) if subgroup.audience == "public" else ""


def determined_share(groups: Mapping[str, str], labels: Mapping[str, str]) -> float:
    """Return how far the groups determine the labels, 0 … 1, on the cases that have both (Theil's U).

    The share of the labels' entropy that knowing the group removes; 0 where all labels are the same.
    """
    pairs = [(groups[name], value) for name, value in labels.items() if name in groups]
    whole = _entropy(Counter(value for _, value in pairs))
    if not whole:
        return 0.0
    together, alone = _entropy(Counter(pairs)), _entropy(Counter(group for group, _ in pairs))
    return 1 - (together - alone) / whole


def share_by_chance(groups: Mapping[str, str], labels: Mapping[str, str]) -> float:
    """Return the mean `determined_share` of independent groups and labels.

    With few cases in many groups it is above 0 (first-order bias, Miller 1955).
    """
    pairs = [(groups[name], value) for name, value in labels.items() if name in groups]
    whole = _entropy(Counter(value for _, value in pairs))
    freedom = (len({group for group, _ in pairs}) - 1) * (len({value for _, value in pairs}) - 1)
    return freedom / (2 * len(pairs) * math.log(2)) / whole if whole else 0.0


def telling_groups(groups: Mapping[str, str], labels: Mapping[str, str], smallest: int) -> Iterator[str]:
    """Yield the groups in which nearly all cases have a label that at most half of all cases have."""
    pairs = [(groups[name], value) for name, value in labels.items() if name in groups]
    share = Counter(value for _, value in pairs)
    for group in dict.fromkeys(group for group, _ in pairs):
        own = Counter(value for other, value in pairs if other == group)
        value, count = own.most_common(1)[0]
        size = own.total()
        if size >= smallest and count >= _NEARLY_ALL * size and share[value] <= _AT_MOST_HALF * len(pairs):
            yield group


def _reason(phase: Phase, subgroup: Subgroup, labels: tuple[Labels, ...]) -> str:
    if subgroup.column in (*label_columns(phase), *phase.challenge.derived_columns(phase.options)):
        return "it is a label"
    groups = _groups(phase, subgroup)
    for label in labels:
        share = determined_share(groups, label.classes)
        if share - share_by_chance(groups, label.classes) >= _MUCH_OF_THE_LABEL:
            return f"it tells {share:.0%} of {label.name}"
        if telling := next(telling_groups(groups, label.classes, phase.config.subgroup_minimum), ""):
            return f"nearly all cases of {telling!r} have the same {label.name}"
    return ""


def _groups(phase: Phase, subgroup: Subgroup) -> dict[str, str]:
    """Return the group of every case, empty for cases without a group."""
    names = [case.name for case in phase.cases.forms]
    groups = dict.fromkeys(names, "")
    for key, members in subgroup_masks(subgroup, phase.cases, names).items():
        groups |= {name: key for name, is_member in zip(names, members, strict=True) if is_member}
    return groups


def _entropy(counts: Counter[object]) -> float:
    total = counts.total()
    return -sum(count / total * math.log2(count / total) for count in counts.values())
