"""Detection maps, against components that SimpleITK finds."""

import numpy as np
import pytest
import SimpleITK
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.io.kinds.probability_map import DetectionMap
from evaluation.io.kinds.volume import Volume
from evaluation.io.volume_header import DEPTH, UPRIGHT, Geometry, geometry_columns
from evaluation.metrics.components import components_of
from evaluation.metrics.crops import VolumeCrop
from test.faults import faulted
from test.io.memory import InMemory

SHAPE = (3, 4, 5)
KIND, IMAGES = DetectionMap(), DetectionMap(dimensions=2)


def case_of(shape):
    return CaseForm("V1", shape[2], shape[1], geometry_columns(geometry_of_shape(shape), DEPTH))


def geometry_of_shape(shape):
    return Geometry(shape, (0.5, 0.25, 2.0), (0.0, 0.0, 0.0), UPRIGHT)


def read(values, kind=KIND, extension=".mha"):
    path = f"V1{extension}"
    data = kind.write_file(Volume(values, geometry_of_shape(values.shape)), extension)
    case = case_of(values.shape) if kind is KIND else CaseForm("V1", values.shape[2], values.shape[1])
    return kind.read(FileSource(path), case, InMemory({path: data}))


def confidences_of(found):
    """Return the value of every voxel in the whole image."""
    candidates = found.crop.within((0, 0, 0), found.shape)
    return np.concatenate([[0], found.confidences])[candidates]


MASKS = arrays(np.bool_, SHAPE, elements=st.sampled_from([False, False, False, True]))


@given(MASKS, st.sampled_from([".mha", ".nii.gz", ".nii"]), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_every_component_has_its_confidence(mask, extension, random):
    image = SimpleITK.ConnectedComponent(SimpleITK.GetImageFromArray(mask.astype(np.uint8)), True)
    components = SimpleITK.GetArrayFromImage(image)
    count = components.max()
    values = np.array([0, *(random.randint(1, 64) / 64 for _ in range(count))], np.float32)[components]
    found = read(values, extension=extension)
    assert len(found.confidences) == count
    np.testing.assert_array_equal(confidences_of(found), values)
    # The same components under other numbers.
    pairs = {*zip(found.crop.within((0, 0, 0), SHAPE).ravel(), components.ravel(), strict=True)}
    assert len(pairs) == len(np.unique(components))


def test_findings_of_an_image():
    values = np.zeros((1, 4, 5), np.float32)
    values[0, 0, :2] = 0.5
    values[0, 3, 4] = 0.25
    found = read(values, IMAGES, ".tif")
    assert found.confidences.tolist() == [0.5, 0.25]
    np.testing.assert_array_equal(confidences_of(found), values)


@pytest.mark.parametrize("places", [[(1, 1, 1), (1, 1, 2)], [(1, 1, 1), (2, 2, 2)]], ids=["face", "corner"])
def test_a_component_of_several_values_is_a_fault(places):
    values = np.zeros(SHAPE, np.float32)
    for place, value in zip(places, (0.25, 0.75), strict=True):
        values[place] = value
    values[0, 3, 4] = 1
    expected = ("V1.mha", "0.25 to 0.75 in one of 1 components")
    with faulted(FormFault, *expected):
        read(values)


def test_values_beyond_0_to_1_are_faults():
    values = np.zeros(SHAPE, np.float32)
    values[1] = 2
    with faulted(FormFault, "V1.mha", "2 in plane 2", kind=FaultKind.WRONG_VALUE):
        read(values)


def test_too_many_findings_are_a_fault():
    values = np.zeros((1, 80, 80), np.float32)
    values[0, ::2, ::2] = 0.5
    with faulted(FormFault, "V1.mha", "1600", kind=FaultKind.WRONG_VALUE):
        read(values, IMAGES)


def test_variants_for_a_rehearsal():
    reference = LabelMapValue(
        VolumeCrop(np.array([[[1, 2, 0], [3, 0, 1]]], np.uint8), (1, 1, 1)), SHAPE, None
    )
    kind = DetectionMap(foreground=2)
    mask = np.zeros(SHAPE)
    mask[1, 1:3, 1:4] = [[1, 1, 0], [0, 0, 1]]
    derived = {variant: kind.rehearse(reference, case_of(SHAPE), variant) for variant in Variant}
    np.testing.assert_array_equal(confidences_of(derived[Variant.PERFECT]), mask)
    np.testing.assert_array_equal(confidences_of(derived[Variant.INVERTED]), 1 - mask)
    assert len(derived[Variant.EMPTY].confidences) == 0
    assert np.argwhere(confidences_of(derived[Variant.NEAR]) != mask).tolist() == [[1, 1, 3]]
    assert {value.shape for value in derived.values()} == {SHAPE}


def test_nothing_has_no_components():
    labelled, count = components_of(np.zeros((0, 0, 0), np.bool_))
    assert (labelled.shape, count) == ((0, 0, 0), 0)
