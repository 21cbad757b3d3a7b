"""The image of a case, plane by plane: read from its file after comparing its header with the case table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from evaluation.core.fault import FormFault, ReadError
from evaluation.core.form import CaseForm
from evaluation.core.source import FileAccess, FileSource, Source
from evaluation.io.grey_images import read_numbers
from evaluation.io.pixels import Size
from evaluation.io.volumes.case_geometry import geometry_of, plane_geometry_of
from evaluation.io.volumes.header import Geometry, check_geometry
from evaluation.io.volumes.plane import Plane, whole_plane
from evaluation.io.volumes.reader import SLAB_BYTES, open_volume

Dimensions = Literal[2, 3]

_BYTES_PER_VOXEL = 8
_HEADER_ALLOWANCE = 1 << 20


def case_geometry(case: CaseForm, dimensions: Dimensions) -> Geometry:
    """Return the geometry of a case's image; one of two dimensions has one plane. Raises `PhaseError`."""
    return geometry_of(case) if dimensions == 3 else plane_geometry_of(case)


def path_of(source: Source) -> str:
    """Return the path of an image. Raises `TypeError` for sources that are no files."""
    if not isinstance(source, FileSource):
        raise TypeError(f"no image can be read from {type(source).__name__}")
    return source.path


def case_planes(
    path: str,
    case: CaseForm,
    files: FileAccess,
    dimensions: Dimensions,
    slab_bytes: int = SLAB_BYTES,
    planes: str = "planes",
) -> Iterator[Plane]:
    """Yield the planes of a case's image in order, each valid until the next is read.

    Values have any numeric type. ``planes`` is the word for planes in messages. The size of an image of two
    dimensions, and size, spacing, origin and direction of a volume are compared with the case before pixels
    are decoded. Raises `FormFault`.
    """
    expected = case_geometry(case, dimensions)
    limit_bytes = _BYTES_PER_VOXEL * math.prod(expected.shape) + _HEADER_ALLOWANCE
    try:
        if dimensions == 2:
            size = Size(case.width, case.height)
            yield whole_plane(read_numbers(files.read(path, limit_bytes), path, size))
            return
        with files.open(path, limit_bytes) as stream:
            # As many pages as any axis is long: exchanged axes are still recognised.
            volume = open_volume(stream, path, slab_bytes, max(expected.shape))
            problems = check_geometry(volume.header.geometry, expected, planes)
            if problems:
                raise FormFault(problem.fault(path) for problem in problems)
            yield from volume.planes()
    except ReadError as error:
        raise FormFault(error.fault(path)) from None
