"""Fields of images and volumes whose numbers name structures, and the comparison of two such maps."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import field_validator, model_validator

from evaluation.challenges.declared import tables
from evaluation.core.challenge import FormColumn
from evaluation.core.field import Field, Files, HiddenField, Kind, Reference
from evaluation.core.formats import BMP, FORMATS, Dimensions, extensions_of, image_formats
from evaluation.core.keys import Key
from evaluation.core.sources import EntriesBy
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue, MapKind
from evaluation.metrics import segmentation
from evaluation.metrics.arrays import Bools
from evaluation.metrics.components import Neighbours, components_of
from evaluation.metrics.crops import Crop, in_slabs, inside, together

if TYPE_CHECKING:
    from evaluation.metrics.matching import Overlaps

_MOST_OF_8_BITS = 255

Label = Annotated[int, Key(ge=0, le=65535)]


class ImageFieldTable(tables.FieldTable):
    """A field with one image or volume for each case, of the size and position that `cases.csv` gives."""

    is_image: ClassVar[bool] = True
    folder: str | None = Key(
        default=None, description="Folder of the submission's files. Default: the field's name."
    )
    suffix: str = Key(
        default="", description="What file names have between the case's name and the extension."
    )
    extensions: list[str] | None = Key(
        default=None, description="Accepted extensions. Default: all of the kind.", min_length=1
    )
    reference_folder: str | None = Key(
        default=None, description="Folder of the reference's files. Default: that of `folder`."
    )
    reference_suffix: str | None = Key(
        default=None, description="As `suffix`, for the reference. Default: the same."
    )
    dimensions: Dimensions = Key(
        default=3,
        description="2 for images, whose size is in the columns `width` and `height` of `cases.csv`; 3 for "
        "volumes, which also have the columns `depth`, `spacing_mm`, `origin_mm` and `direction` (numbers in "
        "the order x, y, z, separated by spaces; an empty origin or direction is not compared).",
    )
    has_spacing: bool = Key(
        default=False,
        description="Images of two dimensions: `cases.csv` has the column `spacing_mm` (x and y) as well. "
        "Without it lengths are in pixels.",
    )

    stacked: bool = Key(
        default=False,
        description="Algorithm phases: whether each job runs on a stack of images and writes one file, in "
        "which their planes follow each other in the order of the stack, such as a volume of volumes of "
        "interest (ULS23). Of its header, only the size counts. `cases.csv` then has the columns "
        "`stack_name` and `stack_index`.",
    )

    @property
    def entries_by(self) -> EntriesBy | None:
        return "order" if self.stacked else None

    def form_columns(self) -> tuple[FormColumn, ...]:
        """Return the columns of stacks, and the spacing of images; the kinds of volumes name their own."""
        spacing = (FormColumn("spacing_mm", lengths=2),) if self.has_spacing and self.dimensions == 2 else ()
        return (*tables.stack_columns(self.stacked), *spacing)

    @property
    def image_extensions(self) -> tuple[str, ...]:
        """The extensions of the formats that are read."""
        return extensions_of(image_formats(self.dimensions))

    @property
    def submitted_extensions(self) -> tuple[str, ...]:
        """The extensions that `extensions` may list."""
        on_request = (row for row in FORMATS if row.on_request and self.dimensions in row.dimensions)
        return (*self.image_extensions, *extensions_of(on_request))

    def file_field(
        self, name: str, kind: Kind, reference: Kind, readable: tuple[str, ...] | None = None
    ) -> Field:
        """Return the named field, with the kinds of the submitted and the reference value.

        ``readable``: the extensions that are read, by default `image_extensions`.
        """
        readable = readable or self.image_extensions
        extensions = tuple(self.extensions or readable)
        folder = self.folder or name
        suffix = self.suffix if self.reference_suffix is None else self.reference_suffix
        of_reference = tuple(dict.fromkeys((*readable, *extensions)))
        location = Files(self.reference_folder or folder, of_reference, suffix)
        archive = Files(folder, extensions, self.suffix)
        return self.declared_field(name, kind, archive, Reference(reference, location))

    @model_validator(mode="after")
    def _extensions_are_read(self) -> Self:
        known = self.submitted_extensions
        if other := [one for one in self.extensions or () if one not in known]:
            raise ValueError(f"extensions: expected some of {', '.join(known)}, found {other[0]}")
        return self

    @property
    def in_mm(self) -> bool:
        """Whether lengths are in mm rather than in pixels."""
        return self.dimensions == 3 or self.has_spacing

    @property
    def extent_unit(self) -> str:
        """The unit of volumes, of areas of images of two dimensions."""
        return ("mm³" if self.dimensions == 3 else "mm²") if self.in_mm else "pixels"


class MaskedFieldTable(ImageFieldTable):
    """A field whose images may count in a mask alone, which is a label and never submitted."""

    mask_folder: str | None = Key(
        default=None,
        description="Folder of the reference's masks, label maps of 0 and 1 named as the cases. Voxels that "
        "are 0 there do not count: of label maps they are background on both sides, as in places that nobody "
        "has annotated (TIGER). Default: all voxels count.",
    )

    def hidden(self, name: str) -> tuple[HiddenField, ...]:
        """Return the mask."""
        if self.mask_folder is None:
            return super().hidden(name)
        places = Files(self.mask_folder, extensions_of(image_formats(self.dimensions)))
        mask = LabelMap({1: "mask"}, 0, self.dimensions)
        return (*super().hidden(name), HiddenField(mask_of(name), Reference(mask, places)))


def mask_of(field_name: str) -> str:
    """Return the name of the hidden field with the mask of a field."""
    return f"{field_name}_mask"


@dataclass(frozen=True)
class Structure:
    """A label, or a region made of several: its name, and the positions of its labels in a map, from 1 on."""

    name: str
    positions: tuple[int, ...]

    def mask(self, positions: NDArray[np.uint8]) -> Bools:
        """Return where a map of positions has the structure."""
        return segmentation.has_any(positions, self.positions)


class StructureField(ImageFieldTable):
    """A field in whose images each listed number names a structure."""

    labels: dict[str, tables.Name] = Key(
        description='Names of the labels by number, for example `{ 1 = "liver", 2 = "R-PCA" }`. In the names '
        "of figures a space and a hyphen become an underscore: `dice_R_PCA`. A name has letters, digits, "
        "spaces, hyphens, underscores and parentheses, which figures leave out; there are at most 254.",
        min_length=1,
    )
    regions: dict[tables.Name, Annotated[list[int], Key(min_length=1)]] = Key(
        default={},
        description="Regions made of labels by their numbers, as `{ whole = [1, 2, 3], core = [1, 3] }`. "
        "They may overlap. Metrics then score the regions, and a label where their `labels` name it.",
    )
    annotators: list[tables.Name] = Key(
        default=[],
        description="Names of several annotators of every case. The reference of each lies in a folder of "
        "that name in the folder of the reference, and `over_annotators` of a metric says what becomes of "
        "their figures. A rehearsal and pictures take that of the first. Default: there is one reference.",
    )

    @field_validator("labels")
    @classmethod
    def _named(cls, labels: dict[str, str]) -> dict[str, str]:
        for number in labels:
            if not number.isascii() or not number.isdigit():
                raise ValueError(f"expected whole numbers, found {number!r}")
        _check_distinct(list(labels.values()))
        return labels

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        self.check()
        return self

    def check(self) -> None:
        """Raise ValueError for keys that do not fit."""
        _ = self.map  # raises ValueError for numbers that are too large, or twice the same
        _check_distinct(list(self.regions))
        _check_distinct(self.annotators)
        numbers = [int(number) for number in self.labels]
        for name, region in self.regions.items():
            if unknown := [number for number in region if number not in numbers]:
                listed = ", ".join(map(str, numbers))
                raise ValueError(f"regions.{name}: expected some of {listed}, found {unknown[0]}")
            if len(set(region)) < len(region):
                raise ValueError(f"regions.{name}: expected every number once, found {region}")
            for number, label in self.labels.items():
                if tables.figure_key(label) == tables.figure_key(name) and region != [int(number)]:
                    raise ValueError(f"regions.{name}: expected another name than that of label {number}")

    @property
    def structures(self) -> tuple[Structure, ...]:
        """All labels and regions; a region replaces the label of its name."""
        position = {int(number): place for place, number in enumerate(self.labels, 1)}
        labels = (Structure(name, (place,)) for place, name in enumerate(self.labels.values(), 1))
        return (
            *(each for each in labels if each.name not in self.regions),
            *(
                Structure(name, tuple(position[number] for number in region))
                for name, region in self.regions.items()
            ),
        )

    def compared(self, comparison: tables.FieldComparison) -> tables.FieldComparison:
        """Return the comparison of two label maps that metrics are of: by default the same."""
        return comparison

    def field(self, name: str) -> Field:
        field = self.file_field(name, self.map, self.map)
        return replace(field, reference=self._references(name)[0]) if self.annotators else field

    def hidden(self, name: str) -> tuple[HiddenField, ...]:
        """Return the references of all annotators but the first."""
        named = zip(self.annotators, self._references(name), strict=True)
        return tuple(HiddenField(_by(name, annotator), reference) for annotator, reference in named)[1:]

    def _references(self, name: str) -> list[Reference]:
        reference = self.file_field(name, self.map, self.map).reference
        files = reference.location
        assert isinstance(files, Files)
        folders = (f"{files.folder}/{annotator}" for annotator in self.annotators)
        return [replace(reference, location=replace(files, folder=folder)) for folder in folders]

    @property
    @abstractmethod
    def map(self) -> MapKind:
        """The kind of the values, submitted and reference. Raises ValueError for numbers that do not fit."""

    def compare(self, given: tables.FieldComparison, field: str | None = None) -> "MapComparison":
        """Return the comparison with one reference, by default with the first."""
        return MapComparison(self, given, field)

    def number_of_objects(self, value: LabelMapValue, structure: Structure, neighbours: Neighbours) -> int:
        """Return how many objects a structure has: connected components."""
        return components_of(structure.mask(value.positions), neighbours)[1]


class LabelMapField(MaskedFieldTable, StructureField):
    """An image or volume in which each listed number names a structure.

    It is a file for each case: `.mha`, `.nii.gz`, `.nii` or a TIFF stack for volumes, and `.nrrd` where
    `extensions` lists it; `.png`, `.bmp`, `.tif` or `.mha` for images; in an algorithm phase it is an image.
    Values may have any integer type, or be
    floating-point numbers that are whole. Unlisted numbers are faults, and so is another size. For volumes so
    are a spacing that differs by more than 0.01 %, an origin that differs by more than 1 % of the spacing
    (and by more than single precision rounds it), a direction with a cosine that differs by more than 0.001,
    and axes that are not at right angles, as after a gantry tilt: resample such images and their masks. The
    reference is such a file.
    """

    kind: Literal["label_map"]
    background: int = Key(default=0, description="Number of what has no label.")

    def compared(self, comparison: tables.FieldComparison) -> tables.FieldComparison:
        """Return the comparison of what lies in the mask."""
        if self.mask_folder is None:
            return comparison
        field, references = comparison.field, comparison.references
        mask = references[mask_of(field)].crop

        def counted(value: LabelMapValue) -> LabelMapValue:
            return replace(value, crop=inside(value.crop, mask))

        of_field = [field, *(_by(field, annotator) for annotator in self.annotators[1:])]
        masked = {**references, **{name: counted(references[name]) for name in of_field}}
        return tables.FieldComparison(field, counted(comparison.submitted), masked, comparison.all_submitted)

    def check(self) -> None:
        if (label := self.labels.get(str(self.background))) is not None:
            hint = f"background = N, a number that no label has, makes {label} a label like the others"
            raise ValueError(f"labels: {self.background} is the number of the background; {hint}")
        super().check()

    @property
    def submitted_extensions(self) -> tuple[str, ...]:
        """Without those of formats that lack the numbers of labels."""
        of_8_bits = max(self.background, *map(int, self.labels), 0) <= _MOST_OF_8_BITS
        return tuple(one for one in super().submitted_extensions if of_8_bits or one not in BMP.extensions)

    @property
    def map(self) -> LabelMap:
        named = {int(number): name for number, name in self.labels.items()}
        return LabelMap(named, self.background, self.dimensions)


def _by(field: str, annotator: str) -> str:
    """Return the name of the reference of another annotator than the first."""
    return f"{field}_by_{tables.figure_key(annotator)}"


def _check_distinct(names: Sequence[str]) -> None:
    if len({tables.figure_key(name) for name in names}) < len(names):
        raise ValueError(
            "expected names that differ from each other in more than spaces, hyphens and parentheses"
        )


@dataclass(frozen=True)
class ComparedMaps:
    """Both maps of a case in the smallest box around them: positions of ``labels`` labels.

    prediction, reference: shape (z, y, x), of images (y, x).
    """

    prediction: NDArray[np.uint8]
    reference: NDArray[np.uint8]
    labels: int

    @cached_property
    def boxes(self) -> Sequence[segmentation.Region | None]:
        """The smallest box around each label in both maps, None where neither has it."""
        return segmentation.label_boxes(self.prediction, self.reference, self.labels)

    def masks(self, structure: Structure) -> tuple[Bools, Bools]:
        """Return a structure in prediction and reference in its box, which is empty if neither has it."""
        boxes = [box for place in structure.positions if (box := self.boxes[place - 1]) is not None]
        box = segmentation.around(boxes) if boxes else (slice(0),) * self.reference.ndim
        return structure.mask(self.prediction[box]), structure.mask(self.reference[box])


class MapComparison(tables.FieldComparison):
    """The comparison of a label map, with its table; what several metrics need is computed once."""

    def __init__(
        self, table: StructureField, comparison: tables.FieldComparison, field: str | None = None
    ) -> None:
        comparison = table.compared(comparison)
        super().__init__(
            field or comparison.field, comparison.submitted, comparison.references, comparison.all_submitted
        )
        self.table = table

    @classmethod
    def of(cls, comparison: tables.FieldComparison, table: StructureField) -> "MapComparison":
        """Return the comparison that all metrics of a field share."""
        return comparison.derive("label map", table.compare)

    @cached_property
    def by_annotator(self) -> "Sequence[MapComparison]":
        """The comparisons with the reference of each annotator; this one is with the first."""
        fields = [_by(self.field, annotator) for annotator in self.table.annotators[1:]]
        return [self, *(self.table.compare(self, field) for field in fields)]

    @cached_property
    def maps(self) -> ComparedMaps:
        """Both maps of a case, cropped."""
        maps = together(self.submitted.crop, self.reference.crop)
        prediction, reference = (one.reshape(one.shape[3 - self.table.dimensions :]) for one in maps)
        return ComparedMaps(prediction, reference, len(self.table.labels))

    def whole_masks(self, structure: Structure) -> tuple[Bools, Bools]:
        """Return a structure in prediction and reference in the whole image."""
        shape, axes = self.reference.shape, self.table.dimensions
        wholes = (value.crop.whole(shape) for value in (self.submitted, self.reference))
        made, true = (structure.mask(one.reshape(shape[3 - axes :])) for one in wholes)
        return made, true

    @cached_property
    def counts(self) -> segmentation.LabelCounts:
        """The voxels of each structure in both maps and in their overlap."""
        return self.count()

    def count(self) -> segmentation.LabelCounts:
        """Count the voxels of each structure."""
        labels, regions = len(self.table.labels), [one.positions for one in self.table.structures]
        # In slabs: of a slide or a large volume both maps and their common box need not be in memory.
        parts = [
            segmentation.count_label_overlap(prediction, reference, labels, regions)
            for prediction, reference in in_slabs(self.submitted.crop, self.reference.crop)
        ]
        return segmentation.OverlapCounts(
            intersection=np.sum([part.intersection for part in parts], axis=0),
            prediction=np.sum([part.prediction for part in parts], axis=0),
            reference=np.sum([part.reference for part in parts], axis=0),
        )

    def object_maps(
        self, structure: Structure, neighbours: Neighbours, any_class: bool = False
    ) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """Return the objects of a structure in both maps, numbered from 1 on, 0 elsewhere."""
        made, true = (components_of(mask, neighbours)[0] for mask in self.maps.masks(structure))
        return made, true

    def overlaps(self, structure: Structure, neighbours: Neighbours, any_class: bool = False) -> "Overlaps":
        """Return the objects of a structure, connected components, and how they overlap; found once.

        any_class: objects of instance maps may match those of another class; components match in their label.
        """
        # The metrics that ask have imported it; a phase without them starts without it.
        from evaluation.metrics.lesions import find_lesions

        def find(given: "MapComparison") -> "Overlaps":
            return find_lesions(*given.maps.masks(structure), neighbours)

        return self.derive(("objects", structure.positions, neighbours), find)

    def agreement(
        self, structures: Sequence[Structure], values: Crop
    ) -> tuple[NDArray[Any], list[tuple[Bools, Bools]]]:
        """Return where all annotators and where any annotator has each structure, beside given values.

        All have one shape, that of the smallest box around values and references; the values come first.
        """
        references = [one.reference.crop for one in self.by_annotator]
        submitted, *positions = together(values, *references)
        masks = [[structure.mask(of) for of in positions] for structure in structures]
        return submitted, [(np.logical_and.reduce(of), np.logical_or.reduce(of)) for of in masks]


def spacing_of(reference: LabelMapValue, table: ImageFieldTable) -> tuple[float, ...]:
    """Return the spacing along each axis of the image, 1 where the phase gives none."""
    return (reference.spacing_mm or (1.0, 1.0, 1.0))[-table.dimensions :]


Extent = Literal["diagonal", "shape_norm"]
WORST = (
    "`diagonal`, the default: that of the case's image. `shape_norm`: the diagonal in voxels, whatever the "
    "unit is."
)


def extent_of(shape: Sequence[int], spacing: Sequence[float], extent: Extent = "diagonal") -> float:
    """Return a length of an image in the unit of its spacing, of its last axes."""
    sides = shape[-len(spacing) :]
    if extent == "shape_norm":
        return math.hypot(*sides)
    return math.hypot(*(size * step for size, step in zip(sides, spacing, strict=True)))
