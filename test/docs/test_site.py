"""The documentation site: every page is in its navigation, and it fetches nothing from elsewhere."""

import os
import re
from pathlib import Path

import pytest

from .pages import PAGES, REPOSITORY

CONFIGURATION = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site() -> Path:
    """Return the site that EVALUATION_SITE names, which scripts/docs.sh builds without a warning."""
    if "EVALUATION_SITE" not in os.environ:
        pytest.skip("scripts/docs.sh builds the site")
    return Path(os.environ["EVALUATION_SITE"])


def test_every_page_is_in_the_navigation_once():
    listed = re.findall(r": ([\w-]+\.md)$", CONFIGURATION, re.MULTILINE)
    for page in [
        *(page.name for page in PAGES[1:]),
        "index.md",
        "examples.md",
        "security.md",
        "contributing.md",
        "changelog.md",
    ]:
        assert listed.count(page) == 1, page
    assert len(set(listed)) == len(listed)


def test_no_page_fetches_anything_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(?:script|img|iframe)[^>]*src=\"?https?:", text), page
        assert not re.search(r"<link[^>]*rel=\"?(?:stylesheet|preconnect)[^>]*https?:", text), page
