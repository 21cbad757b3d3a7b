"""Displacement fields: for every voxel of a fixed image the way to its place in a moving one, in voxels."""

import gzip
import io
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, FormFault, ReadError
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.formats import GZIP, HEAD_BYTES, NIFTI, ZIP, Dimensions, format_of_content, other_content
from evaluation.core.sources import FileAccess, FileSource, fault_at
from evaluation.io import nifti
from evaluation.io.handover import HandoverError, Packed, array_of
from evaluation.io.kinds.label_map import MapKind, Shape
from evaluation.io.kinds.points import Points, PointSet, point_set
from evaluation.io.voxels import BegunStream
from evaluation.metrics.arrays import Floats

EXTENSIONS = (".nii.gz", ".nii", ".npz")
LONGEST = 1e6
"""No component is longer, in voxels."""

_COMPONENTS = 3
_BYTES = 8
_HEADER_BYTES = 1 << 16
_NAME = "a displacement field (x, y, z, 3) in NIfTI, or one such array in an archive of NumPy"


@dataclass(frozen=True, slots=True)
class Displacement:
    """Components x, y and z in voxels, shape (3, z, y, x); spacing_mm: (z, y, x)."""

    vectors: Floats
    spacing_mm: tuple[float, float, float]


@dataclass(frozen=True)
class DisplacementField(MapKind):
    """Three numbers for each voxel of the fixed image: a point p of it lies at p + u(p) in the moving one.

    A file has the shape (x, y, z, 3) or (x, y, z, 1, 3), and numbers in voxels. Its position and spacing are
    not compared: most programs write none.
    """

    dimensions: Dimensions = 3

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> Displacement:
        shape = self.geometry(case).shape
        try:
            with files.open(path, _BYTES * _COMPONENTS * math.prod(shape) + (1 << 20)) as stream:
                head = stream.read(HEAD_BYTES)
                content = format_of_content(head)
                if content in (NIFTI, GZIP):
                    vectors = self._of_nifti(BegunStream(head, stream), shape)
                elif content is ZIP:
                    vectors = _of_archive(head + stream.read(stream.size), shape)
                else:
                    raise other_content(head, _NAME)
        except ReadError as error:
            raise FormFault(error.fault(path)) from None
        lowest, highest = float(vectors.min()), float(vectors.max())
        if not -LONGEST <= lowest <= highest <= LONGEST:
            worst = highest if highest > LONGEST or math.isnan(highest) else lowest
            raise fault_at(FileSource(path), f"finite numbers of at most {LONGEST:g} voxels", f"{worst:g}")
        return self._value(vectors, case)

    def _value(self, vectors: NDArray[Any], case: CaseForm) -> Displacement:
        return Displacement(vectors, self.placed(case)[1] or (1.0, 1.0, 1.0))

    def _of_nifti(self, stream: BegunStream, shape: Shape) -> NDArray[Any]:
        volume = nifti.open_volume(stream, 0, _COMPONENTS)
        depth, height, width = volume.header.geometry.shape
        _check_shape((width, height, depth // _COMPONENTS, _COMPONENTS), shape)
        vectors = _floats(np.empty((depth, height, width), volume.header.dtype))
        for plane, values in zip(vectors, volume.planes(), strict=True):
            plane[...] = values.values
        return vectors.reshape(_COMPONENTS, *shape)

    def rehearse(self, reference: None, case: CaseForm, variant: Variant) -> Displacement | None:
        """Return the field that leaves everything where it is, in place of an empty one."""
        if variant is not Variant.EMPTY:
            return None
        return self._value(np.zeros((_COMPONENTS, *self.geometry(case).shape), np.float32), case)

    def example(self, case: CaseForm, random: np.random.Generator) -> Displacement:
        zero = self.rehearse(None, case, Variant.EMPTY)
        assert zero is not None
        shift = random.uniform(-1, 1, (_COMPONENTS, 1, 1, 1)).astype(np.float32)
        return self._value(zero.vectors + shift, case)

    def pixels(self, case: CaseForm) -> int:
        return _COMPONENTS * super().pixels(case)

    def pack(self, value: Displacement) -> Packed:
        return value.vectors

    def unpack(self, packed: Packed, case: CaseForm) -> Displacement:
        vectors = array_of(packed, ["<f4", "<f8"], 4)
        if vectors.shape != (_COMPONENTS, *self.geometry(case).shape):
            raise HandoverError("expected three components of each voxel")
        if not (vectors.min() >= -LONGEST and vectors.max() <= LONGEST):
            raise HandoverError("expected finite components")
        return self._value(vectors, case)

    def writable(self, value: Displacement, case: CaseForm) -> Any:
        return value

    def write_file(self, value: Displacement, extension: str) -> bytes:  # type: ignore[override]  # no Volume
        vectors = value.vectors.astype(value.vectors.dtype.newbyteorder("<"))
        if extension == ".npz":
            buffer = io.BytesIO()
            np.savez_compressed(buffer, vectors.transpose(3, 2, 1, 0))
            return buffer.getvalue()
        data = nifti.write_components(vectors)
        return gzip.compress(data, 1, mtime=0) if extension == ".nii.gz" else data

    def describe(self) -> str:
        return (
            "for each voxel of the fixed image the way to its place in the moving one, in voxels (x, y, z): "
            "an array (x, y, z, 3), as NIfTI or the only array of an `.npz` archive"
        )


@dataclass(frozen=True)
class Landmarks(Points):
    """Points of one of two images, in the order of those of the other."""

    def example(self, case: CaseForm, random: np.random.Generator) -> PointSet:
        return point_set(
            [(*self.space.example(case, random), 0, 1, math.nan) for _ in range(5)], self.space.axes
        )


def _floats(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in single precision if they have no more, else in double precision."""
    return values.astype(
        np.float32 if values.dtype.itemsize <= 4 and values.dtype.kind == "f" else np.float64
    )


def _check_shape(found: tuple[int, ...], shape: Shape) -> None:
    expected = (*shape[::-1], _COMPONENTS)
    if found != expected:
        one, other = (" × ".join(map(str, sizes)) for sizes in (expected, found))
        raise ReadError(FaultKind.WRONG_SIZE, f"an array of {one} numbers (x, y, z, 3)", other)


def _of_archive(data: bytes, shape: Shape) -> NDArray[Any]:
    """Return the only array of an archive. Raises `ReadError`."""
    import zipfile

    from numpy.lib import format as npy

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) != 1:
                raise ReadError(FaultKind.WRONG_VALUE, "one array", f"{len(members)} arrays")
            with archive.open(members[0]) as file:
                version = npy.read_magic(file)
                read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                found, is_fortran, dtype = read(file)
                if dtype.kind != "f" or dtype.itemsize > _BYTES:
                    expected = "floating-point numbers of 16, 32 or 64 bits"
                    raise ReadError(FaultKind.WRONG_VALUE, expected, f"the type {dtype}")
                _check_shape(found, shape)
                size = math.prod(found) * dtype.itemsize
                content = file.read(size + 1)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, OSError, RuntimeError) as error:
        raise ReadError(FaultKind.UNREADABLE, _NAME, f"a damaged one ({type(error).__name__})") from None
    if len(content) != size:
        raise ReadError(FaultKind.UNREADABLE, _NAME, "more or fewer numbers than its header says")
    values = np.frombuffer(content, dtype).reshape(found, order="F" if is_fortran else "C")
    return np.ascontiguousarray(_floats(values.transpose(3, 2, 1, 0)))
