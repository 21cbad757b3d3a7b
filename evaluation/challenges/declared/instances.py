"""Further metrics of instances, fragments and lesions: union of all, counts over cases, matched surfaces."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from evaluation.challenges.declared.instance_maps import InstanceMapField
from evaluation.challenges.declared.label_maps import Figures, StructureMetricTable
from evaluation.challenges.declared.lesions import LesionTable
from evaluation.challenges.declared.maps import (
    LabelMapField,
    MapComparison,
    Structure,
    StructureField,
    extent_of,
    spacing_of,
)
from evaluation.challenges.declared.tables import (
    FieldComparison,
    FieldTable,
    LabelFigure,
    Measure,
    Part,
    Positive,
    described,
    titles_of_each,
)
from evaluation.core.case_table import Row
from evaluation.core.challenge import Values
from evaluation.core.class_estimators import Determination
from evaluation.core.estimator import MeanOfFigures
from evaluation.core.keys import Key
from evaluation.core.metric import Metric
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics import object_surfaces
from evaluation.metrics.components import Neighbours
from evaluation.metrics.matching import Matching, Overlaps


class AggregatedJaccardIndex(LesionTable):
    """Aggregated Jaccard index: the overlap of all matched objects by the union of all objects.

    From 0 to 1, higher is better. Each object of the reference takes the predicted one of the highest
    intersection over union, which may serve several; `matching = "optimal"` takes each once (AJI+). The union
    has the objects that match nothing, too. 1 where neither map has an object, 0 where only one has. A case
    without a result counts as 0.

    Oracle: unions of sets of voxels by hand. Source: Kumar et al., IEEE Trans. Med. Imaging 36:1550, 2017.
    """

    metric: Literal["aggregated_jaccard"]
    counts_voxels = True
    of_nothing = 1.0
    matching: Matching = Key(default="best", description=described(LesionTable, "matching"))

    def counted(self, found: Overlaps) -> Part:
        union = int(found.pair_union.sum()) + found.false_voxels + found.missed_voxels
        return Part(int(found.pair_voxels.sum()), union)

    def missing_part(self, comparison: MapComparison, structure: Structure) -> Part:
        """Return that no voxel is found, and as many are false, at least one."""
        voxels = int(structure.mask(comparison.reference.positions).sum())
        return Part(0, voxels + max(1, voxels))


class _PairTable(LesionTable):
    """The mean of a figure of each pair of objects that match."""

    common = "A case whose reference has no object does not enter."
    matching: Matching = Key(default="optimal", description=described(LesionTable, "matching"))
    missed: Literal["score", "score_reference", "exclude"] = Key(
        default="score",
        description="Objects that match nothing. `score`: each, of either map, counts as the worst. "
        "`score_reference`: those of the reference do, and false ones cost nothing: a grid of objects beside "
        "any others finds what they miss. `exclude`: the mean is over those that match, so that it rewards "
        "leaving out what is hard; where none does, it is the worst.",
    )

    @property
    def caution(self) -> str:
        if self.missed != "score":
            return "false objects cost nothing, so that many beside a good prediction find what it misses"
        if self.matching in ("any", "best", "most_overlap"):
            return "one predicted object may match several, so that one that fills the image matches all"
        return ""

    def pair_values(self, comparison: MapComparison, found: Overlaps, structure: Structure) -> Figures:
        """Return the figure of each pair."""
        raise NotImplementedError

    def values(self, comparison: MapComparison, structures: Sequence[Structure]) -> Figures:
        figures = []
        for structure in structures:
            found = self.matched(comparison, structure)
            values = np.asarray(self.pair_values(comparison, found, structure), np.float64)
            worst = self.worst_value(comparison.reference, comparison.table, structure)
            missed = 0 if self.missed == "exclude" else len(found.reference_voxels) - found.detected
            if self.missed == "score":
                missed += found.false
            number = len(values) + missed
            figures.append((math.fsum(values) + missed * worst) / number if number else worst)
        return figures

    def worst_value(self, reference: LabelMapValue, table: StructureField, structure: Structure) -> float:
        has_objects = self.objects_of(reference, table, structure)
        return self.worst_of(reference, table) if has_objects else math.nan

    def worst_of(self, reference: LabelMapValue, table: StructureField) -> float:
        """Return the worst figure of an object."""
        return self.figure(table).worst


class MatchedDice(_PairTable):
    """Mean Dice coefficient of the objects of the reference and the predicted ones that they match.

    From 0 to 1, higher is better. An object of either map that matches nothing counts as 0, see `missed`. A
    case without a result counts as 0.

    Oracle: scikit-learn, `f1_score` of the voxels.
    """

    metric: Literal["matched_dice"]

    def pair_values(self, comparison: MapComparison, found: Overlaps, structure: Structure) -> Figures:
        values: Sequence[float] = found.dice.tolist()
        return values


class MatchedSurfaceDistance(_PairTable):
    """Mean distance between the surfaces of the objects of the reference and those that they match.

    At least 0, lower is better, in mm (in two dimensions without a spacing: pixels). Of each pair the mean
    over the surface voxels of both, or with `percentile` the larger percentile of both directions (100: the
    Hausdorff distance). An object of either map that matches nothing counts as `worst`, see `missed`, and no
    distance as more. A case without a result counts as `worst`.

    Oracle: SciPy, `distance_transform_edt`.
    """

    metric: Literal["matched_surface_distance"]
    percentile: float | None = Key(
        default=None, description="Percentile of the distances. Default: their mean.", gt=0, le=100
    )
    worst: Positive | None = Key(
        default=None,
        description="Distance of an object that matches nothing. Default: the diagonal of the case's image.",
    )
    surface_neighbours: Literal["faces", "all"] = Key(
        default="faces",
        description="Neighbours of a voxel that make it surface if one of them is outside of the object: "
        "`faces` 6 (4 in two dimensions), `all` 26 (8; SPIDER).",
    )
    distances: Literal["mm", "voxels", "xyz_mm"] = Key(
        default="mm",
        description="Unit of all distances: `mm` (in two dimensions without a spacing: pixels), or `voxels`, "
        "as if every spacing were 1. `xyz_mm`: the spacing along x, y, z is taken for that along z, y, x, as "
        "in programs that mix up the orders of SimpleITK (SPIDER).",
    )

    def figure(self, table: StructureField) -> LabelFigure:
        worst = math.inf if self.worst is None else self.worst
        unit = "voxels" if self.distances == "voxels" else "mm" if table.in_mm else "pixels"
        return LabelFigure(0, worst, unit)

    def spacing_of(self, reference: LabelMapValue, table: StructureField) -> tuple[float, ...]:
        """Return the length of a voxel along each axis, in the unit of distances."""
        in_mm = spacing_of(reference, table)
        if self.distances == "voxels":
            return (1.0,) * len(in_mm)
        return in_mm[::-1] if self.distances == "xyz_mm" else in_mm

    def worst_of(self, reference: LabelMapValue, table: StructureField) -> float:
        if self.worst is not None:
            return self.worst
        return extent_of(reference.shape, self.spacing_of(reference, table))

    def pair_values(self, comparison: MapComparison, found: Overlaps, structure: Structure) -> Figures:
        maps = comparison.object_maps(structure, self.neighbours, self.matching == "most_overlap")
        spacing = self.spacing_of(comparison.reference, comparison.table)
        matched = (structure.positions, self.neighbours, self.threshold, self.strict)
        options = ("surfaces", *matched, self.matching, self.agreement, self.surface_neighbours, spacing)

        def measure(given: MapComparison) -> object_surfaces.Directions:
            return object_surfaces.distances_of_pairs(*maps, found, spacing, self.surface_neighbours)

        directions = comparison.derive(options, measure)
        pairs = len(found.pair_voxels)
        if self.percentile is None:
            distances = object_surfaces.average_distances(directions, pairs)
        else:
            distances = object_surfaces.hausdorff_distances(directions, pairs, self.percentile)
        values: Sequence[float] = np.minimum(
            distances, self.worst_of(comparison.reference, comparison.table)
        ).tolist()
        return values


class CountDetermination(StructureMetricTable):
    """Coefficient of determination (R²) of the numbers of objects over all cases.

    At most 1, higher is better; 0 for the mean number in every case. It is 1 − the sum of squared errors by
    the sum of squared deviations of the true numbers from their mean, so that it needs numbers that differ. A
    case without a result counts as one more than twice its objects, so that its error is larger than of a
    prediction without any. It has no interval: the bootstrap's percentiles covered the coefficient in 88 to
    94 % of simulated samples of 10 to 300 cases, and in 83 to 90 % of those of 10 to 50 cases of which few
    had most of the objects.

    Oracle: scikit-learn, `r2_score`. Source: Graham et al., Medical Image Analysis 92:103047, 2024 (CoNIC).
    """

    metric: Literal["count_determination"]
    neighbours: Neighbours = Key(default="all", description=described(LesionTable, "neighbours"))
    kinds = (LabelMapField, InstanceMapField)

    def case_values(self, comparison: MapComparison, structures: Sequence[Structure]) -> Figures:
        table = comparison.table
        return [table.number_of_objects(comparison.submitted, of, self.neighbours) for of in structures]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        assert isinstance(table, StructureField)
        if table.annotators:
            raise ValueError("expected a field without annotators")
        structures, title = self.scored(table), self.title_of(name)
        names = titles_of_each(name, title, (structure.name for structure in structures))

        def columns(made: Sequence[float], true: Sequence[float]) -> Row:
            of_each = zip(names, made, true, strict=True)
            return {
                f"{figure}_{end}": float(count)
                for figure, one, other in of_each
                for end, count in (("predicted", one), ("true", other))
            }

        def numbers(value: LabelMapValue) -> list[int]:
            return [table.number_of_objects(value, of, self.neighbours) for of in structures]

        def row(comparison: FieldComparison) -> Row:
            maps = MapComparison.of(comparison, table)
            return columns(numbers(maps.submitted), numbers(maps.reference))

        def worst(references: Values) -> Row:
            maps = table.compare(FieldComparison.of_reference(field_name, references))
            true = numbers(maps.reference)
            return columns([2 * number + 1 for number in true], true)

        each = [Determination(f"{of}_predicted", f"{of}_true") for of in names]
        none = "the bootstrap's covers the coefficient in 83 to 94 % of simulated samples"
        metrics = [Metric(name, title, MeanOfFigures(tuple(each)), 1, -math.inf, no_interval=none)]
        if len(structures) > 1:
            metrics += [
                Metric(*titled, of, 1, -math.inf, no_interval=none)
                for titled, of in zip(names.items(), each, strict=True)
            ]
        return Measure(tuple(metrics), row, worst)
