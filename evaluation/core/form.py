"""The form of a phase: the required content of a submission, without any label."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from evaluation.core.fault import PhaseError

STACK_NAME, STACK_INDEX = "stack_name", "stack_index"
"""The public columns with the image stack of a case and the case's position in it, from 0 on."""

_IMAGES = (".nii.gz", ".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".mha", ".mhd", ".nii", ".txt")


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


@dataclass(frozen=True)
class Form:
    """The required content of a submission to a phase, all that a participant's check needs.

    A submission may leave out any of the ``optional_tasks``. ``input_sockets`` names the inputs that identify
    the case of a job; empty: any image or file. ``provided`` names in words the data given with each image.
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
        if problems:
            raise PhaseError(*problems)
        return stacks


def name_key(name: str) -> str:
    """Return the key under which names of one image are equal.

    Case-insensitive, Unicode-normalised, with or without the extension of an image file.
    """
    name = name.strip()
    # For ASCII text this gives the same key in a quarter of the time.
    key = name.lower() if name.isascii() else unicodedata.normalize("NFC", name).casefold()
    if key.endswith(_IMAGES):
        for extension in _IMAGES:
            if key.endswith(extension) and len(key) > len(extension):
                return key[: -len(extension)]
    return key


def stack_key(name: str) -> str:
    """Return the key under which names of one stack are equal: the part before the first dot."""
    return name_key(name.partition(".")[0])
