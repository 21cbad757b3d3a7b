"""The index of a submission: the source of each value of each case, before anything is decoded."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evaluation.core.challenge import Task
from evaluation.core.fault import Fault, FaultKind
from evaluation.core.form import Form
from evaluation.core.sources import IndexedSource

Sources = list[dict[str, IndexedSource]]


@dataclass(frozen=True)
class SubmissionIndex:
    """Sources by field for every case of the form, in its order, and the faults found on the way.

    ``root`` is the folder to which the paths of sources are relative. ``tasks`` are the tasks that the
    submission enters, without optional tasks that have no value. ``notices`` are remarks for participants
    that are no faults. ``run_seconds`` is the algorithm's run time for each case, None if unknown.
    """

    root: str
    sources: Sequence[Mapping[str, IndexedSource]]
    tasks: tuple[str, ...]
    faults: tuple[Fault, ...]
    notices: tuple[str, ...] = ()
    run_seconds: Sequence[float | None] = ()


def participating(form: Form, tasks: Sequence[Task], sources: Sources) -> tuple[Task, ...]:
    """Return the tasks without the optional ones that have no submitted value of their own."""
    if not form.optional_tasks:
        return tuple(tasks)
    present = {name for case_sources in sources for name in case_sources}
    return tuple(
        task
        for task in tasks
        if task.name not in form.optional_tasks or not present.isdisjoint(own_fields(task, tasks))
    )


def own_fields(task: Task, tasks: Sequence[Task]) -> set[str]:
    """Return the names of the fields by which a submission enters a task: those of no other, else all."""
    names = {field.name for field in task.fields}
    others = {field.name for other in tasks if other is not task for field in other.fields}
    return names - others or names


def never_left_out(optional: Collection[str], tasks: Sequence[Task]) -> dict[str, str]:
    """Return the optional tasks that every submission enters, and those whose fields they share."""
    needed = {field.name: task.name for task in tasks if task.name not in optional for field in task.fields}
    found = {}
    for task in tasks:
        if task.name in optional and (own := own_fields(task, tasks)) and own <= needed.keys():
            found[task.name] = ", ".join(sorted({needed[name] for name in own}))
    return found


def fault_of_no_task(file: str, tasks: Sequence[Task], present: Sequence[Task]) -> tuple[Fault, ...]:
    """Return the fault of a submission that takes part in no task; ``file`` is its place."""
    if present:
        return ()
    titles = ", ".join(task.title for task in tasks)
    return (Fault(FaultKind.MISSING, file, f"at least one of {titles}", "none"),)
