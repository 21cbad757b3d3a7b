"""A set of named flags, each true, false or missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import numpy as np

from evaluation.core.fault import Fault, FaultKind, FormFault, shorten
from evaluation.core.field import CellsSource, ColumnKind, FileAccess, JsonSource, Source, Variant, fault_at
from evaluation.core.form import CaseForm
from evaluation.io.handover import HandoverError, Packed, array_of
from evaluation.io.json_files import json_kind

Flags = tuple[bool | None, ...]
_CELLS = {"1": True, "0": False, "": None}
_TEXTS = {value: text for text, value in _CELLS.items()}
_FLAGS = (False, True, None)
_CODES = {flag: code for code, flag in enumerate(_FLAGS)}


@dataclass(frozen=True)
class FlagSet(ColumnKind):
    """Flags with given names; an object in JSON, or one column each of 1, 0 or nothing in a table.

    A flag that is null, empty or absent is missing. A name that is not in ``names`` is a fault.
    """

    item_bytes: ClassVar[int] = 64

    names: tuple[str, ...]

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> Flags:
        """Return the flags in the order of ``names``, None for a missing one. Raises `FormFault`."""
        if isinstance(source, CellsSource):
            return self._of_cells(source)
        if isinstance(source, JsonSource):
            return self._of_object(source)
        raise TypeError(f"no flags can be read from {type(source).__name__}")

    def _of_object(self, source: JsonSource) -> Flags:
        value = source.value
        if not isinstance(value, dict):
            raise fault_at(source, "an object of true, false or null", json_kind(value), FaultKind.MALFORMED)
        flags = tuple(map(value.get, self.names))
        if len(value) == len(self.names) and all(flag is True or flag is False for flag in flags):
            return flags
        faults: list[Fault] = []
        for key, flag in value.items():
            if key not in self.names:
                expected = f"only the keys {', '.join(self.names)}"
                faults += fault_at(source, expected, f"the key {shorten(key)!r}", FaultKind.UNKNOWN).faults
            elif flag is not None and not isinstance(flag, bool):
                expected = f"true, false or null for {key!r}"
                faults += fault_at(source, expected, json_kind(flag), FaultKind.MALFORMED).faults
        if faults:
            raise FormFault(faults)
        return flags

    def _of_cells(self, source: CellsSource) -> Flags:
        faults: list[Fault] = []
        for cell, column in zip(source.cells, source.columns, strict=True):
            if cell not in _CELLS:
                one = CellsSource((cell,), source.file, source.line, (column,))
                faults += fault_at(one, "1, 0 or nothing", repr(shorten(cell)), FaultKind.MALFORMED).faults
        if faults:
            raise FormFault(faults)
        return tuple(_CELLS[cell] for cell in source.cells)

    def pack_all(self, values: Sequence[Flags]) -> Packed:
        """Return an array (cases, names) of 0, 1, and 2 for a missing flag."""
        codes = bytes(map(_CODES.__getitem__, chain.from_iterable(values)))
        return np.frombuffer(codes, np.uint8).reshape(len(values), len(self.names))

    def unpack_all(self, packed: Packed, count: int) -> list[Flags]:
        """Return the flags. Raises `HandoverError`."""
        codes = array_of(packed, ["|u1"], 2)
        if codes.shape != (count, len(self.names)) or codes.max(initial=0) >= len(_FLAGS):
            raise HandoverError("expected true, false or null for every flag")
        return [tuple(map(_FLAGS.__getitem__, row)) for row in codes.tolist()]

    def rehearse(self, reference: Flags | None, case: CaseForm, variant: Variant) -> Flags:
        """Return all flags, false without a label; near-perfect is perfect."""
        if reference is None or variant is Variant.EMPTY:
            return (False,) * len(self.names)
        return tuple(bool(flag) is not (variant is Variant.INVERTED) for flag in reference)

    def write_cells(self, value: Flags) -> tuple[str, ...]:
        """Return 1, 0 or nothing for every flag."""
        return tuple(_TEXTS[flag] for flag in value)

    def write_json(self, value: Flags) -> dict[str, bool | None]:
        """Return the object of all flags."""
        return dict(zip(self.names, value, strict=True))

    def describe(self) -> str:
        """Return the description for participants."""
        return f"1, 0 or nothing for each of: {', '.join(self.names)}"

    def describe_json(self) -> str:
        """Return the description of an object."""
        return f"an object with true, false or null for each of: {', '.join(self.names)}"
