"""Probability and detection maps, against SimpleITK and tifffile."""

import numpy as np
import pytest
import SimpleITK
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.probability_map import DetectionMap, ProbabilityMap
from evaluation.io.kinds.volume import Volume
from evaluation.io.volume_header import DEPTH, UPRIGHT, Geometry, geometry_columns
from test.faults import faulted
from test.io.memory import InMemory

GEOMETRY = Geometry((3, 4, 5), (0.5, 0.25, 2.0), (1.5, -2.0, 3.25), UPRIGHT)
CASE = CaseForm("V1", 5, 4, geometry_columns(GEOMETRY, DEPTH))
IMAGE_CASE = CaseForm("V1", 5, 4)
VOLUMES = ProbabilityMap()


def read(data, extension, kind=VOLUMES, case=None):
    path = f"V1{extension}"
    case = case or (CASE if kind.dimensions == 3 else IMAGE_CASE)
    return kind.read(FileSource(path), case, InMemory({path: data}))


@pytest.mark.parametrize("tiny", [-0.0, 1e-300])
def test_what_is_0_as_float32_is_cropped(tiny):
    values = np.full((3, 4, 5), tiny)
    values[2, 3, 4] = 0.5
    found = read(VOLUMES.write_file(Volume(values, GEOMETRY), ".mha"), ".mha")
    assert (found.corner, found.probabilities.tolist()) == ((2, 3, 4), [[[0.5]]])
    assert not np.signbit(found.whole).any()


SHAPE = (3, 4, 5)
KIND, FINDINGS = DetectionMap(), DetectionMap(dimensions=2)


def read_findings(values, kind=KIND, extension=".mha"):
    data = kind.write_file(Volume(values, GEOMETRY), extension)
    case = CASE if kind is KIND else CaseForm("V1", values.shape[2], values.shape[1])
    return read(data, extension, kind, case)


def confidences_of(found):
    """Return the value of every voxel in the whole image."""
    candidates = found.crop.whole(found.shape)
    return np.concatenate([[0], found.confidences])[candidates]


MASKS = arrays(np.bool_, SHAPE, elements=st.sampled_from([False, False, False, True]))


@given(MASKS, st.sampled_from([".mha", ".nii.gz", ".nii"]), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_every_component_has_its_confidence(mask, extension, random):
    image = SimpleITK.ConnectedComponent(SimpleITK.GetImageFromArray(mask.astype(np.uint8)), True)
    components = SimpleITK.GetArrayFromImage(image)
    count = components.max()
    values = np.array([0, *(random.randint(1, 64) / 64 for _ in range(count))], np.float32)[components]
    found = read_findings(values, extension=extension)
    assert len(found.confidences) == count
    np.testing.assert_array_equal(confidences_of(found), values)
    # The same components under other numbers.
    pairs = {*zip(found.crop.whole(SHAPE).ravel(), components.ravel(), strict=True)}
    assert len(pairs) == len(np.unique(components))


@pytest.mark.parametrize("places", [[(1, 1, 1), (1, 1, 2)], [(1, 1, 1), (2, 2, 2)]], ids=["face", "corner"])
def test_a_component_of_several_values_is_a_fault(places):
    values = np.zeros(SHAPE, np.float32)
    for place, value in zip(places, (0.25, 0.75), strict=True):
        values[place] = value
    values[0, 3, 4] = 1
    expected = ("V1.mha", "0.25 to 0.75 in one of 1 components")
    with faulted(FormFault, *expected):
        read_findings(values)


def test_too_many_findings_are_a_fault():
    values = np.zeros((1, 80, 80), np.float32)
    values[0, ::2, ::2] = 0.5
    with faulted(FormFault, "V1.mha", "1600", kind=FaultKind.WRONG_VALUE):
        read_findings(values, FINDINGS)
