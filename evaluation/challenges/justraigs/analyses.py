"""Analyses for the organiser: patients and eyes in the set, and wrong referrals by additional label.

Sources: the challenge's design document, "Statistical analyses" (numbers of patients and eyes, in total and
separately for both classes) and "Further analyses" (which images are classified wrongly).
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.aggregation import Subset, subgroup_values
from evaluation.core.case_table import CaseTable, ScoredCases
from evaluation.core.metric import Metric
from evaluation.core.operating_rule import OperatingRule
from evaluation.core.resampling import CLUSTER_COLUMN
from evaluation.io.kinds.classes import Flags

PREDICTED, AGREED = "predicted", "agreed"
"""The columns of marks: 1 yes, 0 no, −1 not submitted, or not agreed on; one for each label."""

Marks = NDArray[np.int8]


@lru_cache(maxsize=4096)
def marks_of(flags: Flags) -> Marks:
    """Return flags as marks: 1 yes, 0 no, −1 for None. The array is shared and cannot be written."""
    marks = np.array([-1 if flag is None else int(flag) for flag in flags], dtype=np.int8)
    marks.setflags(write=False)
    return marks


def marks(table: CaseTable, column: str) -> Marks:
    """Return a column of marks, shape (eyes, labels)."""
    return np.stack(table.objects(column)).astype(np.int8)


Mask = NDArray[np.bool_]


def participants(cases: ScoredCases, final: str, referable: str, not_referable: str) -> dict[str, Any]:
    """Return the numbers of eyes and of patients, and the prevalence, of all and by subgroup of the phase.

    final: the column of the final labels, with the two labels of gradable eyes. A patient is a cluster, and
    is referable with at least one referable eye, ungradable without a gradable one. Prevalence is the share
    of referable ones among the gradable. Without the column of clusters patients are left out.
    """
    everyone = np.ones(len(cases.names), dtype=np.bool_)
    labels = np.array(cases.cells[final])
    classes = np.select([labels == referable, labels == not_referable], [1.0, 0.0], nan)
    found = _counts(cases, classes, everyone)
    by_group = {
        column: {value: _counts(cases, classes, members) for value, members in groups.items()}
        for column, groups in cases.groups.items()
    }
    return {**found, "by": by_group} if by_group else found


def _counts(cases: ScoredCases, classes: NDArray[np.float64], members: Mask) -> dict[str, Any]:
    chosen = classes[members]
    found = {"eyes": _figures(chosen)}
    if CLUSTER_COLUMN in cases.cells:
        names = [
            cluster or f"\0{name}"  # an eye without a cluster is a patient of its own
            for cluster, name in zip(cases.cells[CLUSTER_COLUMN], cases.names, strict=True)
        ]
        people, patient = np.unique(np.array(names)[members], return_inverse=True)
        count = people.size
        referable = np.bincount(patient, chosen == 1, count) > 0
        gradable = np.bincount(patient, ~np.isnan(chosen), count) > 0
        found["patients"] = _figures(np.select([referable, gradable], [1.0, 0.0], nan))
    return found


def _figures(classes: NDArray[np.float64]) -> dict[str, Any]:
    parts = {
        "all": np.ones(classes.size, dtype=np.bool_),
        "referable": classes == 1,
        "not_referable": classes == 0,
        "ungradable": np.isnan(classes),
    }
    found: dict[str, Any] = {name: int(np.count_nonzero(part)) for name, part in parts.items()}
    gradable = found["referable"] + found["not_referable"]
    found["prevalence"] = found["referable"] / gradable if gradable else None
    return found


def referral_by_label(
    referral: CaseTable,
    justification: CaseTable,
    labels: Sequence[str],
    rule: OperatingRule,
    metrics: Sequence[Metric],
) -> dict[str, Any]:
    """Return, for every additional label, how the eyes with and without it were referred.

    ``present``, ``absent`` and ``not_agreed`` are the referable eyes by the agreed label: their number, the
    number found at the operating point, and their metrics against all eyes that are not referable.
    ``predicted`` counts the not referable eyes with the label predicted: among wrongly referred eyes (false
    positives), and among the others. Empty if a class of eyes is empty.
    """
    if rule.point(referral) is None:
        return {}
    position = {name: row for row, name in enumerate(justification.names)}
    rows = [position[name] for name in referral.names]
    agreed, predicted = marks(justification, AGREED)[rows], marks(justification, PREDICTED)[rows]
    positive, negative = referral[rule.label] == 1, referral[rule.label] == 0
    decided = rule.decided(referral) == 1
    found: dict[str, Any] = {}
    for number, label in enumerate(labels):
        parts = {
            name: positive & (agreed[:, number] == mark)
            for name, mark in (("present", 1), ("absent", 0), ("not_agreed", -1))
        }
        seen = negative & (predicted[:, number] == 1)
        found[label] = {name: _referred(eyes, decided, referral, metrics) for name, eyes in parts.items()} | {
            "predicted": {
                "false_positives": count_of(seen & decided),
                "of_false_positives": count_of(negative & decided),
                "true_negatives": count_of(seen & ~decided),
                "of_true_negatives": count_of(negative & ~decided),
            }
        }
    return found


def _referred(
    eyes: Mask, decided: Mask, referral: CaseTable, metrics: Sequence[Metric]
) -> Mapping[str, float | int]:
    against_all = Subset(eyes, against_all_negatives=True)
    return {
        "eyes": count_of(eyes),
        "found": count_of(eyes & decided),
        "missed": count_of(eyes & ~decided),
        **subgroup_values(metrics, referral, against_all, min_cases=1),
    }


def count_of(eyes: Mask) -> int:
    """Return the number of eyes in a mask."""
    return int(np.count_nonzero(eyes))


# --- Labels on which the graders of one image agree: the final main label and the additional labels ---


def final_label(first: str, second: str, specialist: str) -> str:
    """Return the final main label: the common one of both first graders, else the specialist's.

    It is empty if they disagree and there is no specialist's label. Source: JustRAIGS challenge design,
    annotation of the test cases.
    """
    return first if first == second else specialist


def counting_graders(labels: Sequence[str], specialist_alone: bool = False) -> tuple[int, ...]:
    """Return the graders whose additional labels count, as positions in ``labels``.

    labels: main labels of the two first graders and of the specialist (empty: none). Both first graders count
    if they agree; else the specialist and the grader who agrees with the specialist, if any. With
    ``specialist_alone`` the specialist alone counts whenever the final label is the specialist's (as in the
    public evaluator). Empty if the first graders disagree and there is no specialist. Source: JustRAIGS
    challenge design, annotation of the test cases.
    """
    first, second, specialist = labels
    if specialist and specialist_alone and specialist == final_label(*labels):
        return (2,)
    if first == second:
        return (0, 1)
    if not specialist:
        return ()
    return (*(grader for grader in (0, 1) if labels[grader] == specialist), 2)


def agreed_labels(graders: Sequence[Sequence[bool | None]]) -> tuple[bool | None, ...]:
    """Return each additional label, None if the given graders do not all agree on it.

    graders: one sequence of labels a grader, all of one length; None (not graded) agrees with nothing.
    """
    return tuple(labels[0] if len(set(labels)) == 1 else None for labels in zip(*graders, strict=True))
