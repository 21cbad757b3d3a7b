"""What is read of a submission for its figures, against what was scored, and photographs of cases."""

import base64
import io

import numpy as np
import pytest
import SimpleITK
from PIL import Image

from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.organiser.report.case_images import CaseImage, Photographs, Request, read_cases
from evaluation.organiser.report.pictures import chosen_cases
from evaluation.organiser.report.sentences import Names
from test.faults import faulted
from test.phases import refuge_phase, refuge_submission


def read(bundled, **changes):
    chosen = chosen_cases(bundled.results)
    pictures = {task: tuple(cases) for task, cases in chosen.items()}
    arguments = {"pictures": pictures, "images": None, "workers": 0, **changes}
    return chosen, read_cases(Request(bundled.phase, bundled.submission, **arguments), lambda done: None)


def test_ratios_give_the_error_that_was_scored(bundled_phase):
    bundled = bundled_phase("refuge-onsite")
    _, values = read(bundled)
    errors = [abs(ratio.predicted - ratio.reference) for value in values for ratio in value.measurements]
    table = bundled.results.tables["segmentation"]
    assert errors == pytest.approx(table["vertical_cup_to_disc_ratio_error"].tolist())


def test_volumes_give_the_error_that_was_scored(bundled_phase):
    bundled = bundled_phase("cysts")
    _, values = read(bundled)
    errors = [abs(size.predicted - size.reference) for value in values for size in value.sizes]
    table = bundled.results.tables["cysts"]
    names = [value.name for value in values if value.sizes]
    scored = dict(zip(table.names, table["volume_error_mm3"].tolist(), strict=True))
    assert errors == pytest.approx([scored[name] for name in names], abs=1e-9)


def test_locations_give_the_distance_that_was_scored(bundled_phase):
    bundled = bundled_phase("adam-onsite")
    _, values = read(bundled)
    table = bundled.results.tables["fovea"]
    scored = dict(zip(table.names, table["distance"].tolist(), strict=True))
    found = {value.name: value.locations["fovea"] for value in values if value.locations}
    assert len(found) > 30
    for name, at in found.items():
        (px, py), (rx, ry) = at.predicted, at.reference
        assert ((px - rx) ** 2 + (py - ry) ** 2) ** 0.5 == pytest.approx(scored[name])


@pytest.mark.parametrize("name", ["refuge-onsite", "cysts", "edd2020"])
def test_every_chosen_case_has_a_picture(bundled_phase, name):
    chosen, values = read(bundled_phase(name))
    pictures = {value.name: value.pictures for value in values}
    drawn = [(task, case) for task, cases in chosen.items() for case in cases if task in pictures[case]]
    assert len(drawn) >= 4
    for task, case in drawn:
        head, _, data = pictures[case][task].source.partition(",")
        assert head == "data:image/png;base64"
        with Image.open(io.BytesIO(base64.b64decode(data))) as picture:
            assert 50 < picture.width < 1000


def test_several_processes_read_the_same(bundled_phase):
    bundled = bundled_phase("refuge-onsite")
    assert read(bundled, workers=2) == read(bundled)


def test_another_submission_is_a_fault(tmp_path):
    phase = refuge_phase(tmp_path / "phase", 4)
    submission = refuge_submission(tmp_path / "submission", 4)
    (submission / "segmentation" / "V0001.png").unlink()
    request = Request(phase, submission, {}, None, 0)
    with faulted(PhaseError, "segmentation/V0001.bmp", "none"):
        read_cases(request, lambda done: None)


def test_panels_are_named_in_the_words_of_the_phase():
    words = Names({"disc": "the polyp"}).of
    assert (
        CaseImage("regions", "", ("disc", "cup_rim")).shows(words)
        == " From left to right: the polyp, cup rim."
    )
    assert CaseImage("regions", "", ("disc",)).shows(words) == " Shows: the polyp."
    assert CaseImage("regions", "").shows(words) == ""


def test_an_image_is_found_by_its_name_and_scaled(tmp_path):
    (tmp_path / "nested").mkdir()
    Image.new("RGB", (20, 10), (9, 8, 7)).save(tmp_path / "nested" / "v0001.PNG")
    found = Photographs(tmp_path).of(CaseForm("V0001.jpg", 20, 10))
    assert found.shape == (10, 20, 3)
    assert np.unique(found.reshape(-1, 3), axis=0).tolist() == [[9, 8, 7]]
    Image.new("L", (40, 20), 5).save(tmp_path / "a.png")
    assert Photographs(tmp_path).of(CaseForm("a", 20, 10)).shape == (10, 20, 3)
    assert Photographs(tmp_path).of(CaseForm("b", 20, 10)) is None
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
