"""Photographs: found by the name of the case, at its size."""

import numpy as np
import pytest
from PIL import Image

from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.report.photographs import Photographs


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
    with pytest.raises(PhaseError, match="is not a folder"):
        Photographs(tmp_path / "nothing")
    (tmp_path / "a.png").write_bytes(b"no image")
    with pytest.raises(PhaseError, match=r"a\.png: cannot be read"):
        Photographs(tmp_path).of(CaseForm("a", 20, 10))
