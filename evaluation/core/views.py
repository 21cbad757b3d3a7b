"""Views of a value: the questions that other rooms ask of a kind, so that none of them asks for its class.

A kind has the views that fit its values (`Kind.regions` and so on) and None in place of the others. ``of``
returns the parts of a value that the kind has read. ``value`` makes a value of such parts; it is None where
there is no way back.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.form import CaseForm
from evaluation.metrics.arrays import Floats
from evaluation.metrics.crops import Crop


@dataclass(frozen=True)
class Regions:
    """The structures of an image or a volume.

    of: the pixels of each structure, booleans (z, y, x), in the order of ``names``; an image has one plane.
    It is best a generator, since a hundred masks of a volume would fill the memory.
    nested: the structures are listed from the inside out, each within the next one, and vertical diameters
    are measured by this definition.
    """

    names: tuple[str, ...]
    of: Callable[[Any], Iterable[Crop]]
    value: Callable[[Sequence[Crop], CaseForm], Any] | None = None
    dimensions: Literal[2, 3] = 2
    nested: Literal["column_count", "extent"] | None = None


@dataclass(frozen=True)
class Objects:
    """The points or boxes of an image or a volume, or the connected components of a map.

    of: shape (objects, 2 + 2 · axes): the class, the confidence (1 where it has none), the lower and the
    upper corner, each x, y and z. The corners of a point are equal, unless it has a size. number: any number
    of objects up to ``most``, exactly one, one of each class, or at most one of each. sizes: the diameters of
    points, or the pixels of components, where the kind knows them. inclusive: both corners belong to a box.
    numbered: of components, their voxels: i for the i-th one, 0 for none. of_numbered: a value of such voxels
    of the whole image (z, y, x) and of the class and confidence of each component, shape (components, 2).
    """

    form: Literal["point", "box", "component"]
    of: Callable[[Any], Floats]
    value: Callable[[Floats, CaseForm], Any] | None = None
    classes: tuple[str, ...] = ()
    axes: Literal[2, 3] = 2
    unit: Literal["pixels", "mm"] = "pixels"
    number: Literal["any", "one", "each", "some"] = "any"
    with_confidence: bool = False
    inclusive: bool = False
    most: int = 10_000
    sizes: Callable[[Any], Floats] | None = None
    numbered: Callable[[Any], Crop] | None = None
    of_numbered: Callable[[NDArray[np.integer], Floats, CaseForm], Any] | None = None


@dataclass(frozen=True)
class Numbers:
    """Numbers of a case, in the order of ``names``; the name of the only one is empty.

    bounds: the lowest and the highest number that may occur, infinite where there is no bound.
    """

    of: Callable[[Any], Sequence[float]]
    value: Callable[[Sequence[float]], Any]
    names: tuple[str, ...] = ("",)
    bounds: tuple[float, float] = (0.0, 1.0)
    unit: str = ""


@dataclass(frozen=True)
class Choices:
    """Decisions on a case, in the order of ``names``; the name of the only one is empty.

    of: the position of each decision in ``options``, which are listed in their order, or None. neither: the
    answer for which None stands, such as "excluded"; without such an answer, None is no decision.
    """

    of: Callable[[Any], Sequence[int | None]]
    value: Callable[[Sequence[int | None]], Any]
    options: tuple[str, ...] = ("0", "1")
    names: tuple[str, ...] = ("",)
    neither: str = ""


@dataclass(frozen=True)
class Voxels:
    """A number for every pixel or voxel.

    of: the planes in order, each valid until the next one; outside of its crop a plane is 0. value: from an
    array (z, y, x). marks: the voxels above 0 are a structure, which is named like its field. levels: the
    numbers are whole, from 0 to this one.
    """

    of: Callable[[Any], Iterable[Crop]]
    value: Callable[[NDArray[np.floating], CaseForm], Any] | None = None
    dimensions: Literal[2, 3] = 3
    marks: bool = False
    levels: int | None = None
