"""Probability maps and detection maps: images and volumes of probabilities or of findings."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError, apart, in_digits
from evaluation.core.field import Variant, grow_by_a_pixel, varied
from evaluation.core.form import CaseForm
from evaluation.core.formats import Dimensions
from evaluation.core.sources import FileAccess, FileSource, fault_at
from evaluation.core.views import Objects, Voxels
from evaluation.io.handover import HandoverError, Packed, array_of, list_of, pack_crop, unpack_crop
from evaluation.io.kinds.label_map import LabelMapValue, MapKind, MapValue
from evaluation.io.kinds.volume import Volume
from evaluation.io.pixels import outside
from evaluation.io.volumes import case_planes
from evaluation.metrics.arrays import Floats
from evaluation.metrics.components import components_of
from evaluation.metrics.crops import EMPTY, Crop, Place, content_of, crop, stack_of

# --- Probability maps: images and volumes that hold a probability for every pixel or voxel ---


@dataclass(frozen=True, slots=True)
class ProbabilityMapValue(MapValue):
    """A map of probabilities, float32, in [0, 1]."""

    @property
    def probabilities(self) -> NDArray[np.float32]:
        """The probabilities in the crop."""
        return self.crop.values


@dataclass(frozen=True)
class ProbabilityMap(MapKind):
    """A probability from 0 to 1 for every pixel of an image of the case's geometry; see `LabelMap`.

    In a rehearsal the reference is a label map; its first ``foreground`` labels are 1 and all others 0.
    """

    lowest = 0.0
    highest = 1.0
    dimensions: Dimensions = 3
    foreground: int = 1

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> ProbabilityMapValue:
        return self._value(read_probabilities(self, path, case, files, self.lowest, self.highest), case)

    def _value(self, cropped: Crop, case: CaseForm) -> ProbabilityMapValue:
        return ProbabilityMapValue(cropped, *self.placed(case))

    def rehearse(self, reference: LabelMapValue, case: CaseForm, variant: Variant) -> ProbabilityMapValue:
        """Return a map of 0 and 1: the reference, with one voxel more, empty, or inverted."""
        mask = rehearsed_mask(reference, self.foreground, variant)
        return self._value(stack_of(map(_cropped, mask), np.float32), case)

    def unpack(self, packed: Packed, case: CaseForm) -> ProbabilityMapValue:
        cropped = unpack_crop(packed, ["<f4"], self.geometry(case).shape)
        if outside(cropped.values, *as_kept(self.lowest, self.highest)) is not None:
            raise HandoverError(f"expected {numbers_in_words(self.lowest, self.highest)}")
        return self._value(cropped, case)

    @property
    def voxels(self) -> Voxels:
        return Voxels(_planes, self._of_voxels, self.dimensions)

    def _of_voxels(self, array: NDArray[np.floating], case: CaseForm) -> ProbabilityMapValue:
        return self._value(stack_of(map(_cropped, array), np.float32), case)

    def describe(self) -> str:
        return f"a probability from 0 to 1 for each {self.place}"


LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class NumberMap(ProbabilityMap):
    """A finite number from ``lowest`` to ``highest`` for every pixel of an image of the case's geometry.

    In a rehearsal the reference is such an image. Values have the type of `ProbabilityMapValue`.
    """

    lowest: float = -LARGEST
    highest: float = LARGEST

    def rehearse(  # type: ignore[override]  # of another reference
        self, reference: ProbabilityMapValue, case: CaseForm, variant: Variant
    ) -> ProbabilityMapValue:
        """Return an image: unchanged, with one value like its neighbour, as small as may be, or mirrored.

        Mirrored are the values, between the smallest and the largest one of the image.
        """
        if variant is Variant.PERFECT:
            return reference
        numbers = reference.whole.copy()
        lowest, highest = numbers.min(), numbers.max()
        if variant is Variant.NEAR:
            grow_by_a_pixel(numbers.reshape(-1, numbers.shape[2]), lowest)
        elif variant is Variant.EMPTY:
            numbers[...] = min(max(0.0, self.lowest), self.highest)
        else:
            numbers = lowest + (highest - numbers)
        return self._of_voxels(numbers, case)

    def example(self, case: CaseForm, random: np.random.Generator) -> ProbabilityMapValue:
        low, high = max(self.lowest, -1000.0), min(self.highest, 1000.0)
        shape = self.geometry(case).shape
        return self._of_voxels(random.uniform(low, high, shape).astype(np.float32), case)

    def describe(self) -> str:
        return f"{numbers_in_words(self.lowest, self.highest)} for each {self.place}"


def numbers_in_words(lowest: float, highest: float) -> str:
    """Return which values a file may have, for messages and descriptions."""
    if lowest <= -LARGEST and highest >= LARGEST:
        return "finite values"
    if highest >= LARGEST:
        return f"finite values of at least {lowest:g}"
    if lowest <= -LARGEST:
        return f"finite values of at most {highest:g}"
    return f"values from {lowest:g} to {highest:g}"


def as_kept(lowest: float, highest: float) -> tuple[float, float]:
    """Return the bounds of values that are kept as float32, rounded to it where that is wider."""
    lowest, highest = max(lowest, -LARGEST), min(highest, LARGEST)
    return min(lowest, float(np.float32(lowest))), max(highest, float(np.float32(highest)))


def read_probabilities(
    kind: MapKind, path: str, case: CaseForm, files: FileAccess, lowest: float, highest: float
) -> Crop:
    """Return the values of an image as float32 within bounds, cropped to those that are not 0.

    Raises `FormFault`.
    """

    def checked(values: NDArray[Any]) -> Crop:
        if (bad := outside(values, *as_kept(lowest, highest))) is not None:
            found = in_digits(float(bad), lowest, highest)
            raise ReadError(FaultKind.WRONG_VALUE, numbers_in_words(lowest, highest), found)
        return _cropped(values)  # values above 0 may become 0 as float32

    planes = case_planes(path, case, files, kind.dimensions)
    return stack_of((part for _, part in kind.parts(planes, path, checked)), np.float32)


def rehearsed_mask(reference: LabelMapValue, foreground: int, variant: Variant) -> NDArray[np.bool_]:
    """Return the foreground of a reference in the whole image, changed by the variant."""
    whole = reference.whole_positions
    return varied((whole > 0) & (whole <= foreground), variant)


def _planes(value: ProbabilityMapValue) -> Iterator[Crop]:
    """Yield the planes of a map in order, without the memory of the whole."""
    first, *corner = value.corner
    for z in range(-first, value.shape[0] - first):
        yield Crop(value.probabilities[z], tuple(corner)) if 0 <= z < len(value.probabilities) else EMPTY


def _cropped(plane: NDArray[Any]) -> Crop:
    """Return a copy of a plane as float32, cropped to the nonzero values."""
    values = plane.astype(np.float32) + np.float32(0)  # turns −0 to 0
    return content_of(values).copy()


# --- Detection maps: images and volumes whose connected components each carry one confidence ---

MOST_CANDIDATES = 1000
"""The maximum number of components of a map, many times more than a reader could look at."""


@dataclass(frozen=True, slots=True)
class DetectionMapValue(MapValue):
    """The candidates of an image, uint16: 0 = none, i = the i-th candidate.

    confidences: float64, shape (candidates,), above 0.
    """

    confidences: NDArray[np.float64]

    @property
    def candidates(self) -> NDArray[np.uint16]:
        """The candidates in the crop."""
        return self.crop.values


@dataclass(frozen=True)
class DetectionMap(MapKind):
    """An image of the case's geometry; components of 26 neighbours (8 in two dimensions) have one value each.

    In a rehearsal the reference is a label map; its first ``foreground`` labels are lesions.
    Source: Saha et al. 2024, Lancet Oncol. 25:879 (PI-CAI).
    """

    late_modules: ClassVar[tuple[str, ...]] = ("scipy.ndimage",)

    dimensions: Dimensions = 3
    foreground: int = 1
    any_confidence: bool = False

    @property
    def highest(self) -> float:
        """The highest confidence that is allowed."""
        return float(np.finfo(np.float32).max) if self.any_confidence else 1.0

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> DetectionMapValue:
        found = read_probabilities(self, path, case, files, 0.0, self.highest)
        labelled, count = components_of(found.values > 0)
        if count > MOST_CANDIDATES:
            raise fault_at(FileSource(path), f"at most {MOST_CANDIDATES} connected components", str(count))
        highest, lowest = np.zeros(count + 1, np.float32), np.full(count + 1, np.inf, np.float32)
        for index, values in zip(labelled, found.values, strict=True):
            np.maximum.at(highest, index, values)
            np.minimum.at(lowest, index, values)
        several = np.flatnonzero(highest[1:] != lowest[1:]) + 1
        if len(several):
            first = several[0]
            expected = "one value in each connected component (diagonal neighbours are connected)"
            extremes = " to ".join(apart([lowest[first]], [highest[first]]))
            raise fault_at(FileSource(path), expected, f"{extremes} in one of {len(several)} components")
        return self._value(labelled, found.corner, highest[1:].astype(np.float64), case)

    def _value(
        self, candidates: NDArray[np.integer], corner: Place, confidences: Floats, case: CaseForm
    ) -> DetectionMapValue:
        crop = Crop(candidates.astype(np.uint16), corner)
        return DetectionMapValue(crop, *self.placed(case), confidences)

    def rehearse(self, reference: LabelMapValue, case: CaseForm, variant: Variant) -> DetectionMapValue:
        """Return candidates of confidence 1: the lesions, with one voxel more, none, or all else."""
        mask = rehearsed_mask(reference, self.foreground, variant)
        found = stack_of((crop(plane.view(np.uint8), 0) for plane in mask), np.uint8)
        labelled, count = components_of(found.values > 0)
        return self._value(labelled, found.corner, np.ones(count), case)

    def pack(self, value: DetectionMapValue) -> Packed:
        return [*pack_crop(value.crop), value.confidences]

    def unpack(self, packed: Packed, case: CaseForm) -> DetectionMapValue:
        """Return the map, checked; whether candidates are connected is not. Raises `HandoverError`."""
        *placed, confidences = list_of(packed, 5)
        cropped = unpack_crop(placed, ["<u2"], self.geometry(case).shape)
        confidences = array_of(confidences, ["<f8"], 1)
        if len(confidences) > MOST_CANDIDATES or outside(confidences, 0, self.highest) is not None:
            raise HandoverError(f"expected up to {MOST_CANDIDATES} confidences up to {self.highest:g}")
        voxels = np.bincount(cropped.values.reshape(-1), minlength=len(confidences) + 1)
        if len(voxels) > len(confidences) + 1 or not voxels[1:].all():
            raise HandoverError(f"expected voxels of {len(confidences)} candidates")
        return self._value(cropped.values, cropped.corner, confidences, case)

    def writable(self, value: DetectionMapValue, case: CaseForm) -> Volume:
        confidences = np.array([0.0, *value.confidences], np.float32)
        return Volume(confidences[value.whole], self.geometry(case))

    @property
    def objects(self) -> Objects:
        return Objects(
            "component",
            lambda value: rows_of_components(
                value.candidates, value.corner, value.confidences, self.dimensions
            ),
            axes=self.dimensions,
            with_confidence=True,
            most=MOST_CANDIDATES,
            sizes=lambda value: np.bincount(value.candidates.ravel())[1:].astype(np.float64),
            numbered=lambda value: value.crop,
            of_numbered=self._of_numbered,
        )

    def _of_numbered(self, numbered: NDArray[np.integer], rows: Floats, case: CaseForm) -> DetectionMapValue:
        """Return a map of the components; those that touch are one, with the highest confidence."""
        joined, count = components_of(numbered > 0)
        confidences = np.zeros(count + 1)
        np.maximum.at(confidences, joined.ravel(), np.concatenate([[0.0], rows[:, 1]])[numbered.ravel()])
        found = stack_of((crop(plane.astype(np.uint8), 0) for plane in joined), np.uint8)
        return self._value(found.values, found.corner, confidences[1:], case)

    def describe(self) -> str:
        confidence = "positive confidence" if self.any_confidence else "confidence up to 1"
        return (
            f"0 or a {confidence} for each {self.place}; each connected component "
            "(diagonal neighbours are connected) is one finding, with one value"
        )


def rows_of_components(
    components: NDArray[np.integer], corner: Place, confidences: Floats, dimensions: Dimensions
) -> Floats:
    """Return the rows of an `Objects` view for numbered components of a crop (z, y, x), of class 0."""
    from scipy.ndimage import find_objects

    # Asked for no more than none, it would look for the largest number in an array that may be empty.
    found = (
        find_objects(components.astype(np.int32, copy=False), len(confidences)) if len(confidences) else []
    )
    nothing = (slice(0, 0),) * 3
    boxes = [[(part.start, part.stop) for part in box or nothing] for box in found]
    ends = np.array(boxes, float).reshape(-1, 3, 2) + np.reshape(corner, (3, 1))
    axes = slice(None, None, -1) if dimensions == 3 else slice(None, 0, -1)
    lower, upper = ends[:, axes, 0], ends[:, axes, 1]
    return np.column_stack([np.zeros(len(ends)), confidences, lower, upper])
