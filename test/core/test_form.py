from types import SimpleNamespace

import numpy as np
import pytest

from evaluation.challenges.edd2020.rules import CHALLENGE as EDD2020
from evaluation.challenges.refuge import CHALLENGE as REFUGE
from evaluation.core.challenge import fields_of
from evaluation.core.field import grow_by_a_pixel
from evaluation.core.form import CaseForm, Form, name_key
from evaluation.core.limits import Totals, case_seconds, limits_of


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("V0001", "v0001"),
        ("v0001.PNG", "v0001"),
        (" V0001.jpg ", "v0001"),
        ("V0001.nii.gz", "v0001"),
        ("V0001.v2", "v0001.v2"),
        ("V0001.v2.tiff", "v0001.v2"),
        ("STRASSE.bmp", "strasse"),
        ("Straße", "strasse"),
        ("e\u0301tude", "\u00e9tude"),
        (".png", ".png"),
        ("scan.png.jpg", "scan.png"),
        ("", ""),
    ],
)
def test_names_of_one_image_are_equal(name, key):
    assert name_key(name) == key


def test_cases_are_found_by_name():
    cases = (CaseForm("V0001"), CaseForm("V0002"))
    form = Form("refuge", "p", "archive", (), "reject", {}, {}, cases)
    assert form.names == {"v0001": 0, "v0002": 1}
    assert form.names[name_key("V0002.bmp")] == 1


def fields(challenge, *names):
    tasks = challenge.tasks(challenge.options())
    return [field for field in fields_of(tasks) if field.name in names]


def test_the_limits_follow_from_the_form():
    cases = [CaseForm("a", 1000, 500), CaseForm("b", 1000, 500)]
    # Two files of 500,000 pixels: 8 bytes a pixel, and 64 KiB for each file, beside what is always granted.
    assert limits_of(cases, fields(REFUGE, "segmentation")) == Totals(
        bytes=(1 << 26) + 2 * (1 << 16) + 8_000_000, items=10_400
    )
    assert limits_of([], fields(REFUGE, "segmentation")) == Totals(1 << 26, 10_000)


def test_fields_of_many_values_are_granted_bytes_for_those_beyond_the_usual():
    """By hand: of two fields, one with 1,500 values more than the usual 1,000, in two of three cases."""
    many = SimpleNamespace(pixels=lambda case: 100, average_items=2500)
    few = SimpleNamespace(pixels=lambda case: 10, average_items=1)
    cases = [CaseForm("a"), CaseForm("b"), CaseForm("c")]
    fields = [
        SimpleNamespace(kind=many, cases=lambda case: case.name != "b"),
        SimpleNamespace(kind=few, cases=lambda case: True),
    ]
    assert limits_of(cases, fields) == Totals(
        bytes=(1 << 26) + 5 * (1 << 16) + 8 * (2 * 100 + 3 * 10) + 256 * 2 * 1500,
        items=10_000 + 2 * 2500 + 3,
    )
    assert case_seconds(CaseForm("b"), fields) == 30 + 10 / 1e6


def test_a_case_may_take_longer_the_larger_its_images_are():
    segmentation = fields(REFUGE, "segmentation")
    assert case_seconds(CaseForm("a", 2000, 2000), segmentation) == 34.0
    assert case_seconds(CaseForm("a", 2000, 2000), fields(EDD2020, "detection")) == 30.0


def test_a_pixel_more():
    image = np.array([[0, 0, 7], [7, 0, 0], [0, 7, 0]])
    grow_by_a_pixel(image, 0)
    # The region of the first row ends at the border; that of the second is the first with room to its right.
    assert image.tolist() == [[0, 0, 7], [7, 7, 0], [0, 7, 0]]
