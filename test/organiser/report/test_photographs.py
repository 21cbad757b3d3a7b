"""Photographs: found by the name of the case, at its size."""

import numpy as np
import SimpleITK
from PIL import Image

from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.organiser.report.case_images import Photographs
from test.faults import faulted


def test_an_image_is_found_by_its_name_whatever_its_extension(tmp_path):
    (tmp_path / "nested").mkdir()
    Image.new("RGB", (20, 10), (9, 8, 7)).save(tmp_path / "nested" / "v0001.PNG")
    found = Photographs(tmp_path).of(CaseForm("V0001.jpg", 20, 10))
    assert found.shape == (10, 20, 3)
    assert np.unique(found.reshape(-1, 3), axis=0).tolist() == [[9, 8, 7]]


def test_an_image_of_another_size_is_scaled(tmp_path):
    Image.new("L", (40, 20), 5).save(tmp_path / "a.png")
    assert Photographs(tmp_path).of(CaseForm("a", 20, 10)).shape == (10, 20, 3)


def test_no_image_is_no_fault(tmp_path):
    assert Photographs(tmp_path).of(CaseForm("a", 20, 10)) is None
    assert Photographs(None).of(CaseForm("a", 20, 10)) is None


def test_a_folder_that_is_missing_and_a_file_that_is_no_image_are_faults(tmp_path):
    with faulted(PhaseError, "nothing"):
        Photographs(tmp_path / "nothing")
    (tmp_path / "a.png").write_bytes(b"no image")
    with faulted(PhaseError, "a.png"):
        Photographs(tmp_path).of(CaseForm("a", 20, 10))


def volume(path, values, kind=np.int16):
    SimpleITK.WriteImage(SimpleITK.GetImageFromArray(np.asarray(values, kind)), str(path))


def test_a_volume_is_drawn_from_black_to_white(tmp_path):
    values = np.arange(-500, 500).reshape(10, 10, 10)
    volume(tmp_path / "a.nii.gz", values)
    found = Photographs(tmp_path).volume_of(CaseForm("a"), (10, 10, 10))
    # Percentiles 0.5 and 99.5 are 4.995 from the ends of 999.
    assert found[0, 0, :5].tolist() == [0] * 5
    assert found[-1, -1, -5:].tolist() == [255] * 5
    assert found[5, 0, 0] == round(255 * (500 - 4.995) / (999 - 2 * 4.995))
    assert Photographs(tmp_path).volume_of(CaseForm("b"), (10, 10, 10)) is None


def test_a_volume_of_another_size_and_one_that_is_none_are_faults(tmp_path):
    volume(tmp_path / "a.mha", np.zeros((2, 3, 4)))
    with faulted(PhaseError, "a.mha", "4 × 3 × 2"):
        Photographs(tmp_path).volume_of(CaseForm("a"), (2, 3, 5))
    (tmp_path / "b.mha").write_bytes(b"none")
    with faulted(PhaseError, "b.mha"):
        Photographs(tmp_path).volume_of(CaseForm("b"), (2, 3, 4))
