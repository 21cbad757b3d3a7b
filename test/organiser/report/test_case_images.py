"""What is read of a submission for its figures, against what was scored."""

import base64
import io

import pytest
from PIL import Image

from evaluation.core.fault import PhaseError
from evaluation.organiser.report.case_images import CaseImage, Request, read_cases
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


@pytest.mark.parametrize("name", ["refuge-onsite", "cysts", "edd2020", "adam-onsite"])
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


def test_photographs_are_drawn_below(bundled_phase, tmp_path):
    bundled = bundled_phase("refuge-onsite")
    for case in bundled.results.phase.cases.forms:
        Image.new("RGB", (case.width, case.height), (90, 40, 10)).save(tmp_path / f"{case.name}.png")
    chosen, values = read(bundled, images=tmp_path)
    case = next(iter(chosen["segmentation"]))
    source = next(value for value in values if value.name == case).pictures["segmentation"].source
    assert source.startswith("data:image/jpeg;base64,")


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
