import numpy as np
import pytest

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, FileSource
from evaluation.io.volume_header import DEPTH, Geometry, geometry_columns
from evaluation.io.volumes import case_geometry, case_planes, path_of, write_image
from test.faults import faulted
from test.io.memory import InMemory
from test.io.volumes.files import GEOMETRY, VALUES

CASE = CaseForm("V1", 5, 4, geometry_columns(GEOMETRY, DEPTH))


def planes(values, extension, dimensions, case=CASE, **options):
    data = write_image(values, GEOMETRY, extension, dimensions)
    path = f"V1{extension}"
    read = case_planes(path, case, InMemory({path: data}), dimensions, **options)
    return [plane.values.copy() for plane in read]


@pytest.mark.parametrize("extension", [".mha", ".nii.gz", ".nii", ".tif"])
@pytest.mark.parametrize("slab_bytes", [1, 170, 1 << 20])
def test_planes_of_a_volume(extension, slab_bytes):
    np.testing.assert_array_equal(planes(VALUES, extension, 3, slab_bytes=slab_bytes), VALUES)


@pytest.mark.parametrize("extension", [".mha", ".tif"])
def test_the_plane_of_an_image(extension):
    case = CaseForm("V1", 5, 4)
    np.testing.assert_array_equal(planes(VALUES[:1], extension, 2, case), VALUES[:1])


def test_messages_call_the_planes_what_the_phase_does():
    with faulted(FormFault, "V1.mha", "2 B-scans of 5 × 4 pixels", kind=FaultKind.WRONG_SIZE):
        planes(VALUES[:2], ".mha", 3, planes="B-scans")


def test_a_volume_is_compared_with_the_case_before_its_voxels():
    path, data = "V1.nii", write_image(VALUES, GEOMETRY, ".nii", 3)
    case = CaseForm("V1", 5, 4, {**CASE.columns, "origin_mm": "0 0 0"})
    with faulted(FormFault, "V1.nii", "1.5, -2, 3.25 mm", kind=FaultKind.WRONG_VALUE):
        next(case_planes(path, case, InMemory({path: data[:-9]}), 3))


def test_an_image_has_the_geometry_of_one_plane():
    assert case_geometry(CASE, 3) == GEOMETRY
    assert case_geometry(CaseForm("V1", 5, 4), 2) == Geometry((1, 4, 5))


def test_an_image_is_a_file():
    assert path_of(FileSource("a.mha")) == "a.mha"
    with pytest.raises(TypeError, match="CellsSource"):
        path_of(CellsSource(("1",), "a.csv", 2, ("x",)))
