import pytest

from evaluation.core.form import CaseForm, Form, name_key


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
        ("", ""),
    ],
)
def test_names_of_one_image_are_equal(name, key):
    assert name_key(name) == key


def test_one_extension_is_taken_off():
    assert name_key("scan.png.jpg") == "scan.png"


def test_cases_are_found_by_name():
    cases = (CaseForm("V0001"), CaseForm("V0002"))
    form = Form("refuge", "p", "archive", (), "reject", {}, {}, cases)
    assert form.names == {"v0001": 0, "v0002": 1}
    assert form.names[name_key("V0002.bmp")] == 1
