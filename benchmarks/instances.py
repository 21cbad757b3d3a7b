"""All metrics of 5,000 instances a side in 1,000², and of 2,000 in 256³, against reading both maps.

    python -m benchmarks --only instances

Maps are compressed MetaImage files, as the platform writes them. In one process, through the metrics that a
phase declares. Processor time: everything runs in one thread.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import SimpleITK
from numpy.typing import NDArray

from benchmarks.measure import Row, processor_seconds_of
from evaluation.challenges.declared import instances, lesions
from evaluation.challenges.declared.instance_maps import InstanceMapField
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.files import FileStream, ReadBuffer
from evaluation.io.kinds.instance_map import InstanceMapValue
from evaluation.io.volume_header import DEPTH, Geometry, geometry_columns

_METRICS = {
    "panoptic, recognition and segmentation quality": (
        lesions.PanopticQuality(metric="panoptic_quality"),
        lesions.RecognitionQuality(metric="recognition_quality"),
        lesions.SegmentationQuality(metric="segmentation_quality"),
    ),
    "aggregated Jaccard index": (instances.AggregatedJaccardIndex(metric="aggregated_jaccard"),),
    "counts": (instances.CountDetermination(metric="count_determination"),),
    "matched Dice": (instances.MatchedDice(metric="matched_dice"),),
    "matched surfaces": (instances.MatchedSurfaceDistance(metric="matched_surface_distance"),),
}


class _Files:
    """The files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._buffer = folder, ReadBuffer()

    def read(self, path: str, limit_bytes: int, may_be_empty: bool = False) -> memoryview:
        return self._buffer.read(self._folder, path, limit_bytes=limit_bytes, may_be_empty=may_be_empty)

    def open(self, path: str, limit_bytes: int) -> FileStream:
        return FileStream(str(self._folder), path, limit_bytes)


def rows(runs: int) -> list[Row]:
    """Return the rows of all metrics, of each, and of reading."""
    sizes = (((1000, 1000), 5000), ((256, 256, 256), 2000))
    return [row for shape, count in sizes for row in _rows(_drawn(shape, count), runs)]


def _drawn(shape: tuple[int, ...], count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return boxes in a grid, all of other sizes, and the same moved by up to two voxels along an axis."""
    random = np.random.default_rng(0)
    cells = [round(size / (np.prod(shape) / count) ** (1 / len(shape))) for size in shape]
    cells[0] = -(-count // int(np.prod(cells[1:])))
    true, made = np.zeros((2, *shape), np.int32)
    sides = [size // of_axis for size, of_axis in zip(shape, cells, strict=True)]
    for number, place in enumerate(itertools.islice(np.ndindex(*cells), count), start=1):
        low = [
            at * side + int(random.integers(0, 1 + side // 4)) for at, side in zip(place, sides, strict=True)
        ]
        long = [int(random.integers(side // 2, side - side // 4)) for side in sides]
        axis, step = int(random.integers(len(shape))), int(random.integers(0, 3))
        true[tuple(map(slice, low, map(sum, zip(low, long, strict=True))))] = number
        low[axis] += step
        made[tuple(map(slice, low, map(sum, zip(low, long, strict=True))))] = number
    return made, true


def _rows(sides: tuple[NDArray[np.int32], NDArray[np.int32]], runs: int) -> Iterator[Row]:
    shape, count = sides[0].shape, len(np.unique(sides[1])) - 1
    direction = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    columns = {}
    if len(shape) == 3:
        columns = geometry_columns(Geometry(shape, (1.0,) * 3, (0.0,) * 3, direction), DEPTH)
    case = CaseForm("case", shape[-1], shape[-2], columns)
    table = InstanceMapField(kind="instance_map", labels={"1": "cell"}, dimensions=3 if columns else 2)
    with tempfile.TemporaryDirectory() as folder:
        for name, values in zip(("made.mha", "true.mha"), sides, strict=True):
            image = SimpleITK.GetImageFromArray(values)
            SimpleITK.WriteImage(image, str(Path(folder) / name), useCompression=True)
        files = _Files(Path(folder))

        def read() -> list[InstanceMapValue]:
            return [table.map.read(FileSource(name), case, files) for name in ("made.mha", "true.mha")]

        made, true = read()
        reading = processor_seconds_of(read, runs)
    measures = {
        name: [metric.measure(metric.metric, "map", table) for metric in of] for name, of in _METRICS.items()
    }

    def score(names: list[str]) -> None:
        comparison = FieldComparison("map", made, {"map": true})
        for measure in (one for name in names for one in measures[name]):
            measure.row(comparison)

    title = f"instances, {' × '.join(map(str, shape))}, {count} a side, processor time from maps in memory"
    all_of_them = processor_seconds_of(partial(score, [*measures]), runs)
    yield Row(title, "all metrics", all_of_them)
    for name in measures:
        seconds = processor_seconds_of(partial(score, [name]), runs)
        yield Row(title, name, seconds, seconds / all_of_them)
    yield Row(title, "floor: read both maps", reading, reading / all_of_them)
