"""The documentation site: every page is in its navigation, and it builds without a warning."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .pages import PAGES, REPOSITORY

CONFIGURATION = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """Return the site that EVALUATION_SITE names, built by scripts/docs.sh; else build it where MkDocs is."""
    if built_already := os.environ.get("EVALUATION_SITE"):
        return Path(built_already)
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("MkDocs is not installed; scripts/docs.sh installs it")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=300,
    )
    # Strict: a warning ends the build; on stderr is the generator's notice of its end of life.
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_every_page_is_in_the_navigation_once():
    listed = re.findall(r": ([\w-]+\.md)$", CONFIGURATION, re.MULTILINE)
    for page in [
        *(page.name for page in PAGES[1:]),
        "index.md",
        "security.md",
        "contributing.md",
        "changelog.md",
    ]:
        assert listed.count(page) == 1, page
    assert len(set(listed)) == len(listed)


def test_links_of_the_site_lead_to_its_own_files(site):
    pages = sorted(site.glob("*.html"))
    assert {"index.html", "phase.html", "security.html"} <= {page.name for page in pages}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r'(?:src|href)="([^"#]+)', text):
            if not re.match(r"https?:|mailto:|data:", target) and page.name != "404.html":
                assert (page.parent / target.partition("?")[0]).exists(), f"{page.name}: {target}"


def test_no_page_fetches_anything_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(?:script|img|iframe)[^>]*src=\"?https?:", text), page
        assert not re.search(r"<link[^>]*rel=\"?(?:stylesheet|preconnect)[^>]*https?:", text), page


def test_the_reference_describes_what_is_public(site):
    pages = site / "reference"
    overlap = (pages / "evaluation.metrics.segmentation.html").read_text(encoding="utf-8")
    assert 'id="evaluation.metrics.segmentation.dice"' in overlap
    assert "evaluation.metrics.segmentation._" not in overlap
    metrics = (pages / "evaluation.metrics.html").read_text(encoding="utf-8")
    assert 'href="evaluation.metrics.segmentation.html#evaluation.metrics.segmentation.dice"' in metrics
