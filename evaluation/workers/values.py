"""The values of the cases of a batch on their way from a reader to a scorer, field by field.

Small values of one field (`ColumnKind`) are packed together, as arrays; large ones, such as masks, one by
one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluation.core.field import ColumnKind, Field, Kind
from evaluation.core.form import CaseForm
from evaluation.io.handover import HandoverError, Packed, array_of, decode, list_of

_BYTES_PER_PART = 32


class ValuesOfBatch:
    """Collects values up to ``room_bytes``; None: values are not wanted."""

    def __init__(self, fields: Mapping[str, Field], room_bytes: float | None) -> None:
        self._fields = fields
        self._room = room_bytes
        self._values: dict[str, dict[int, Any]] = {name: {} for name in fields}

    def drop(self) -> None:
        """Drop all values; further ones are not wanted."""
        self._room = None
        self._values = {}

    def add(self, number: int, predictions: Mapping[str, Any]) -> bool:
        """Keep the values of a case; return false if they are wanted and there is no room for them."""
        if self._room is None:
            return True
        kept, size = {}, 0.0
        for name, value in predictions.items():
            kind = self._fields[name].kind
            if isinstance(kind, ColumnKind):
                kept[name] = value
                size += kind.item_bytes * kind.items(value)
            else:
                kept[name] = kind.pack(value)
                size += _size_of(kept[name])
        if size > self._room:
            return False
        self._room -= size
        for name, value in kept.items():
            self._values[name][number] = value
        return True

    def add_all(self, predictions: Mapping[str, Mapping[int, Any]]) -> bool:
        """Keep small values of several cases, by field and case; return false if there is no room."""
        if self._room is None:
            return True
        size = 0
        for name, values in predictions.items():
            kind = self._fields[name].kind
            assert isinstance(kind, ColumnKind)
            size += kind.item_bytes * sum(map(kind.items, values.values()))
        if size > self._room:
            return False
        self._room -= size
        for name, values in predictions.items():
            self._values[name] |= values
        return True

    def packed(self) -> Packed:
        """Return the numbers and values of the cases by field."""
        return {
            name: [np.array(list(values), np.int64), self._packed_values(name, values)]
            for name, values in self._values.items()
            if values
        }

    def _packed_values(self, name: str, values: Mapping[int, Any]) -> Packed:
        kind = self._fields[name].kind
        in_order = list(values.values())
        return kind.pack_all(in_order) if isinstance(kind, ColumnKind) else in_order


class PackedValues:
    """The values of a batch as a scorer gets them; none is trusted."""

    def __init__(self, document: bytes | memoryview, fields: Mapping[str, Field]) -> None:
        """Decode a reader's document. Raises `HandoverError`, a `ValueError`."""
        packed = decode(document)
        if not isinstance(packed, dict) or not packed.keys() <= fields.keys():
            raise HandoverError("expected values by field")
        self._values: dict[str, dict[int, Any]] = {}
        self._packed_one_by_one: dict[str, Kind] = {}
        for name, of_field in packed.items():
            numbers, values = list_of(of_field, 2)
            numbers = array_of(numbers, ["<i8"], 1).tolist()
            kind = fields[name].kind
            if isinstance(kind, ColumnKind):
                values = kind.unpack_all(values, len(numbers))
            else:
                self._packed_one_by_one[name] = kind
            self._values[name] = dict(zip(numbers, list_of(values, len(numbers)), strict=True))

    def of_case(self, number: int, case: CaseForm) -> dict[str, Any]:
        """Return the values of a case by field. Raises `HandoverError`."""
        found = {}
        for name, values in self._values.items():
            if number in values:
                value = values[number]
                if name in self._packed_one_by_one:
                    value = self._packed_one_by_one[name].unpack(value, case)
                found[name] = value
        return found


def _size_of(packed: Packed) -> float:
    """Return the approximate size of a packed value in bytes."""
    if isinstance(packed, np.ndarray):
        return packed.nbytes + 2 * _BYTES_PER_PART
    if isinstance(packed, list | tuple):
        return _BYTES_PER_PART + math.fsum(map(_size_of, packed))
    if isinstance(packed, dict):
        return _BYTES_PER_PART + math.fsum(map(_size_of, packed.values()))
    return len(packed) if isinstance(packed, str) else _BYTES_PER_PART
