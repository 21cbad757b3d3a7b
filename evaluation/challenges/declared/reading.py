"""A declared challenge for the readers of a submission: its fields, and no metric."""

from typing import Annotated

from evaluation.challenges.declared.declarable import FIELDS, Name
from evaluation.challenges.declared.names import READING
from evaluation.challenges.declared.tables import FieldTable
from evaluation.core.case_table import Row
from evaluation.core.challenge import Challenge, Options, Task, Values
from evaluation.core.keys import Key, KeyTable


class TaskToRead(KeyTable):
    """A task by the names of its fields."""

    title: str
    fields: list[Name] = Key(min_length=1)


class FieldsToRead(Options):
    """The fields that a submission has, and their tasks."""

    fields: dict[Name, Annotated[FieldTable, FIELDS]]
    tasks: dict[Name, TaskToRead]


def _tasks(options: FieldsToRead) -> tuple[Task, ...]:
    fields = {name: table.field(name) for name, table in options.fields.items()}
    return tuple(
        Task(
            name=name,
            title=task.title,
            fields=tuple(fields[field] for field in task.fields),
            score=_unscored,
            metrics=(),
        )
        for name, task in options.tasks.items()
    )


def _unscored(submitted: Values, references: Values) -> Row:
    raise TypeError("a reader scores nothing")


prepare = FIELDS.prepare

CHALLENGE = Challenge(
    name=READING,
    title="The fields of a challenge declared in phase.toml",
    options=FieldsToRead,
    tasks=_tasks,
    components=(),
)
