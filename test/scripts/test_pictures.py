"""The pictures of the pages: each is drawn by a script, shown by a page, and as large as the script says."""

from io import BytesIO

import pytest
from PIL import Image

from scripts.pictures import PICTURES, drawn
from test.docs.pages import PAGES
from test.organiser.report.browser import browser
from test.repository import REPOSITORY


def size_of(data):
    with Image.open(BytesIO(data)) as image:
        return image.size


def test_every_picture_is_drawn_by_the_script_and_shown_by_a_page():
    found = {path.name: size_of(path.read_bytes()) for path in (REPOSITORY / "docs").glob("*.png")}
    assert found == {name: (shot.width, shot.height) for name, shot in PICTURES.items()}
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert all(f"{name})" in text for name in PICTURES)


@pytest.mark.weekly
def test_a_report_is_photographed_from_a_section_on(tmp_path):
    tall = '<p style="height: 2000px">'
    page = f"<html data-state=drawn>{tall}a</p><h2 id=classification>b</h2>{tall}"
    (tmp_path / "submission.html").write_text(page, encoding="utf-8")
    shot = PICTURES["report-phone.png"]
    with browser() as started:
        first, second = (drawn(started, tmp_path, shot) for _ in range(2))
    assert first == second
    assert size_of(first) == (shot.width, shot.height)
