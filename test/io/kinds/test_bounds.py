"""Bounds of every kind of map in every type of a file: exact, and the same when a value is handed over."""

import io
import math

import numpy as np
import pytest
import tifffile

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.handover import decode, encode
from evaluation.io.kinds.instance_map import InstanceMap
from evaluation.io.kinds.label_map import LabelMap
from evaluation.io.kinds.probability_map import DetectionMap, NumberMap, ProbabilityMap
from test.faults import faulted
from test.io.memory import InMemory

CASE = CaseForm("a", 5, 4)
TENTH = float(np.float32(0.1))
SINGLE = float(np.finfo(np.float32).max)
TYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8")
VALUES = (
    *(0, 1, 2, -1, 127, 128, 255, 2999, 3000, 3001, 3002, -999, -1000, -1001, 0.5, 0.1, TENTH, 0.11),
    *(np.nextafter(1, 2), 65504, 65519, 65535, 65536, 2**24 + 1, 2**31 - 1, 2**32 - 1, 2**32, 2**53 + 1),
    *(2**63 - 1, 2**64 - 1, SINGLE, np.nextafter(SINGLE, np.inf), 1e300, math.inf, -math.inf, math.nan),
)
# A value that is not a number is in no bounds.
KINDS = {
    "label map": (LabelMap({1: "a", 65535: "b"}, dimensions=2), lambda value: value in (0, 1, 65535)),
    "instance map": (
        InstanceMap({1: "a"}, dimensions=2),
        lambda value: 0 <= value < 2**32 and value == int(value),
    ),
    "probability map": (ProbabilityMap(dimensions=2), lambda value: 0 <= value <= 1),
    "detection map": (DetectionMap(dimensions=2), lambda value: 0 <= value <= 1),
    "any confidence": (DetectionMap(dimensions=2, any_confidence=True), lambda value: 0 <= value <= SINGLE),
    "image": (NumberMap(dimensions=2), lambda value: abs(value) <= SINGLE),
    "image of bounds": (
        NumberMap(dimensions=2, lowest=-1000, highest=3000),
        lambda value: -1000 <= value <= 3000,
    ),
    # As it is kept, 0.1 in single precision is a little more.
    "image up to 0.1": (NumberMap(dimensions=2, lowest=0, highest=0.1), lambda value: 0 <= value <= TENTH),
    "image up to 1e300": (NumberMap(dimensions=2, highest=1e300), lambda value: abs(value) <= SINGLE),
}


def stored():
    """Yield arrays of zeros with one other value that their type holds, and that value exactly."""
    for code in TYPES:
        for value in VALUES:
            array = np.zeros((4, 5), code)
            if array.dtype.kind == "f":
                with np.errstate(over="ignore"):
                    array[2, 3] = value
            elif np.isfinite(value) and np.iinfo(code).min <= int(value) <= np.iinfo(code).max:
                array[2, 3] = int(value)
            yield array, array[2, 3].item()


@pytest.mark.parametrize("name", KINDS)
def test_what_is_read_is_within_the_bounds_and_can_be_handed_over(name):
    kind, fits = KINDS[name]
    for array, value in stored():
        file = io.BytesIO()
        tifffile.imwrite(file, array, photometric="minisblack")
        files = InMemory({"a.tif": file.getvalue()})
        if fits(value):
            found = kind.read(FileSource("a.tif"), CASE, files)
            kind.unpack(decode(b"".join(encode(kind.pack(found)))), CASE)
        else:
            with faulted(FormFault, "a.tif", kind=FaultKind.WRONG_VALUE):
                kind.read(FileSource("a.tif"), CASE, files)
