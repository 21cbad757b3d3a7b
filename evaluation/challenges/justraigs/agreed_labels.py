"""Labels on which the graders of one image agree: the final main label and the additional labels."""

from __future__ import annotations

from collections.abc import Sequence


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
