"""One field of every kind, in every layout that it is submitted in; a phase chooses one field by its option.

In a test the module also logs what a reader tries to import once it is confined.
"""

import os
import sys
import tempfile
import traceback
from importlib.abc import MetaPathFinder
from pathlib import Path

from evaluation.challenges.declared.declarable import FIELDS
from evaluation.challenges.justraigs.kinds import AgreedFeatures
from evaluation.core.challenge import Challenge, Options, Task
from evaluation.core.entry_points import own_entries
from evaluation.core.estimator import Mean
from evaluation.core.field import CaseColumns, Field, Files, Kind, Reference, Socket, TableColumns, TableRows
from evaluation.core.formats import extensions_of, image_formats
from evaluation.core.metric import Metric
from evaluation.io.kinds.boxes import BoxesInSpace, BoxList
from evaluation.io.kinds.classes import (
    CellText,
    ClassLabel,
    ClassProbabilities,
    FlagSet,
    ImageSize,
    PresenceProbabilities,
    ReferenceClass,
)
from evaluation.io.kinds.displacement import EXTENSIONS, DisplacementField, Landmarks
from evaluation.io.kinds.instance_map import InstanceMap
from evaluation.io.kinds.label_map import LabelMap, LesionMap
from evaluation.io.kinds.number import ConditionScore, Number, TwoClasses
from evaluation.io.kinds.objects import Attributes, Space
from evaluation.io.kinds.points import Keypoints, PointInImage, Points, Polygons
from evaluation.io.kinds.probability_map import DetectionMap, NumberMap, ProbabilityMap
from evaluation.io.kinds.survival import SurvivalPrediction, TimeToEvent
from evaluation.io.kinds.volume import ConfidenceVolume, MultilabelMask, NoValue, ReferenceVolume
from evaluation.workers.confinement import OpeningFinder

_PIXELS = Space(2, "pixels")
_NAMED = Attributes(("a", "b"), with_probability=True)

KINDS: dict[str, Kind] = {
    "label_map_2d": LabelMap({1: "cup", 2: "disc"}, dimensions=2),
    "label_map_3d": LabelMap({1: "liver", 2: "spleen"}),
    "label_map_of_codes": LabelMap({7: "liver", 500: "spleen"}, background=255),
    "label_mask": LabelMap({0: "cup", 128: "rim"}, 255, dimensions=2),
    "label_mask_nested": LabelMap({0: "cup", 128: "rim"}, 255, dimensions=2, unlisted_as=255, nested=True),
    "channels": MultilabelMask(("a", "b")),
    "confidence_volume": ConfidenceVolume(),
    "probability_map_2d": ProbabilityMap(dimensions=2),
    "probability_map_3d": ProbabilityMap(),
    "instance_map_2d": InstanceMap({1: "cell"}, dimensions=2),
    "instance_map_3d": InstanceMap({1: "a", 2: "b"}, ranges={1: (1, 9), 2: (10, 19)}),
    "instance_map_and_classes": InstanceMap({1: "a", 2: "b"}, dimensions=2, class_plane=True),
    "image_2d": NumberMap(dimensions=2, lowest=-1024, highest=3071),
    "image_3d": NumberMap(),
    "detection_map_2d": DetectionMap(dimensions=2),
    "detection_map_3d": DetectionMap(any_confidence=True),
    "boxes": BoxList(attributes=_NAMED),
    "boxes_class_last": BoxList(attributes=Attributes(("a", "b")), class_last=True, most=3),
    "boxes_kept": BoxList(attributes=_NAMED, outside="keep", remedy="; see the page"),
    "boxes_clipped": BoxList(attributes=_NAMED, outside="clip", most=3),
    "boxes_in_space": BoxesInSpace(Space(3, "mm"), _NAMED),
    "box_in_image": BoxesInSpace(_PIXELS, single=True, most=3),
    "number": Number(0, 1),
    "number_of_any_size": Number(),
    "condition": ConditionScore(0, 1),
    "risk": SurvivalPrediction(risk=True),
    "survival": SurvivalPrediction(0, 1, horizon=12.0),
    "class": ClassLabel(("a", "b")),
    "grade": ClassLabel((0, 1, 2)),
    "decision": ClassLabel((0, 1), boolean_json=True),
    "class_probabilities": ClassProbabilities(("a", "b")),
    "presence_probabilities": PresenceProbabilities(("a", "b")),
    "displacement_field": DisplacementField(),
    "flags": FlagSet(("first", "second")),
    "flags_listed": FlagSet(("first", "second"), listed=True),
    "point_in_image": PointInImage(),
    "point_that_may_be_hidden": PointInImage(may_be_invisible=True),
    "points": Points(Space(3, "mm"), _NAMED, with_diameter=True),
    "point": Points(_PIXELS, single=True, most=3),
    "points_in_image": Points(_PIXELS, Attributes(("a", "b")), most=3),
    "points_with_class_last": Points(_PIXELS, Attributes(("a", "b"), True, in_third_coordinate=True)),
    "polygons": Polygons(_PIXELS, Attributes(("a", "b")), most=3),
    "keypoints": Keypoints(("first", "second"), _PIXELS),
    "keypoints_in_part": Keypoints(("first", "second"), Space(3, "mm"), partial=True),
}
for declared in own_entries("evaluation.kinds"):
    if not any(name.startswith(declared) for name in KINDS):
        table = FIELDS.named(declared)
        assert table is not None
        KINDS[declared] = table.model_validate({"kind": declared}).field(declared).kind
"""Kinds of fields by name, which begins with that of its declaration; others declare themselves."""

OF_REFERENCES = {
    AgreedFeatures,
    CellText,
    ImageSize,
    Landmarks,
    LesionMap,
    NoValue,
    ReferenceClass,
    ReferenceVolume,
    TimeToEvent,
    TwoClasses,
}
"""Kinds that are read from the organiser's files alone, in processes that are not confined."""

CONFINED_IMPORTS = "confined-imports.txt"
"""The file to which imports are logged, where there is one in the folder for temporary files."""


class SituationOptions(Options):
    """Name and layout of the field."""

    field: str
    layout: str


def layout_of(name: str, layout: str) -> Files | TableColumns | TableRows:
    """Return where a field lies in an archive."""
    kind = KINDS[name]
    if layout == "files":
        dimensions = getattr(kind, "dimensions", 3 if isinstance(kind, ConfidenceVolume) else 2)
        extensions = extensions_of(image_formats(dimensions, on_request=True))
        if isinstance(kind, BoxList):
            extensions = (".txt",)
        if isinstance(kind, DisplacementField):
            extensions = EXTENSIONS
        if isinstance(kind, MultilabelMask):
            extensions = (".tif", ".tiff", ".mha")
        return Files("files", extensions)
    columns = kind.columns or tuple(f"value{number}" for number in range(len(cells_of(kind))))
    return (TableRows if layout == "rows" else TableColumns)(("values.csv",), "case", columns)


def cells_of(kind: Kind) -> tuple[str, ...]:
    """Return the columns of a kind with one row a case: one, or those of its parts."""
    if isinstance(kind, ClassProbabilities):
        return kind.classes
    if isinstance(kind, FlagSet):
        return kind.names if not kind.listed else ("value",)
    return ("value",)


def field_of(name: str, layout: str) -> Field:
    """Return a field of a kind."""
    image = layout == "images"
    socket = Socket("value", "images/value" if image else "value.json")
    archive = layout_of(name, "files" if image or layout == "json" else layout)
    reference = Reference(Number(), CaseColumns(("true",)))
    return Field(name, name, KINDS[name], archive, reference, socket=socket)


def _tasks(options: SituationOptions) -> tuple[Task, ...]:
    field = field_of(options.field, options.layout)
    figure = Metric("figure", "Figure", Mean("figure"), best=1, worst=0)
    return (
        Task(
            name="situations",
            title="Situations",
            fields=(field,),
            score=lambda values, reference: {"figure": 1.0},
            worst=lambda case, reference: {"figure": 0.0},
            metrics=(figure,),
        ),
    )


CHALLENGE = Challenge(
    name="situations", title="Situations", options=SituationOptions, tasks=_tasks, components=()
)


class _Logging(MetaPathFinder):
    """Logs the name of every module that is looked for in a confined process, and finds none."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def find_spec(self, name, path, target=None):
        if any(isinstance(finder, OpeningFinder) for finder in sys.meta_path):
            places = [
                f"{Path(frame.filename).name}:{frame.lineno}"
                for frame in traceback.extract_stack(limit=40)
                if "evaluation/" in frame.filename
            ]
            os.write(self._file, f"{name} {' '.join(places[-4:-1])}\n".encode())


if (log := Path(tempfile.gettempdir()) / CONFINED_IMPORTS).exists():
    sys.meta_path.insert(0, _Logging(str(log)))
