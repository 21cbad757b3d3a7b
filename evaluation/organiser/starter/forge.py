"""Phases from a Grand Challenge Forge pack: the JSON of a challenge with its phases, interfaces and sockets.

Source of the format: the schema of pack contexts in DIAGNijmegen/rse-grand-challenge-forge.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict

from evaluation.core.fault import PhaseError
from evaluation.core.keys import Key
from evaluation.io.json_files import read_json
from evaluation.organiser.starter.repository import phase_name, require_empty, write_surroundings
from evaluation.phase.validation import InvalidTableError, read_table


class _PackPart(BaseModel):
    # A pack has further keys for other readers.
    model_config = ConfigDict(extra="ignore", frozen=True)


class PackSocket(_PackPart):
    """A socket: an input or output of an algorithm."""

    slug: Annotated[str, Key(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    relative_path: str
    kind: str
    super_kind: str = ""


class PackInterface(_PackPart):
    """An interface: one set of inputs of an algorithm, and its outputs."""

    inputs: list[PackSocket]
    outputs: list[PackSocket]


class PackPhase(_PackPart):
    """A phase of a challenge."""

    slug: Annotated[str, Key(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    title: str | None = None
    algorithm_interfaces: list[PackInterface] = []


class PackChallenge(_PackPart):
    """A challenge."""

    slug: str
    phases: list[PackPhase] = Key(min_length=1)


class Pack(_PackPart):
    """The whole file."""

    challenge: PackChallenge


@dataclass(frozen=True)
class _Declaration:
    """The lines of a field, and the metrics that it usually has."""

    field: tuple[str, ...]
    metrics: tuple[str, ...] = ()


_NUMBER = _Declaration(
    ('kind = "number"', "minimum = 0", "maximum = 1", 'positive = ["1"]', 'negative = ["0"]'), ("auc",)
)
_SEGMENTATION = _Declaration(
    ('kind = "label_map"', 'labels = { 1 = "structure" }', "dimensions = 3"), ("dice",)
)
_POINTS = _Declaration(('kind = "points"',), ("point_f1 = { radius = 1.0 }",))
_BOXES = _Declaration(('kind = "boxes"', 'unit = "mm"'), ('box_f1 = { matching = "optimal" }',))
# The platform's names of kinds, and their usual content, which the organiser corrects.
_OF_KIND: Mapping[str, _Declaration] = {
    "Float": _NUMBER,
    "Integer": _Declaration(('kind = "number"', "minimum = 0", "maximum = 100"), ("mean_absolute_error",)),
    "Bool": _Declaration(('kind = "decision"', 'positive = ["1"]', 'negative = ["0"]'), ("accuracy",)),
    "String": _Declaration(('kind = "class"', 'classes = ["a", "b"]'), ("accuracy",)),
    "Choice": _Declaration(('kind = "class"', 'classes = ["a", "b"]'), ("accuracy",)),
    "Anything": _NUMBER,
    "Segmentation": _SEGMENTATION,
    "Image": _SEGMENTATION,
    "Heat Map": _Declaration(('kind = "probability_map"',), ("voxel_brier_score",)),
    "Point": _Declaration(('kind = "point"',), ("mean_radial_error = { worst = 100.0 }",)),
    "Multiple points": _POINTS,
    "Multiple 2D bounding boxes": _BOXES,
}


def write_from_pack(folder: Path, pack_file: Path) -> list[Path]:
    """Write a repository for each phase of a pack below a folder that is new or empty; return their folders.

    Each has a `phase.toml` with a field for each output socket, and the files for an image. Kinds, labels and
    metrics are usual for the sockets' kinds, for the organiser to correct. There is no sample. Raises
    `PhaseError` for a file that is no pack, and for a phase without an output.
    """
    try:
        pack = read_table(Pack, read_json(pack_file))
    except InvalidTableError as error:
        raise PhaseError(*error.problems(pack_file.name)) from None
    except FileNotFoundError as error:
        raise PhaseError(f"{pack_file}: cannot be read: {error}") from None
    phases = pack.challenge.phases
    if problems := [
        f"{pack_file.name}: phase {phase.slug!r}: expected at least one output, found none"
        for phase in phases
        if not _outputs(phase)
    ]:
        raise PhaseError(*problems)
    require_empty(folder)
    folders = []
    for phase in phases:
        place = folder / phase.slug
        (place / "phase").mkdir(parents=True)
        title = phase.title or phase.slug.replace("-", " ").replace("_", " ").capitalize()
        name = phase_name(place)
        (place / "phase" / "phase.toml").write_text(_configuration(phase, name, title), encoding="utf-8")
        write_surroundings(place, name, title)
        folders.append(place)
    return folders


def _configuration(phase: PackPhase, name: str, title: str) -> str:
    lines = [
        f"name = {json.dumps(name)}",
        f"title = {json.dumps(title)}",
        'submission = "algorithm"',
        f"input_socket = {json.dumps(_identifying_inputs(phase))}",
    ]
    metrics: list[str] = []
    for socket in _outputs(phase):
        field = socket.slug.replace("-", "_")
        declaration = _OF_KIND.get(socket.kind)
        lines += ["", f"# The platform's kind of this socket: {socket.kind}", f"[fields.{field}]"]
        lines += declaration.field if declaration else ['kind = "number"', "minimum = 0", "maximum = 1"]
        lines += [f"socket = {json.dumps(socket.slug)}", f"output = {json.dumps(socket.relative_path)}"]
        for metric in declaration.metrics if declaration else ("mean_absolute_error",):
            named, _, options = metric.partition(" = ")
            table = options.strip("{} ")
            more = f", {table}" if table else ""
            metrics.append(f'{field}_{named} = {{ metric = "{named}", field = "{field}"{more} }}')
    return "\n".join([*lines, "", "[tasks.all.metrics]", *metrics, ""])


def _outputs(phase: PackPhase) -> tuple[PackSocket, ...]:
    return _each_once(socket for interface in phase.algorithm_interfaces for socket in interface.outputs)


def _identifying_inputs(phase: PackPhase) -> list[str]:
    """Return the input socket of each interface that identifies the case: the image, else the first input."""
    found = []
    for interface in phase.algorithm_interfaces:
        images = [socket for socket in interface.inputs if socket.super_kind.casefold() == "image"]
        found += (images or interface.inputs)[:1]
    return [socket.slug for socket in _each_once(found)]


def _each_once(sockets: Iterable[PackSocket]) -> tuple[PackSocket, ...]:
    return tuple({socket.slug: socket for socket in sockets}.values())
