"""Lesions of a label map, as the reference of points."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.core.formats import Dimensions
from evaluation.core.sources import FileAccess
from evaluation.core.views import Objects
from evaluation.io.kinds.label_map import LARGEST_LABEL, LabelMap, LabelMapValue, MapKind
from evaluation.io.kinds.objects import Space
from evaluation.io.kinds.points import PointSet, rows_of_points
from evaluation.io.kinds.volume import Volume
from evaluation.io.volume_header import UPRIGHT, Geometry
from evaluation.io.volumes import case_geometry
from evaluation.metrics.arrays import Floats, Integers
from evaluation.metrics.components import components_of


@dataclass(frozen=True, slots=True, eq=False)
class LesionPoints(PointSet):
    """The lesions of a case's map: one voxel of each as its point, and the maps to measure distances in.

    lesions: 1 for the first lesion and so on, 0 elsewhere, in the crop of ``mask``. mask: the label map that
    was read. grid: spacing, origin and direction by which a position falls into a voxel.
    """

    lesions: NDArray[np.int32]
    mask: LabelMapValue
    grid: Geometry

    def voxels_of(self, positions: Floats) -> Integers:
        """Return the voxel (z, y, x) of each position, shape (points, 3); it may lie outside the image."""
        spacing, origin, axes = _matrices(self.grid)
        padded = np.zeros((len(positions), 3))
        padded[:, : positions.shape[1]] = positions - origin[: positions.shape[1]]
        inside = np.linalg.solve(axes, padded.T).T / spacing
        return np.floor(inside + 0.5).astype(np.int64)[:, ::-1]


@dataclass(frozen=True)
class LesionMap(MapKind):
    """A label map whose connected components of the labels in ``lesions`` points can hit.

    ``others`` are further numbers of the map. Diagonal neighbours are connected. Positions are in ``space``:
    world millimetres of a volume, millimetres from the corner of an image, or pixels, of which the first has
    its centre at 0.5.
    """

    lesions: tuple[int, ...]
    space: Space
    others: tuple[int, ...] = ()
    dimensions: Dimensions = 3

    @cached_property
    def labels(self) -> LabelMap:
        """The kind of the files, with the lesions first."""
        numbers = {number: str(number) for number in (*self.lesions, *self.others)}
        return LabelMap(numbers, 0, self.dimensions)

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> LesionPoints:
        """Return the lesions of a file. Raises `FormFault`, and `PhaseError` without a spacing or origin."""
        return self._lesions(self.labels.read_file(path, case, files), case)

    def example(self, case: CaseForm, random: np.random.Generator) -> LesionPoints:
        return self._lesions(self.labels.example(case, random), case)

    def writable(self, value: LesionPoints, case: CaseForm) -> Volume:
        return self.labels.writable(value.mask, case)

    @property
    def objects(self) -> Objects:
        return Objects("point", rows_of_points, axes=self.space.axes, unit=self.space.unit)

    def describe(self) -> str:
        return self.labels.describe()

    def _lesions(self, mask: LabelMapValue, case: CaseForm) -> LesionPoints:
        grid = self._grid(case)
        wanted = (mask.positions > 0) & (mask.positions <= len(self.lesions))
        lesions, count = components_of(wanted)
        if count > LARGEST_LABEL:
            raise PhaseError(f"{case.name}: expected at most {LARGEST_LABEL} lesions, found {count}")
        voxels = np.argwhere(lesions)
        of_lesion = lesions[tuple(voxels.T)]
        # The middle one of a lesion's voxels in their order, which is one of its own even if it is bent.
        order, ends = np.argsort(of_lesion, kind="stable"), np.cumsum(np.bincount(of_lesion)[1:])
        middles = order[(np.concatenate([[0], ends[:-1]]) + ends) // 2] if count else order
        spacing, origin, axes = _matrices(grid)
        centres = (voxels[middles] + mask.corner)[:, ::-1] * spacing @ axes.T + origin
        positions, unknown = centres[:, : self.space.axes], np.full(count, np.nan)
        classes, probabilities = np.zeros(count, np.int64), np.ones(count)
        return LesionPoints(positions, classes, probabilities, unknown, lesions, mask, grid)

    def _grid(self, case: CaseForm) -> Geometry:
        if self.space.unit == "pixels":
            return Geometry((1, 1, 1), (1.0, 1.0, 1.0), (0.5, 0.5, 0.5))
        geometry = case_geometry(case, self.dimensions)
        if geometry.spacing_mm is None:
            raise PhaseError(f"cases.csv, {case.name}, spacing_mm: expected two lengths, found none")
        if self.dimensions == 2:
            return replace(geometry, origin_mm=tuple(length / 2 for length in geometry.spacing_mm))  # type: ignore[arg-type]  # three
        if geometry.origin_mm is None:
            raise PhaseError(f"cases.csv, {case.name}, origin_mm: expected three numbers, found none")
        return geometry


def _matrices(grid: Geometry) -> tuple[Floats, Floats, Floats]:
    """Return spacing and origin, shape (3,), and the matrix of directions, all in the order x, y, z."""
    direction = np.reshape(grid.direction or UPRIGHT, (3, 3))
    return np.asarray(grid.spacing_mm, float), np.asarray(grid.origin_mm, float), direction.astype(float)
