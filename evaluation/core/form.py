"""The form of a phase: the required content of a submission, without any label."""

import json
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

from evaluation.core.fault import PhaseError
from evaluation.core.formats import FORMATS, extensions_of

STACK_NAME, STACK_INDEX = "stack_name", "stack_index"
"""The public columns with the image stack of a case and the case's position in it, from 0 on."""

INTERFACE, INPUT_VALUE = "interface", "input_value"
"""The public columns with the interface of a case, and with the input value that identifies it.

Several values are one JSON object by input. In a form the column is a digest, see `Interface.key_of`.
"""

_EXTENSIONS = extensions_of(FORMATS)


@dataclass(frozen=True, slots=True)
class CaseForm:
    """The public properties of a case: its name, its image's size in pixels, and public columns.

    ``width`` and ``height`` are 0 if the phase gives no size. ``columns`` holds the cells of the columns
    that the challenge declares as public (`Challenge.form_columns`).
    """

    name: str
    width: int = 0
    height: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def stack_index(self) -> int:
        """Position of the case in its stack, from 0 on (see `Form.stacks`)."""
        return int(self.columns[STACK_INDEX])


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One row of the case table: its line in the file and its cells by column."""

    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RunTime:
    """How the run time of an algorithm is scored, in seconds for each case.

    A case takes at most ``limit_seconds``, and exactly that if its run time is unknown or it has no job.
    Beyond ``target_seconds`` a case counts as slow, and each second costs ``penalty_per_second``.
    """

    limit_seconds: float
    target_seconds: float | None = None
    penalty_per_second: float = 0.0


@dataclass(frozen=True, slots=True)
class Interface:
    """One set of inputs of an algorithm's jobs, and the fields that such a job writes.

    ``inputs`` are the slugs of all input sockets of such a job. ``input_socket`` is the one that identifies
    the job's case: by the name of its image or file, or with ``by_value`` by its value; several identify it
    by their values together. Empty: the one image or file that is named like a case.
    """

    name: str
    inputs: tuple[str, ...]
    fields: tuple[str, ...]
    input_socket: str | tuple[str, ...] = ""
    by_value: bool = False

    @property
    def input_sockets(self) -> tuple[str, ...]:
        """The sockets that identify a case; empty if any image or file may do so."""
        if isinstance(self.input_socket, str):
            return (self.input_socket,) if self.input_socket else ()
        return self.input_socket

    def key_of(self, values: Mapping[str, object]) -> str:
        """Return the key of a case from the values of its inputs by socket."""
        keys = {socket: value_key(values.get(socket)) for socket in self.input_sockets}
        return value_key(keys) if len(keys) > 1 else next(iter(keys.values()))


@dataclass(frozen=True)
class Form:
    """The required content of a submission to a phase, all that a participant's check needs.

    A submission may leave out any of the ``optional_tasks``. ``input_sockets`` names the inputs that identify
    the case of a job; empty: any image or file. ``provided`` names in words the data given with each image.
    With ``interfaces``, the jobs of different cases differ in their inputs and fields, and every case has the
    name of its interface in the column `INTERFACE`.
    """

    challenge: str
    phase: str
    submission: str
    tasks: tuple[str, ...]
    missing: str
    options: Mapping[str, object]
    sockets: Mapping[str, str]
    cases: tuple[CaseForm, ...]
    optional_tasks: tuple[str, ...] = ()
    input_sockets: tuple[str, ...] = ()
    run_time: RunTime | None = None
    provided: tuple[str, ...] = ()
    interfaces: tuple[Interface, ...] = ()

    @cached_property
    def names(self) -> dict[str, int]:
        """Position of every case by the key of its name, see `name_key`."""
        return {name_key(case.name): position for position, case in enumerate(self.cases)}

    @cached_property
    def stacks(self) -> dict[str, tuple[int, ...]]:
        """Positions of the cases of every stack, in its order, by the key of its name, see `stack_key`.

        Raises `PhaseError` unless the indices of every stack are 0, 1, 2 and so on.
        """
        keys = {name: stack_key(name) for name in {case.columns[STACK_NAME] for case in self.cases}}
        members: dict[str, dict[str, int]] = defaultdict(dict)
        problems = []
        for position, case in enumerate(self.cases):
            stack = members[keys[case.columns[STACK_NAME]]]
            index = case.columns[STACK_INDEX]
            if index in stack:
                other = self.cases[stack[index]].name
                problems.append(
                    f"case {case.name}: expected a {STACK_INDEX} of its own, found that of {other}"
                )
            stack[index] = position
        stacks = {}
        for name, stack in members.items():
            wanted = list(map(str, range(len(stack))))
            stacks[name] = tuple([stack[index] for index in wanted if index in stack])
            if not name or len(stacks[name]) < len(stack):
                found = ", ".join(sorted(set(stack) - set(wanted))[:3])
                problems.append(
                    f"stack {name!r} of {len(stack)} cases: expected {STACK_INDEX} 0 to {len(stack) - 1} "
                    f"and a name, found {found or 'no name'}"
                )
        PhaseError.raise_all(problems)
        return stacks


def value_key(value: object) -> str:
    """Return the key under which values of an input are equal: a digest, which does not tell the value.

    Runs of white space count as one blank. A value that is no text counts as its JSON, whose keys have no
    order, and so does a text that is the JSON of an object or a list.
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return sha256(" ".join(unicodedata.normalize("NFC", text).split()).encode("utf-8", "replace")).hexdigest()


def name_key(name: str) -> str:
    """Return the key under which names of one image are equal.

    Case-insensitive, Unicode-normalised, with or without the extension of a file.
    """
    name = name.strip()
    # For ASCII text this gives the same key, and sooner.
    key = name.lower() if name.isascii() else unicodedata.normalize("NFC", name).casefold()
    if key.endswith(_EXTENSIONS):
        for extension in _EXTENSIONS:
            if key.endswith(extension) and len(key) > len(extension):
                return key[: -len(extension)]
    return key


def stack_key(name: str) -> str:
    """Return the key under which names of one stack are equal: the part before the first dot."""
    return name_key(name.partition(".")[0])
