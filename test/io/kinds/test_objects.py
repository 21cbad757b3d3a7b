"""Class and probability of objects: the columns they need, and what another process may hand over."""

import numpy as np
import pytest

from evaluation.core.fault import Fault, FaultKind, FormFault
from evaluation.io.handover import HandoverError
from evaluation.io.kinds.annotation_json import MAX_FAULTS
from evaluation.io.kinds.objects import Attributes, Space, all_or_faults
from evaluation.io.kinds.points import Points

BOTH = Attributes(("a", "b"), with_probability=True)


@pytest.mark.parametrize(
    ("attributes", "columns", "cells", "name"),
    [
        (Attributes(), (), [], None),
        (Attributes(("a",)), (), [], None),
        (Attributes(("a",), always_named=True), ("class",), ["a"], "a"),
        (BOTH, ("class", "probability"), ["a", "0.5"], "a"),
    ],
)
def test_columns_and_cells(attributes, columns, cells, name):
    assert attributes.columns == columns
    assert list(attributes.cells(0, 0.5)) == cells
    assert attributes.name(0) == name


@pytest.mark.parametrize(
    ("labels", "probabilities"), [([2.0], [0.5]), ([0.5], [0.5]), ([0.0], [1.5]), ([0.0], [-0.5])]
)
def test_forged_attributes(labels, probabilities):
    BOTH.check(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    with pytest.raises(HandoverError):
        BOTH.check(np.array(labels), np.array(probabilities))


@pytest.mark.parametrize("packed", [np.zeros((3, 4)), np.zeros((1, 3)), np.full((1, 4), np.nan), None, []])
def test_forged_tables(packed):
    few = Points(Space(2), most=2)
    assert few.unpacked(np.zeros((2, 4)), 4).shape == (2, 4)
    with pytest.raises(HandoverError):
        few.unpacked(packed, 4)


def test_no_row_is_read_after_so_many_faults():
    read, faults = [], []

    def rows():
        for number in range(10 * MAX_FAULTS):
            read.append(number)
            faults.extend([Fault(FaultKind.MISSING, "a.csv", "a number", "none", number)] * (number % 2))
            yield (float(number),)

    with pytest.raises(FormFault) as caught:
        all_or_faults(rows(), faults)
    assert (len(read), len(caught.value.faults)) == (2 * MAX_FAULTS, MAX_FAULTS)
    assert all_or_faults(iter([(1.0,), (2.0,)]), []) == [(1.0,), (2.0,)]
