"""The field of instance maps, and the comparison of two of them."""

from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.declared import tables
from evaluation.challenges.declared.maps import MapComparison, Structure, StructureField
from evaluation.core.formats import PNG, extensions_of, image_formats
from evaluation.core.keys import Key
from evaluation.io.kinds.instance_map import (
    LARGEST_NUMBER,
    InstanceMap,
    InstanceMapValue,
)
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.arrays import Bools
from evaluation.metrics.components import Neighbours
from evaluation.metrics.crops import Crop, together
from evaluation.metrics.matching import Overlaps, overlaps_of

Number = Annotated[int, Key(ge=1, le=LARGEST_NUMBER)]


class InstanceMapField(StructureField):
    """An image or volume in which each object, such as a cell, has a number of its own, and 0 is elsewhere.

    It is a file for each case: `.mha`, `.nii.gz`, `.nii` or a TIFF stack for volumes; `.tif`, `.mha` or
    `.png` for images; in an algorithm phase it is an image. Numbers are whole, from 1 to 4294967295, of any
    type, and an image may have any number of them. An object need not be connected. `labels` are the classes
    of the objects: of one class are all, of several classes either `class_plane` or `ranges`
    says which. Size and position are compared as for a `label_map`. The reference is such a file.
    """

    kind: Literal["instance_map"]
    class_plane: bool = Key(
        default=False,
        description="Images: whether a file has a second plane or page with the numbers of the classes. An "
        "object has the class of most of its pixels.",
    )
    ranges: dict[str, Annotated[list[Number], Key(min_length=2, max_length=2)]] | None = Key(
        default=None,
        description="First and last number of the objects of each class, by the number of the class, as "
        "`{ 1 = [1, 10], 2 = [11, 20] }` (PENGWIN).",
    )
    border: int = Key(
        default=0,
        description="Objects with a pixel within so many of the border of the image do not count, in the "
        "reference and in the prediction (CellSeg: 2).",
        ge=0,
        le=1000,
    )

    @property
    def map(self) -> InstanceMap:
        """The kind of the values. Raises ValueError for classes that are said in no or several ways."""
        named = {int(number): name for number, name in self.labels.items()}
        ways = [self.class_plane, self.ranges is not None]
        if all(ways) or (len(named) > 1 and not any(ways)):
            raise ValueError("expected class_plane or ranges for several labels")
        if self.class_plane and self.dimensions == 3:
            raise ValueError("class_plane: expected none of volumes, use ranges")
        if self.class_plane and self.stacked:
            raise ValueError("class_plane: expected none in stacks, use ranges")
        spans = None
        if self.ranges is not None:
            spans = {int(number): (span[0], span[1]) for number, span in self.ranges.items()}
            ordered = sorted(spans.values())
            apart = all(one[1] < other[0] for one, other in pairwise(ordered))
            if spans.keys() != named.keys() or not apart or any(last < first for first, last in ordered):
                raise ValueError("ranges: expected one for each label that overlaps no other")
            spans = {number: spans[number] for number in named}
        return InstanceMap(named, 0, self.dimensions, class_plane=self.class_plane, ranges=spans)

    @property
    def image_extensions(self) -> tuple[str, ...]:
        known = extensions_of(image_formats(self.dimensions, numbers=True))
        return known if self.dimensions == 3 or self.class_plane else (*known, *PNG.extensions)

    def compare(self, given: tables.FieldComparison, field: str | None = None) -> "InstanceComparison":
        return InstanceComparison(self, given, field)

    def number_of_objects(self, value: LabelMapValue, structure: Structure, neighbours: Neighbours) -> int:
        assert isinstance(value, InstanceMapValue)
        return int(np.isin(value.classes, structure.positions).sum())


class InstanceComparison(MapComparison):
    """The comparison of two instance maps, without the objects at the border."""

    def __init__(
        self, table: InstanceMapField, comparison: tables.FieldComparison, field: str | None = None
    ) -> None:
        super().__init__(table, comparison, field)
        self.border = table.border
        self.submitted: InstanceMapValue = self._inside(self.submitted)

    def read_reference(self) -> InstanceMapValue:
        """Return the objects of the reference that count."""
        return self._inside(self.references[self.field])

    def _inside(self, value: InstanceMapValue) -> InstanceMapValue:
        """Return the objects that are not too near the border."""
        return value.among(~self._at_border(value)) if self.border else value

    def _at_border(self, value: InstanceMapValue) -> Bools:
        """Return which objects have a voxel that is too near the border of the image."""
        near = np.zeros(len(value.numbers) + 1, np.bool_)
        for axis in range(3 - self.table.dimensions, 3):
            places = value.corner[axis] + np.arange(value.objects.shape[axis])
            outer = (places < self.border) | (places >= value.shape[axis] - self.border)
            near[value.objects.compress(outer, axis)] = True
        return near[1:]

    @cached_property
    def all_objects(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """All objects of both maps in the smallest box around them; an image has two axes."""
        crops = (Crop(value.objects, value.corner) for value in (self.submitted, self.reference))
        made, true = (one.reshape(one.shape[3 - self.table.dimensions :]) for one in together(*crops))
        return made, true

    @cached_property
    def all_overlaps(self) -> Overlaps:
        """All objects and how they overlap, whatever their classes."""
        numbers = (len(value.numbers) for value in (self.submitted, self.reference))
        return overlaps_of(*self.all_objects, *numbers)

    def _chosen(self, structure: Structure, any_class: bool) -> tuple[Bools, Bools]:
        """Return which objects of each map are of a class, or of some.

        any_class: the predicted ones that have most of a reference object are chosen, too, whatever they are.
        """
        made, true = (np.isin(of.classes, structure.positions) for of in (self.submitted, self.reference))
        if any_class:
            made[self.all_overlaps.among(made | True, true).of_most_voxels().pair_prediction] = True
        return made, true

    def object_maps(
        self, structure: Structure, neighbours: Neighbours, any_class: bool = False
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        chosen = zip(self.all_objects, self._chosen(structure, any_class), strict=True)
        made, true = (
            np.append(0, np.cumsum(of) * of).astype(objects.dtype)[objects] for objects, of in chosen
        )
        return made, true

    def overlaps(self, structure: Structure, neighbours: Neighbours, any_class: bool = False) -> Overlaps:
        return self.all_overlaps.among(*self._chosen(structure, any_class))
