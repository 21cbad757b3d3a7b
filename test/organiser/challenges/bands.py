"""A `challenge.py` with a kind of its own: the rows of an image between two lines, an optical layer."""

from dataclasses import replace

import numpy as np

from evaluation.define import (
    CaseColumns,
    CaseForm,
    Challenge,
    Field,
    FileAccess,
    Kind,
    Options,
    Reference,
    Regions,
    Row,
    Socket,
    Source,
    TableColumns,
    TableRows,
    Task,
    Values,
    Variant,
    Voxels,
    mean_metric,
)
from evaluation.metrics.crops import Crop


def content_of(source: Source):
    """Return the JSON value, the cells, or the cells of the only row."""
    if hasattr(source, "value"):
        return source.value
    return source.rows[0][1] if hasattr(source, "rows") else source.cells


class Band(Kind):
    """Two rows, the first one of the layer and the first one below it; equal rows are no layer."""

    needs_size = True

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> tuple[int, int]:
        top, bottom = map(int, content_of(source))
        return top, bottom

    @property
    def regions(self) -> Regions:
        return Regions(("layer",), self._masks, self._of_masks)

    def _masks(self, value):
        top, bottom = value
        return [Crop(np.ones((1, bottom - top, 8), bool), (0, top, 0))]

    def _of_masks(self, masks, case):
        rows = np.flatnonzero(masks[0].whole((1, case.height, case.width)).any(axis=(0, 2)))
        return (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)

    def unpack(self, packed, case):
        top, bottom = packed
        return int(top), int(bottom)

    def rehearse(self, reference, case, variant):
        top, bottom = reference
        return {
            Variant.PERFECT: (top, bottom),
            Variant.NEAR: (top, bottom + 1),
            Variant.EMPTY: (0, 0),
            Variant.INVERTED: (case.height - 1, case.height),
        }[variant]

    def write_cells(self, value):
        return tuple(map(str, value))

    def write_json(self, value):
        return list(value)

    def describe(self):
        return "the first row of the layer and the first row below it"


class Mood(Kind):
    """One word of which nobody asks anything: it has no view."""

    def read(self, source, case, files):
        return content_of(source)[0]

    def write_cells(self, value):
        return (value,)

    def write_rows(self, value):
        return [(value,)]

    def describe(self):
        return "a word"


class Shade(Mood):
    """The grey value of a whole image, of which only the pixels are asked for."""

    @property
    def voxels(self) -> Voxels:
        return Voxels(
            lambda value: [Crop(np.full((2, 2), float(value)), (0, 0))], self._of_voxels, dimensions=2
        )

    def _of_voxels(self, array, case):
        return f"{array.max():g}"


def score(submitted: Values, reference: Values) -> Row:
    (top, bottom), (first, last) = submitted["layer"], reference["layer"]
    shared = max(0, min(bottom, last) - max(top, first))
    return {"dice": 2 * shared / max(1, bottom - top + last - first)}


LAYER = Field(
    name="layer",
    title="The layer",
    kind=Band(),
    archive=TableColumns(("layers.csv",), "case", ("top", "bottom")),
    socket=Socket("layer", "layer.json"),
    reference=Reference(Band(), CaseColumns(("top", "bottom"))),
)
MOOD = Field(
    name="mood",
    title="The mood",
    kind=Mood(),
    archive=TableColumns(("moods.csv",), "case", ("mood",)),
    socket=Socket("mood", "mood.json"),
    reference=Reference(Mood(), TableRows(("moods.csv",), "case", ("mood",))),
)
SHADE = replace(
    MOOD,
    name="shade",
    title="The shade",
    kind=Shade(),
    reference=Reference(Shade(), TableRows(("moods.csv",), "case", ("mood",))),
)


def _tasks(options):
    metric = mean_metric("dice", "Dice", best=1, worst=0)
    same = mean_metric("same", "Same", best=1, worst=0)
    return (
        Task("layers", "Layers", (LAYER,), score=score, metrics=(metric,)),
        Task(
            "moods",
            "Moods",
            (MOOD,),
            score=lambda submitted, reference: {"same": float(submitted["mood"] == reference["mood"])},
            metrics=(same,),
        ),
        Task("shades", "Shades", (SHADE,), score=lambda submitted, reference: {"same": 1}, metrics=(same,)),
    )


CHALLENGE = Challenge(name="bands", title="Bands", options=Options, tasks=_tasks, components=("layers.dice",))
