"""The form of a phase: all that may be known of it without its labels."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

_IMAGE_EXTENSIONS = (
    ".nii.gz",
    ".jpg",
    ".jpeg",
    ".png",
    ".bmp",
    ".tif",
    ".tiff",
    ".mha",
    ".mhd",
    ".nii",
    ".txt",
)


@dataclass(frozen=True, slots=True)
class CaseForm:
    """What may be known of one case: its name, its image's size in pixels, and public columns.

    ``width`` and ``height`` are 0 where the phase gives no size. ``columns`` holds what else the
    challenge declares to be public (`Challenge.form_columns`), as text.
    """

    name: str
    width: int = 0
    height: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One row of the case table: its line in the file and its cells by column."""

    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Form:
    """What a submission of a phase must look like; a participant's check needs nothing else.

    ``optional_tasks`` are those of ``tasks`` of which a submission may hold nothing at all.
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

    @cached_property
    def names(self) -> dict[str, int]:
        """Position of every case by the key of its name, see `name_key`."""
        return {name_key(case.name): position for position, case in enumerate(self.cases)}


def name_key(name: str) -> str:
    """Return the key under which names of one image are equal.

    Case-insensitive, Unicode-normalised, with or without the extension of an image file.
    """
    key = unicodedata.normalize("NFC", name.strip()).casefold()
    for extension in _IMAGE_EXTENSIONS:
        if key.endswith(extension) and len(key) > len(extension):
            return key[: -len(extension)]
    return key
